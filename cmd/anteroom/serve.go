package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"time"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/config"
	"github.com/anteroom/anteroom/internal/demo"
	"github.com/anteroom/anteroom/internal/edge"
	"github.com/anteroom/anteroom/internal/proxy"
	"github.com/anteroom/anteroom/internal/sys"
)

// demoStopTimeout is how long the demonstration takes to end.
const demoStopTimeout = 3 * time.Second

type serveCommand struct {
	Listen string `default:":8080" help:"Address for visitors." placeholder:"ADDR"`
	Admin  string `default:"127.0.0.1:8081" help:"Address of dashboard, API and metrics." placeholder:"ADDR"`
	Data   string `help:"Directory of everything that survives a restart. Default: ./anteroom-data; a temporary one with --demo." placeholder:"DIR"`
	Origin string `help:"The site to protect, such as http://127.0.0.1:3000." placeholder:"URL"`
	Demo   bool   `help:"A sample shop, a waiting room in front of it and simulated visitors."`

	TotalActiveUsers  *int           `help:"Quick room: the most visitors inside at any instant." placeholder:"N"`
	NewUsersPerMinute *int           `help:"Quick room: the most visitors to let in within 60 s." placeholder:"N"`
	SessionDuration   *time.Duration `help:"Quick room: how long a place is kept after the last request, from 1s. Default: 5m." placeholder:"DURATION"`
	QueueingMethod    *string        `help:"Quick room: fifo, random, passthrough or reject. Default: fifo." placeholder:"METHOD"`

	TLSCert      string   `name:"tls-cert" help:"Serve visitors over TLS with this certificate, a PEM file." placeholder:"FILE"`
	TLSKey       string   `name:"tls-key" help:"The certificate's key, a PEM file." placeholder:"FILE"`
	TrustedProxy []string `help:"Address or network whose X-Forwarded headers count; may be repeated." placeholder:"CIDR"`
	AdminToken   string   `help:"Bootstrap token of dashboard and API. Default: made at the first start and kept in the data directory." placeholder:"TOKEN"`
	LogLevel     string   `default:"info" enum:"debug,info,warn,error" help:"debug, info, warn or error." placeholder:"LEVEL"`
	LogFormat    string   `default:"text" enum:"text,json" help:"text or json, on standard error." placeholder:"FORMAT"`
}

// Run serves until the context ends.
func (c serveCommand) Run(ctx context.Context, con console) (err error) {
	o, err := c.options(con.err)
	if err != nil {
		return err
	}
	var shop *shopServer
	if c.Demo {
		if shop, err = openShop(ctx); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, shop.close()) }()
		o.Origin = shop.url
		o.Quick = &edge.QuickRoom{Room: demo.Room(), Extras: demo.Extras()}
		if c.Data == "" {
			if o.Data, err = os.MkdirTemp("", "anteroom-demo-"); err != nil {
				return fmt.Errorf("make a directory for the demonstration: %w", err)
			}
			defer func() { err = errors.Join(err, os.RemoveAll(o.Data)) }()
		}
	}
	node, err := edge.New(ctx, o)
	if err != nil {
		return startError(err)
	}
	node.Start()
	c.announce(con.out, node, o)
	group := sys.NewGroup(ctx)
	if c.Demo {
		err = startVisitors(group, node, o.Logger)
	}
	if err == nil {
		<-ctx.Done()
	}
	return errors.Join(err, group.Stop(demoStopTimeout), node.Stop(ctx))
}

// startError marks what an operator can mend, such as a port in use or a directory in the way.
func startError(err error) error {
	var one *anteroom.Error
	if errors.As(err, &one) && one.Code != anteroom.CodeInternal {
		return badInput{err}
	}
	return err
}

// options turns flags into the options of a node. All faults are told at once.
func (c serveCommand) options(logTo io.Writer) (edge.Options, error) {
	o := edge.Options{
		Listen: c.Listen, Admin: c.Admin, Data: c.Data, AdminToken: c.AdminToken, Version: version(),
		CertFile: c.TLSCert, KeyFile: c.TLSKey, Logger: c.logger(logTo),
	}
	if o.Data == "" {
		o.Data = "./anteroom-data"
	}
	var faults anteroom.Errors
	note := func(err error) { faults = append(faults, flagErrors(err)...) }
	var err error
	o.Origin, err = c.origin()
	note(err)
	o.Quick, err = c.quick()
	note(err)
	o.TrustedProxies, err = prefixes(c.TrustedProxy)
	note(err)
	if (c.TLSCert == "") != (c.TLSKey == "") {
		note(anteroom.Errorf(anteroom.CodeInvalid, "a certificate needs its key and the other way round").
			WithHint("give both --tls-cert and --tls-key"))
	}
	return o, faults.OrNil()
}

// origin reads --origin.
func (c serveCommand) origin() (*url.URL, error) {
	switch {
	case c.Demo && c.Origin != "":
		return nil, anteroom.Errorf(anteroom.CodeInvalid, "--demo brings its own site, so --origin has no meaning").
			WithHint("leave one of them out")
	case c.Demo:
		return nil, nil //nolint:nilnil // the demonstration's shop is opened later
	case c.Origin == "":
		return nil, anteroom.Errorf(anteroom.CodeInvalid, "no site to protect").
			WithHint("give its address, for example --origin http://127.0.0.1:3000, or try --demo")
	}
	u, err := proxy.ParseOrigin(c.Origin)
	if err != nil {
		return nil, err
	}
	return u, nil
}

