package dashboard_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/anteroom/anteroom/internal/dashboard"
)

func start() time.Time { return time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC) }

// added is one Add of a property test.
type added struct {
	at time.Time
	s  dashboard.Sample
}

func drawSample(t *rapid.T) dashboard.Sample {
	return dashboard.Sample{
		Limit:    rapid.IntRange(1, 1<<31-1).Draw(t, "limit"),
		Active:   rapid.IntRange(0, 50).Draw(t, "active"),
		Free:     rapid.IntRange(0, 50).Draw(t, "free"),
		Waiting:  rapid.IntRange(0, 1<<30).Draw(t, "waiting"),
		Admitted: rapid.IntRange(0, 50).Draw(t, "admitted"),
	}
}

// fill adds samples at times that mostly go on and sometimes back, and gives those that still count.
func fill(t *rapid.T, h *dashboard.History) []added {
	now := start()
	var model []added
	for range rapid.IntRange(1, 200).Draw(t, "samples") {
		now = now.Add(time.Duration(rapid.IntRange(-200, 4000).Draw(t, "ms")) * time.Millisecond)
		if rapid.IntRange(0, 40).Draw(t, "jump") == 0 {
			now = now.Add(-time.Duration(rapid.IntRange(0, 120).Draw(t, "back")) * time.Second)
		}
		a := added{at: now.Truncate(time.Second), s: drawSample(t)}
		h.Add(now, "r", a.s)
		model = slices.DeleteFunc(model, func(m added) bool { return m.at.After(a.at) })
		model = append(model, a)
	}
	return model
}

func TestHistoryKeepsOrderAndPeaks(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		h := dashboard.NewHistory()
		model := fill(t, h)
		end := model[len(model)-1].at
		pointsMax := rapid.IntRange(2, 300).Draw(t, "pointsMax")
		points, step := h.Range("r", end.Add(-14*time.Minute), end, pointsMax)
		if len(points) > pointsMax {
			t.Fatalf("%d points, at most %d were asked for", len(points), pointsMax)
		}
		for i := 1; i < len(points); i++ {
			if points[i].At.Sub(points[i-1].At) < step {
				t.Fatalf("points %d and %d are %v apart, the step is %v", i-1, i, points[i].At.Sub(points[i-1].At), step)
			}
		}
		got, want := dashboard.Sample{Free: 1 << 40}, dashboard.Sample{Free: 1 << 40}
		for _, p := range points {
			got = extremes(got, p.Sample)
		}
		for _, m := range model {
			if !m.at.Before(end.Add(-14 * time.Minute)) {
				want = extremes(want, m.s)
			}
		}
		if got != want {
			t.Fatalf("the chart's extremes are %+v, those of the samples %+v", got, want)
		}
	})
}

func extremes(a, b dashboard.Sample) dashboard.Sample {
	return dashboard.Sample{
		Limit: max(a.Limit, b.Limit), Active: max(a.Active, b.Active), Free: min(a.Free, b.Free),
		Waiting: max(a.Waiting, b.Waiting), Admitted: max(a.Admitted, b.Admitted),
	}
}

func TestHistoryOfOnePerSecondIsExact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		h := dashboard.NewHistory()
		n := rapid.IntRange(1, 1000).Draw(t, "n")
		for i := range n {
			h.Add(start().Add(time.Duration(i)*time.Second), "r", dashboard.Sample{Limit: 9, Active: i, Waiting: 2 * i})
		}
		end := start().Add(time.Duration(n-1) * time.Second)
		points, step := h.Range("r", end.Add(-5*time.Minute), end, 720)
		if want := min(n, 301); len(points) != want || step != time.Second {
			t.Fatalf("%d points with step %v, want %d with 1s", len(points), step, want)
		}
		for i, p := range points {
			second := n - len(points) + i
			want := dashboard.Point{
				At:     start().Add(time.Duration(second) * time.Second),
				Sample: dashboard.Sample{Limit: 9, Active: second, Waiting: 2 * second},
			}
			if !p.At.Equal(want.At) || p.Sample != want.Sample {
				t.Fatalf("point %d is %+v, want %+v", i, p, want)
			}
		}
	})
}

func TestHistoryIsBounded(t *testing.T) {
	t.Parallel()
	h := dashboard.NewHistory()
	const hours = 30
	now := start()
	for i := range hours * 3600 {
		now = start().Add(time.Duration(i) * time.Second)
		h.Add(now, "r", dashboard.Sample{Limit: 5, Active: i % 10})
	}
	t.Run("FifteenMinutesBySecond", func(t *testing.T) {
		t.Parallel()
		points, step := h.Range("r", now.Add(-15*time.Minute), now, 1<<20)
		if len(points) != 900 || step != time.Second {
			t.Errorf("%d points with step %v, want 900 with 1s", len(points), step)
		}
	})
	t.Run("OneDayByTenSeconds", func(t *testing.T) {
		t.Parallel()
		points, step := h.Range("r", now.Add(-hours*time.Hour), now, 1<<20)
		if len(points) != 8640 || step != 10*time.Second {
			t.Errorf("%d points with step %v, want 8640 with 10s", len(points), step)
		}
		for _, p := range points {
			if p.Active != 9 {
				t.Fatalf("at %v the peak is %d, want the 9 of every 10 seconds", p.At, p.Active)
			}
		}
	})
	t.Run("MergedForAChart", func(t *testing.T) {
		t.Parallel()
		points, step := h.Range("r", now.Add(-24*time.Hour), now, 720)
		if len(points) > 720 || len(points) < 600 || step > 3*time.Minute {
			t.Errorf("%d points with step %v for a day", len(points), step)
		}
	})
}

func TestHistoryForgetsRooms(t *testing.T) {
	t.Parallel()
	h := dashboard.NewHistory()
	count := func() (n int) {
		for i := range 400 {
			if points, _ := h.Range(fmt.Sprint(i), start(), start(), 10); len(points) > 0 {
				n++
			}
		}
		return n
	}
	for i := range 400 {
		h.Add(start(), fmt.Sprint(i), dashboard.Sample{Limit: 1})
	}
	if n := count(); n != 256 {
		t.Errorf("%d rooms have a history, want the bound of 256", n)
	}
	h.Keep(func(id string) bool { return id == "7" })
	if n := count(); n != 1 {
		t.Errorf("%d rooms have a history after all but one went", n)
	}
	h.Add(start(), "399", dashboard.Sample{Limit: 1})
	if n := count(); n != 2 {
		t.Errorf("a new room found no place: %d rooms", n)
	}
}
