package edge

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/api"
	"github.com/anteroom/anteroom/internal/dashboard"
	"github.com/anteroom/anteroom/internal/proxy"
	"github.com/anteroom/anteroom/internal/queue"
	"github.com/anteroom/anteroom/internal/waitingroom"
)

// Times and sizes of the listeners.
const (
	// headerTimeout is how long a client may take to send its header.
	headerTimeout = 10 * time.Second
	// adminReadTimeout is how long a request to the admin address may take to arrive, body and all.
	adminReadTimeout = 30 * time.Second
	// idleTimeout is how long an idle connection is kept. It exceeds the longest refresh interval, so
	// that a waiting visitor needs no new connection, and no new TLS handshake, for each poll.
	idleTimeout = 130 * time.Second
	// headerBytesMax bounds a request's header; larger ones get 431.
	headerBytesMax = 64 << 10
)

// buildServers builds what stands behind the two addresses.
func (n *Node) buildServers(context.Context) error {
	if err := n.buildProxy(); err != nil {
		return err
	}
	handler := n.buildHandler()
	tlsConfig, err := n.loadTLS()
	if err != nil {
		return err
	}
	n.buildLane(handler, tlsConfig) //nolint:contextcheck // the node outlives the context of its building
	n.admin = server(n.buildAdmin(), n.log.With("part", "admin"))
	n.admin.ReadTimeout = adminReadTimeout
	return nil
}

// buildProxy makes the way to the origin.
func (n *Node) buildProxy() (err error) {
	n.proxy, err = proxy.New(proxy.Options{
		Origin:         n.opts.Origin,
		Logger:         n.log.With("part", "proxy"),
		TrustedProxies: n.opts.TrustedProxies,
		CookiePrefix:   waitingroom.CookieName,
		Hooks:          proxy.Hooks{Failed: n.meter.failed, Answered: n.meter.answered},
	})
	if err != nil {
		return err
	}
	n.onStop("close the proxy", n.proxy.Close)
	return nil
}

// buildHandler makes the gate around the origin.
func (n *Node) buildHandler() *waitingroom.Handler {
	trust := n.proxy.Trust()
	h := waitingroom.NewHandler(waitingroom.Options{
		Gate:     n.gate,
		Sessions: sessions{n},
		Origin:   origin{n.proxy},
		Client: func(r *http.Request) waitingroom.Client {
			c := trust.Client(r)
			return waitingroom.Client{Addr: c.Addr, HTTPS: c.Scheme == "https", Host: r.Host, PublicHost: c.Host}
		},
		Meter:   n.meter,
		Records: roomsForAPI{n},
		Now:     n.clock.Now,
	})
	n.group.Go("long requests", h.Run)
	return h
}

// buildLane makes the visitors' server, and in front of it the lane for those who wait. The lane does
// the TLS handshakes, so the server itself has no TLS configuration.
func (n *Node) buildLane(h *waitingroom.Handler, config *tls.Config) {
	log := n.log.With("part", "visitors")
	trust := n.proxy.Trust()
	n.lane = waitingroom.NewLane(n.group.Context(), n.visitorsConn, waitingroom.LaneOptions{
		Handler:       h,
		TLS:           config,
		Direct:        func(peer netip.Addr) bool { return !trust.Trusts(peer) },
		HeaderTimeout: headerTimeout,
		IdleTimeout:   idleTimeout,
		Logger:        log,
	})
	n.visitors = server(h, log)
	n.visitors.ConnContext = n.lane.ConnContext
}

func server(h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: headerTimeout,
		// OPTIONS * goes to the handler like everything else: the server's own answer reads any body.
		DisableGeneralOptionsHandler: true,
		IdleTimeout:                  idleTimeout,
		MaxHeaderBytes:               headerBytesMax,
		ErrorLog:                     slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}

// loadTLS reads the certificate now, so that a wrong file is told at the start. The result is nil for
// plain HTTP.
func (n *Node) loadTLS() (*tls.Config, error) {
	if n.opts.CertFile == "" && n.opts.KeyFile == "" {
		return nil, nil //nolint:nilnil // no TLS is no fault
	}
	cert, err := tls.LoadX509KeyPair(n.opts.CertFile, n.opts.KeyFile)
	if err != nil {
		return nil, anteroom.Errorf(anteroom.CodeInvalid, "load the certificate %q with the key %q: %w",
			n.opts.CertFile, n.opts.KeyFile, err).WithHint("give PEM files with --tls-cert and --tls-key")
	}
	return &tls.Config{
		Certificates: []tls.Certificate{cert},
		MinVersion:   tls.VersionTLS12,
		NextProtos:   []string{"h2", "http/1.1"},
		// Otherwise the first 128 KiB of a connection go out in records of one packet, with a system
		// call each: a waiting visitor hardly ever gets beyond.
		DynamicRecordSizingDisabled: true,
	}, nil
}

