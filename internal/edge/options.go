package edge

import (
	"log/slog"
	"net/netip"
	"net/url"
	"time"

	"github.com/anteroom/anteroom"
)

// Options are what a node is made from.
type Options struct {
	// Listen is the visitors' address, Admin the one of dashboard, API and metrics.
	Listen, Admin string
	// CertFile and KeyFile serve visitors over TLS; both empty means plain HTTP.
	CertFile, KeyFile string
	// Data is the directory of everything that survives a restart.
	Data string
	// Origin is the protected site.
	Origin *url.URL
	// TrustedProxies are peers whose X-Forwarded-* and Forwarded headers count.
	TrustedProxies []netip.Prefix
	// AdminToken replaces the stored bootstrap token when it is not empty.
	AdminToken string
	// Quick is a room made from flags; nil for none. A stored room of the same name is changed to it.
	Quick *QuickRoom
	// StopTimeout is how long requests may take to finish at the end; 0 means 15 s.
	StopTimeout time.Duration
	Logger      *slog.Logger
	// Version is shown in metrics.
	Version string
}

// QuickRoom is a room in front of a whole listener, without a file.
type QuickRoom struct {
	Room   anteroom.Room
	Extras anteroom.Extras
}

// DataCenter is the name of a lone node's data center.
const DataCenter = "local"
