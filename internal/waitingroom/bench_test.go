package waitingroom_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"syscall"
	"testing"
	"time"

	"github.com/anteroom/anteroom/internal/queue"
	"github.com/anteroom/anteroom/internal/waitingroom"
)

// fixed is a coordinator that costs nothing.
type fixed struct{ answer queue.Answer }

func (f *fixed) Ask(context.Context, string, queue.Ask) (queue.Answer, error) { return f.answer, nil }
func (f *fixed) Await(context.Context, string, queue.ID) bool                 { return false }
func (f *fixed) Touch(string, queue.ID)                                       {}
func (f *fixed) End(context.Context, string, queue.ID)                        {}

func benchmark(b *testing.B, name string, change ...func(*waitingroom.Request)) {
	b.Helper()
	answer, err := scene(name)(queue.Ask{ID: queue.ID{4}, NewID: queue.ID{5}})
	if err != nil {
		b.Fatal(err)
	}
	g := gate(b, &fixed{answer}, config())
	r := request(change...)
	var a waitingroom.Answer
	g.Decide(b.Context(), r, &a)
	b.ReportAllocs()
	ctx := b.Context()
	before := cpu(b)
	for b.Loop() {
		r.Nonce[0]++
		g.Decide(ctx, r, &a)
	}
	b.ReportMetric(float64(cpu(b)-before)/float64(b.N), "cpu-ns/op")
	b.ReportMetric(float64(len(a.Body)), "body-bytes")
}

// cpu is the time that the process has had a processor: what counts on a machine with other work.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// cookieJar is what a browser sends to a site of some age.
func cookieJar(b *testing.B, tk func(*waitingroom.Request)) func(*waitingroom.Request) {
	b.Helper()
	return func(r *waitingroom.Request) {
		tk(r)
		r.Cookies[0] = "_ga=GA1.1.1234567890.1234567890; session=0123456789abcdef0123456789abcdef; consent=yes; " + r.Cookies[0] + "; theme=dark"
	}
}

func BenchmarkAdmitted(b *testing.B) { benchmark(b, "Inside", cookieJar(b, holds(b, seat()))) }

func BenchmarkQueuedJSON(b *testing.B) {
	benchmark(b, "Queued", as(waitingroom.JSONClient), cookieJar(b, holds(b, place())))
}

func BenchmarkQueuedPage(b *testing.B) { benchmark(b, "Queued", cookieJar(b, holds(b, place()))) }

func BenchmarkWaitEndpoint(b *testing.B) {
	benchmark(b, "Queued", as(waitingroom.WaitEndpoint), cookieJar(b, holds(b, place())))
}

func BenchmarkNewcomer(b *testing.B) { benchmark(b, "Full") }

func BenchmarkQueuedImage(b *testing.B) {
	benchmark(b, "Queued", as(waitingroom.Subresource), cookieJar(b, holds(b, place())))
}

// BenchmarkHandler is the adapter around an origin that does nothing, without the network.
func BenchmarkHandler(b *testing.B) {
	for _, name := range []string{"Inside", "Queued"} {
		b.Run(name, func(b *testing.B) {
			answer, err := scene(name)(queue.Ask{ID: queue.ID{4}})
			if err != nil {
				b.Fatal(err)
			}
			coordinator := &fixed{answer}
			h := waitingroom.NewHandler(waitingroom.Options{
				Gate: gate(b, coordinator, config()), Sessions: coordinator, Client: client,
				Origin: &quiet{},
			})
			r := httptest.NewRequestWithContext(b.Context(), http.MethodGet, "http://shop.test/cart?a=b", http.NoBody)
			r.Header.Set("Cookie", cookieOf(b, place()))
			r.Header.Set("Accept", chromeAccept)
			w := &discard{header: http.Header{}}
			b.ReportAllocs()
			for b.Loop() {
				clear(w.header)
				h.ServeHTTP(w, r)
			}
		})
	}
}

// quiet is an origin without an answer.
type quiet struct{}

func (*quiet) ServeVisit(http.ResponseWriter, *http.Request, waitingroom.Visit) {}

// discard is a ResponseWriter that costs nothing.
type discard struct{ header http.Header }

func (d *discard) Header() http.Header         { return d.header }
func (d *discard) WriteHeader(int)             {}
func (d *discard) Write(b []byte) (int, error) { return len(b), nil }