// sessions gives the gate what it needs of the coordinators.
type sessions struct{ n *Node }

func (s sessions) Touch(room string, id queue.ID) { s.n.rooms.Touch(room, id) }

func (s sessions) End(ctx context.Context, room string, id queue.ID) {
	if err := s.n.rooms.End(ctx, room, id); err != nil {
		s.n.log.DebugContext(ctx, "nothing to end at the origin's command", "room", room, "error", err)
	}
}

// origin translates the gate's word of a visit into the proxy's.
type origin struct{ p *proxy.Proxy }

func (o origin) ServeVisit(w http.ResponseWriter, r *http.Request, v waitingroom.Visit) {
	visit := proxy.Visit{Room: v.RoomName}
	if !v.Ticket.IsZero() {
		visit.Ticket = v.Ticket.String()
	}
	o.p.Forward(w, r, visit)
}

// roomsForAPI gives the API what it needs of the coordinators.
type roomsForAPI struct{ n *Node }

func (r roomsForAPI) Status(ctx context.Context, id string) (queue.Status, error) {
	return r.n.rooms.Status(ctx, id)
}

func (r roomsForAPI) EndSession(ctx context.Context, room string, id queue.ID) error {
	return r.n.rooms.End(ctx, room, id)
}

func (r roomsForAPI) Draws(ctx context.Context, id string) (queue.DrawState, error) {
	return r.n.rooms.Draws(ctx, id)
}

func (r roomsForAPI) SealDraw(ctx context.Context, id string) (queue.DrawState, error) {
	return r.n.rooms.SealDraw(ctx, id)
}

func (r roomsForAPI) EndDraw(ctx context.Context, id string, external queue.DrawExternal) (queue.DrawState, error) {
	return r.n.rooms.EndDraw(ctx, id, external)
}

func (r roomsForAPI) ServeDrawRecord(w http.ResponseWriter, req *http.Request, id string, number uint64) error {
	return r.n.serveDrawRecord(w, req, id, number)
}

// validator gives the dashboard its view of the tokens.
type validator struct{ *api.Authenticator }

func (v validator) Valid(token string) bool {
	_, ok := v.Check(token)
	return ok
}

// buildAdmin makes everything behind the admin address.
func (n *Node) buildAdmin() http.Handler {
	token, _ := n.store.AdminToken()
	auth := api.NewAuthenticator(token)
	board := dashboard.New(dashboard.Options{
		Rooms:      n.dashboardRooms,
		Auth:       validator{auth},
		Log:        n.log.With("part", "dashboard"),
		VisitorURL: n.visitorURL(),
		RoomsURL:   "http://" + n.AdminAddr().String() + api.Base + "/zones/" + n.store.Snapshot().Zones[0].ID + "/waiting_rooms",
	})
	n.group.Go("dashboard", board.Run)
	mux := http.NewServeMux()
	mux.Handle(api.Base+"/", api.New(api.Options{
		Config: n.store, Rooms: roomsForAPI{n}, Auth: auth, Checks: Checks(), Logger: n.log.With("part", "api"),
	}))
	mux.Handle("GET /metrics", n.meter.handler())
	mux.HandleFunc("GET /healthz", n.healthz)
	mux.HandleFunc("GET /readyz", n.readyz)
	mux.Handle("/", board)
	return mux
}

func (n *Node) visitorURL() string {
	scheme := "http://"
	if n.opts.CertFile != "" {
		scheme = "https://"
	}
	return scheme + Reachable(n.VisitorAddr())
}

// dashboardRooms lists every room with its counts.
func (n *Node) dashboardRooms() []dashboard.Room {
	s := n.store.Snapshot()
	out := make([]dashboard.Room, 0, len(s.Rooms))
	for i := range s.Rooms {
		status, err := n.rooms.Status(n.group.Context(), s.Rooms[i].Room.ID)
		if err != nil {
			n.log.Debug("room without counts", "room", s.Rooms[i].Room.ID, "error", err)
		}
		out = append(out, dashboard.Room{Config: s.Rooms[i].Room, Extras: s.Rooms[i].Extras, Status: status})
	}
	return out
}

// healthz tells that the process lives.
func (n *Node) healthz(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, "alive\n")
}

// readyz tells whether visitors should be sent here.
func (n *Node) readyz(w http.ResponseWriter, _ *http.Request) {
	switch {
	case !n.ready.Load():
		answer(w, http.StatusServiceUnavailable, "starting or stopping\n")
	case n.rooms.Failing():
		answer(w, http.StatusServiceUnavailable, "journals cannot be written; see the log\n")
	default:
		answer(w, http.StatusOK, "ready\n")
	}
}

func answer(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text))
}
