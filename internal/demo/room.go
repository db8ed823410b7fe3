package demo

import (
	"time"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/config"
)

// The room's numbers. A visitor keeps a place for the stay, 43 s on average, and then for the
// session's rest unless the visit ends with an order: 70 s in all. So 25 places serve 21 visitors a
// minute. That is less than the minute's limit, so places are what is scarce: the room stays full, no
// slot is free, and a person behind a line of 14 to 26 enters after 40 to 75 s. The session is long
// enough to read a page.
const (
	totalActiveUsers  = 25
	newUsersPerMinute = 25
	sessionDuration   = 40 * time.Second
)

// Room is the demonstration's room. It covers every host and path of the listener.
func Room() anteroom.Room {
	r := config.Defaults()
	r.Name = "demo"
	r.Description = "A sample shop with simulated visitors."
	r.Host = anteroom.AnyHost
	r.Path = "/"
	r.TotalActiveUsers = totalActiveUsers
	r.NewUsersPerMinute = newUsersPerMinute
	r.SessionDuration = anteroom.SessionMinutesMin
	r.JSONResponseEnabled = true
	r.EnabledOriginCommands = []string{"revoke"}
	r.DefaultTemplateLanguage = anteroom.AutoLanguage
	return r
}

// Extras are the demonstration's settings beyond the published ones: sessions shorter than a minute,
// so that places become free while one watches.
func Extras() anteroom.Extras {
	return anteroom.Extras{SessionDuration: anteroom.Duration(sessionDuration)}
}