// quick makes the room of the flags; nil when no limit is given.
func (c serveCommand) quick() (*edge.QuickRoom, error) {
	given := c.TotalActiveUsers != nil || c.NewUsersPerMinute != nil || c.SessionDuration != nil || c.QueueingMethod != nil
	switch {
	case !given:
		return nil, nil //nolint:nilnil // no room from flags is a choice
	case c.Demo:
		return nil, anteroom.Errorf(anteroom.CodeInvalid, "--demo brings its own room, so the flags of a quick room have no meaning").
			WithHint("leave --demo or those flags out")
	case c.TotalActiveUsers == nil:
		return nil, anteroom.Errorf(anteroom.CodeInvalid, "a quick room needs --total-active-users").
			WithHint("say how many visitors may be inside at once")
	}
	q := &edge.QuickRoom{Room: config.Defaults()}
	q.Room.Name, q.Room.Host, q.Room.Path = "quick", anteroom.AnyHost, "/"
	q.Room.Description = "made from the command line"
	q.Room.TotalActiveUsers, q.Room.NewUsersPerMinute = *c.TotalActiveUsers, *c.TotalActiveUsers
	if c.NewUsersPerMinute != nil {
		q.Room.NewUsersPerMinute = *c.NewUsersPerMinute
	}
	if c.QueueingMethod != nil {
		q.Room.QueueingMethod = anteroom.Method(*c.QueueingMethod)
	}
	if c.SessionDuration != nil && *c.SessionDuration == 0 {
		return nil, anteroom.Errorf(anteroom.CodeInvalid, "0s is below 1s").At("session_duration")
	}
	if c.SessionDuration != nil {
		q.Extras.SessionDuration = anteroom.Duration(*c.SessionDuration)
		minutes := int((*c.SessionDuration + time.Minute - 1) / time.Minute)
		q.Room.SessionDuration = min(max(minutes, anteroom.SessionMinutesMin), anteroom.SessionMinutesMax)
	}
	faults := flagErrors(config.ValidateRoom(&q.Room, edge.Checks()))
	return q, append(faults, flagErrors(config.ValidateExtras(&q.Extras))...).OrNil()
}

// prefixes reads the trusted proxies.
func prefixes(texts []string) ([]netip.Prefix, error) {
	var out []netip.Prefix
	var faults anteroom.Errors
	for _, text := range texts {
		if a, err := netip.ParseAddr(text); err == nil {
			out = append(out, netip.PrefixFrom(a, a.BitLen()))
			continue
		}
		p, err := netip.ParsePrefix(text)
		if err != nil {
			faults = append(faults, anteroom.Errorf(anteroom.CodeInvalid, "%q is neither an address nor a network", text).
				At("trusted_proxy").WithHint("write 10.0.0.1 or 10.0.0.0/8"))
			continue
		}
		out = append(out, p)
	}
	return out, faults.OrNil()
}

func (c serveCommand) logger(w io.Writer) *slog.Logger {
	var level slog.Level
	_ = level.UnmarshalText([]byte(c.LogLevel)) // the parser allows only known levels
	opts := &slog.HandlerOptions{Level: level}
	if c.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, opts))
	}
	return slog.New(slog.NewTextHandler(w, opts))
}

// announce tells a person where to look. The token is shown when it was made by this start, and in
// the demonstration.
func (c serveCommand) announce(w io.Writer, n *edge.Node, o edge.Options) {
	scheme := "http"
	if o.CertFile != "" {
		scheme = "https"
	}
	origin := o.Origin.String()
	if c.Demo {
		origin = "the sample shop"
	}
	link := "http://" + edge.Reachable(n.AdminAddr()) + "/"
	if token, fresh := n.AdminToken(); fresh || c.Demo {
		link += "?token=" + url.QueryEscape(token)
	}
	fmt.Fprintf(w, "Anteroom is ready.\n  visitors   %s://%s/  in front of %s\n  dashboard  %s\n",
		scheme, edge.Reachable(n.VisitorAddr()), origin, link)
	if c.Demo {
		fmt.Fprintf(w, "Simulated visitors arrive now. Open the first link to stand in line with them.\n")
	}
}

// shopServer is the demonstration's origin on a loopback port.
type shopServer struct {
	url    *url.URL
	server *http.Server
	group  *sys.Group
}

func openShop(ctx context.Context) (*shopServer, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("open the sample shop: %w", err)
	}
	s := &shopServer{
		url:    &url.URL{Scheme: "http", Host: l.Addr().String()},
		server: &http.Server{Handler: demo.Shop(), ReadHeaderTimeout: demoStopTimeout},
		group:  sys.NewGroup(context.WithoutCancel(ctx)),
	}
	s.group.Go("sample shop", func(context.Context) { _ = s.server.Serve(l) })
	return s, nil
}

func (s *shopServer) close() error {
	return errors.Join(s.server.Close(), s.group.Stop(demoStopTimeout))
}

// startVisitors lets the simulated visitors come.
func startVisitors(g *sys.Group, n *edge.Node, log *slog.Logger) error {
	v, err := demo.NewVisitors(demo.Options{
		URL: "http://" + edge.Reachable(n.VisitorAddr()), Log: log.With("part", "demo"), Seed: sys.RandomUint64(),
	})
	if err != nil {
		return err
	}
	g.Go("simulated visitors", func(ctx context.Context) {
		if err := v.Run(ctx); err != nil {
			log.WarnContext(ctx, "simulated visitors did not stop in time", "error", err)
		}
	})
	return nil
}
