package demo

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"sync"
	"time"

	"github.com/anteroom/anteroom/internal/sys"
)

const (
	logEvery    = time.Minute
	stopTimeout = 5 * time.Second
)

// Options say where the visitors go.
type Options struct {
	// URL is the visitors' listener on loopback, such as http://127.0.0.1:8080.
	URL string
	// Log takes one line of counts a minute and, at debug level, why a visit failed. Required.
	Log *slog.Logger
	// Seed makes the plan of arrivals and stays repeatable; the answers of the room still decide.
	Seed uint64
	// Transport carries the requests; nil means real, bounded connections.
	Transport http.RoundTripper
}

// Counts tell what the visitors have done so far.
type Counts struct {
	// Waiting and Inside are visitors that are here now.
	Waiting, Inside int
	// Arrived is Waiting + Inside + Left + GaveUp + Failed. Left were inside and have gone, GaveUp
	// lost patience or were turned away, Failed met too many errors.
	Arrived, Left, GaveUp, Failed uint64
	// Requests is how many requests all of them have sent.
	Requests uint64
}

// Visitors are simulated visitors of one address.
type Visitors struct {
	options   Options
	base      *url.URL
	transport http.RoundTripper
	own       *http.Transport // nil when the transport is a given one

	mu     sync.Mutex
	counts Counts     // guarded by mu
	rng    *rand.Rand // guarded by mu
}

// NewVisitors prepares visitors; the error tells what is wrong with the URL.
func NewVisitors(o Options) (*Visitors, error) {
	base, err := url.Parse(o.URL)
	if err != nil {
		return nil, fmt.Errorf("demo visitors need the listener's URL: %w", err)
	}
	if (base.Scheme != "http" && base.Scheme != "https") || base.Hostname() == "" {
		return nil, fmt.Errorf("demo visitors need a URL such as http://127.0.0.1:8080, not %q", o.URL)
	}
	v := &Visitors{options: o, base: base, transport: o.Transport, rng: seeded(o.Seed)}
	if v.transport == nil {
		v.own = &http.Transport{
			MaxConnsPerHost:       connectionsMax,
			MaxIdleConnsPerHost:   connectionsMax,
			IdleConnTimeout:       30 * time.Second,
			ResponseHeaderTimeout: answerTimeout,
			DisableCompression:    true,
		}
		v.transport = v.own
	}
	return v, nil
}

func seeded(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x616e7465726f6f6d)) }

// Run lets visitors arrive in waves until the context ends, waits for all of them to stop and
// returns nil; an error means that some did not stop in time.
func (v *Visitors) Run(ctx context.Context) error {
	if v.own != nil {
		defer v.own.CloseIdleConnections()
	}
	group := sys.NewGroup(ctx)
	v.receive(ctx, group)
	if err := group.Stop(stopTimeout); err != nil {
		return fmt.Errorf("demo visitors: %w", err)
	}
	return nil
}

// receive starts visitors as they arrive.
func (v *Visitors) receive(ctx context.Context, group *sys.Group) {
	tick := sys.NewTicker(arrivalTick)
	defer tick.Stop()
	start := sys.Now()
	logged := start
	for n := 0; ; n++ {
		for range v.due(time.Duration(n) * arrivalTick) {
			group.Go("visitor", v.newVisit().run)
		}
		if now := sys.Now(); now.Sub(logged) >= logEvery {
			logged = now
			v.logCounts()
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// due counts in whoever arrives now: they wait until the first answer tells.
func (v *Visitors) due(since time.Duration) int {
	v.mu.Lock()
	defer v.mu.Unlock()
	c := &v.counts
	n := min(arrivals(since, c.Waiting, v.rng.Float64()), aliveMax-c.Waiting-c.Inside)
	n = max(n, 0)
	c.Arrived += uint64(n)
	c.Waiting += n
	return n
}

func (v *Visitors) newVisit() *visit {
	v.mu.Lock()
	rng := seeded(v.rng.Uint64())
	v.mu.Unlock()
	jar, _ := cookiejar.New(nil) // it has no error to give
	return &visit{
		all:    v,
		client: &http.Client{Transport: v.transport, Jar: jar, Timeout: answerTimeout},
		rng:    rng,
		intent: drawIntent(rng),
	}
}

// count changes the counts.
func (v *Visitors) count(change func(c *Counts)) {
	v.mu.Lock()
	defer v.mu.Unlock()
	change(&v.counts)
}

// Counts is a snapshot.
func (v *Visitors) Counts() Counts {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.counts
}

func (v *Visitors) logCounts() {
	c := v.Counts()
	v.options.Log.Info("demo visitors", "waiting", c.Waiting, "inside", c.Inside, "arrived", c.Arrived,
		"left", c.Left, "gave_up", c.GaveUp, "failed", c.Failed, "requests", c.Requests)
}
