package endtoend_test

import (
	"context"
	"flag"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"
)

// crowdFor is how long the crowd is watched. A room of 100 admits 100 a minute, so 2,000 visitors need
// twenty minutes; two minutes show two full windows and their edges.
var crowdFor = flag.Duration("crowd", 130*time.Second, "how long 2,000 visitors are watched at a room of 100; 25m serves all of them") //nolint:gochecknoglobals // a test flag

const (
	crowdVisitors = 2000
	crowdRoom     = "100"
	crowdLimit    = 100
	crowdSession  = 5 * time.Second
	// orderSlack is how much somebody may enter after a later visitor: turns are in order, and each one
	// is claimed with the visitor's next request.
	orderSlack = 2 * time.Second
)

// crowd sends 2,000 visitors within ten seconds to a room of 100 and returns them when time is up. During
// is called meanwhile.
func crowd(t *testing.T, p *program, during func()) []*visitor {
	t.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: crowdVisitors, MaxConnsPerHost: crowdVisitors}
	t.Cleanup(transport.CloseIdleConnections)
	ctx, cancel := context.WithTimeout(t.Context(), *crowdFor)
	defer cancel()
	visitors := make([]*visitor, crowdVisitors)
	rng := rand.New(rand.NewPCG(1, 2))
	var wg sync.WaitGroup
	for i := range visitors {
		visitors[i] = newVisitor(transport, p.visitors+"/")
		arrive := time.Duration(rng.Float64() * float64(10*time.Second))
		browse := time.Duration(rng.ExpFloat64() * float64(6*time.Second))
		wg.Go(func() {
			if sleep(ctx, arrive) {
				visitors[i].visit(ctx, browse, 2*time.Second)
			}
		})
	}
	during()
	wg.Wait()
	return visitors
}

// judge checks both limits as the origin counted them, and the order.
func judge(t *testing.T, s *shop, visitors []*visitor) {
	t.Helper()
	most, strays, distinct := s.counts()
	if most > crowdLimit {
		t.Errorf("the origin saw %d distinct active visitors at once, the limit is %d", most, crowdLimit)
	}
	if n := s.perMinute(); n > crowdLimit {
		t.Errorf("the origin saw %d new visitors within 60 s, the limit is %d", n, crowdLimit)
	}
	if strays > 0 {
		t.Errorf("%d requests reached the origin without a ticket", strays)
	}
	inside := slices.DeleteFunc(slices.Clone(visitors), func(v *visitor) bool { return v.entered.IsZero() })
	slices.SortFunc(inside, func(a, b *visitor) int { return a.entered.Compare(b.entered) })
	// Each window of 60 s has a hundred admissions; 95 of 100 must have been used.
	if want := min(crowdVisitors, crowdLimit*(1+int(*crowdFor/(61*time.Second)))) * 95 / 100; len(inside) < want {
		t.Errorf("%d were served in %v, want at least %d", len(inside), *crowdFor, want)
	}
	inversions := 0
	var latest time.Time
	var worst time.Duration
	for _, v := range inside {
		if d := latest.Sub(v.arrived); d > orderSlack {
			inversions++
			worst = max(worst, d)
		}
		if v.arrived.After(latest) {
			latest = v.arrived
		}
	}
	if inversions > 0 {
		t.Errorf("%d visitors entered after one who came over %v later, worst %v", inversions, orderSlack, worst)
	}
	for i, v := range visitors {
		if v.changed {
			t.Errorf("visitor %d lost the ticket", i)
			break
		}
	}
	t.Logf("%d distinct at the origin, at most %d at once and %d within 60 s", distinct, most, s.perMinute())
}

func TestTwoThousandVisitorsMeetARoomOfAHundred(t *testing.T) {
	t.Parallel()
	s := newShop(t, crowdSession)
	p := serve(t, s.URL, "--total-active-users", crowdRoom, "--new-users-per-minute", crowdRoom, "--session-duration", crowdSession.String())
	visitors := crowd(t, p, func() {})
	judge(t, s, visitors)
	_, _, distinct := s.counts()
	if got := p.metric(t.Context(), `anteroom_room_admitted_total{room="quick"}`); got != strconv.Itoa(distinct) {
		t.Errorf("the metrics tell of %s admissions, the origin of %d", got, distinct)
	}
	for i, v := range visitors {
		if len(v.errors) > 0 {
			t.Errorf("visitor %d had failed requests: %v", i, v.errors)
			break
		}
	}
	if code := p.stop(); code != 0 {
		t.Errorf("exit code %d after a stop", code)
	}
}

// TestTheSameWithKillNine kills the only node under load, twice: while sessions run and while the line
// is long.
func TestTheSameWithKillNine(t *testing.T) {
	t.Parallel()
	s := newShop(t, crowdSession)
	p := serve(t, s.URL, "--total-active-users", crowdRoom, "--new-users-per-minute", crowdRoom, "--session-duration", crowdSession.String())
	visitors := crowd(t, p, func() {
		for _, after := range []time.Duration{4 * time.Second, 57 * time.Second} {
			time.Sleep(after)
			p.kill()
			p.start()
		}
	})
	judge(t, s, visitors)
}
