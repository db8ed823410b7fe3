package edge_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/config"
	"github.com/anteroom/anteroom/internal/coord"
	"github.com/anteroom/anteroom/internal/queue"
	"github.com/anteroom/anteroom/internal/ticket"
	"github.com/anteroom/anteroom/internal/waitingroom"
)

// gateBench is the gate with the real coordinator, page and cookies behind it, and no network.
type gateBench struct {
	gate  *waitingroom.Gate
	draws *waitingroom.Draws
	now   time.Time
}

const benchRoom = "0123456789abcdef0123456789abcdef"

func newGateBench(b *testing.B, total int) *gateBench {
	b.Helper()
	rooms, err := coord.Open(coord.Options{Dir: b.TempDir(), DataCenter: "here", Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	room := config.Defaults()
	room.ID, room.Name, room.Host, room.Path = benchRoom, "bench", anteroom.AnyHost, "/"
	room.TotalActiveUsers, room.NewUsersPerMinute, room.JSONResponseEnabled = total, total, true
	set := queue.Settings{Method: anteroom.FIFO, TotalActiveUsers: total, NewUsersPerMinute: total, Session: 5 * time.Minute}
	if err = rooms.Add([]coord.Room{{ID: benchRoom, Settings: set}}); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = rooms.Close() })
	ring, err := ticket.NewRing(ticket.Key{ID: 1, Secret: [32]byte{1}})
	if err != nil {
		b.Fatal(err)
	}
	table, err := waitingroom.Compile([]waitingroom.Config{{Room: room}}, ring)
	if err != nil {
		b.Fatal(err)
	}
	g := &gateBench{gate: waitingroom.NewGate(rooms), draws: waitingroom.NewDraws(), now: time.Now()}
	g.gate.Set(table)
	return g
}

func (g *gateBench) request(accept string) *waitingroom.Request {
	return &waitingroom.Request{
		Method: http.MethodGet, Host: "shop.example", Path: "/tickets", Accept: accept,
		FetchMode: "navigate", FetchDest: "document", Now: g.now,
	}
}

// decide makes one request.
func (g *gateBench) decide(r *waitingroom.Request, a *waitingroom.Answer) {
	g.draws.Fill(r)
	r.Now = time.Now()
	g.gate.Decide(context.Background(), r, a)
}

// visit makes one request and gives the cookie that came back.
func (g *gateBench) visit(r *waitingroom.Request, a *waitingroom.Answer) string {
	g.decide(r, a)
	cookie, _, _ := strings.Cut(string(a.Cookie), ";")
	return cookie
}

// cpu is the processor time of this process, which a busy machine does not stretch.
func cpu() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// loop measures decisions for the same visitor.
func (g *gateBench) loop(b *testing.B, r *waitingroom.Request, want waitingroom.Action) {
	b.Helper()
	var a waitingroom.Answer
	r.Cookies = []string{"theme=dark; " + g.visit(r, &a) + "; lang=en"}
	g.visit(r, &a) // registers a ticket
	if a.Action != want {
		b.Fatalf("action %d, want %d", a.Action, want)
	}
	b.ReportAllocs()
	began := cpu()
	for b.Loop() {
		g.decide(r, &a)
	}
	b.ReportMetric(float64(cpu()-began)/float64(b.N), "cpu-ns/op")
}

// BenchmarkGateAdmitted is the gate's own cost of an admitted request: open the cookie, decide, touch, seal.
func BenchmarkGateAdmitted(b *testing.B) {
	g := newGateBench(b, 1000)
	g.loop(b, g.request("text/html"), waitingroom.Forward)
}

// BenchmarkGateQueued is one poll of a waiting visitor answered by page or JSON, without the network,
// with few and with many others in line.
func BenchmarkGateQueued(b *testing.B) {
	for _, waiting := range []int{1_000, 1_000_000} {
		for name, accept := range map[string]string{"Page": "text/html", "JSON": "application/json"} {
			b.Run(fmt.Sprintf("%s%dWaiting", name, waiting), func(b *testing.B) {
				g := newGateBench(b, 1)
				var a waitingroom.Answer
				g.visit(g.request("text/html"), &a) // takes the only place
				for range waiting {
					r := g.request("application/json")
					r.Cookies = []string{g.visit(r, &a)}
					g.visit(r, &a)
				}
				r := g.request(accept)
				if accept == "application/json" {
					r.FetchMode, r.FetchDest = "", ""
				}
				g.loop(b, r, waitingroom.Respond)
			})
		}
	}
}
