package dashboard

import (
	"encoding/json"
	"sync"
	"time"
)

// Bounds of the event streams. A page that takes no event for clientBacklog seconds is cut off; the
// browser comes back by itself and begins with a full picture.
const (
	clientsMax    = 64
	clientBacklog = 8
)

// event is what one message of the stream carries.
type event struct {
	// At is the server's time in seconds since 1970; the chart goes by it.
	At int64 `json:"at"`
	// Version tells a page that settings or the set of rooms changed.
	Version string `json:"version"`
	// Rooms are the rooms whose line changed; in the first message of a stream all rooms.
	Rooms []line `json:"rooms"`
}

// feed hands what changed to every open page. An event is encoded once, whoever reads it.
type feed struct {
	mu      sync.Mutex
	closed  bool                     // guarded by mu, as all below
	clients map[chan []byte]struct{} // each closed by the feed when the client is to go
	last    event                    // the full picture
	byID    map[string]line          // the lines of last
}

func newFeed() *feed {
	return &feed{clients: map[chan []byte]struct{}{}, byID: map[string]line{}}
}

// join adds a page: its channel, the full picture to begin with (nil before the first sample), and
// whether there was room.
func (f *feed) join() (updates chan []byte, picture []byte, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed || len(f.clients) >= clientsMax {
		return nil, nil, false
	}
	updates = make(chan []byte, clientBacklog)
	f.clients[updates] = struct{}{}
	if f.last.Version != "" {
		picture = encoded(f.last)
	}
	return updates, picture, true
}

// leave removes a page; the feed may have done so before.
func (f *feed) leave(updates chan []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.dropLocked(updates)
}

func (f *feed) dropLocked(updates chan []byte) {
	if _, ok := f.clients[updates]; ok {
		delete(f.clients, updates)
		close(updates)
	}
}

// publish tells every page what is different from the time before, if anything is.
func (f *feed) publish(now time.Time, version string, lines []line) {
	f.mu.Lock()
	defer f.mu.Unlock()
	news := event{At: now.Unix(), Version: version, Rooms: f.changedLocked(lines)}
	same := version == f.last.Version && len(news.Rooms) == 0
	f.last = event{At: now.Unix(), Version: version, Rooms: lines}
	if same || len(f.clients) == 0 {
		return
	}
	message := encoded(news)
	for c := range f.clients {
		select {
		case c <- message:
		default:
			f.dropLocked(c)
		}
	}
}

func (f *feed) changedLocked(lines []line) []line {
	changed := []line{}
	byID := make(map[string]line, len(lines))
	for _, l := range lines {
		if before, ok := f.byID[l.ID]; !ok || before != l {
			changed = append(changed, l)
		}
		byID[l.ID] = l
	}
	f.byID = byID
	return changed
}

// close ends every stream, and every later one at its beginning.
func (f *feed) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	for c := range f.clients {
		f.dropLocked(c)
	}
}

func encoded(e event) []byte {
	body, err := json.Marshal(e)
	if err != nil { // strings and numbers only: it cannot
		panic("dashboard: an event cannot be encoded: " + err.Error())
	}
	return append(append([]byte("data: "), body...), "\n\n"...)
}
