package dashboard

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/anteroom/anteroom/internal/sys"
)

// chartPointsMax bounds what a chart draws and loads; a screen has hardly more columns.
const chartPointsMax = 720

// span is a choice of the chart's range.
type span struct {
	Key, Text string
	Length    time.Duration
}

// spans lists the choices; the first is the default.
func spans() []span {
	return []span{
		{Key: "5m", Text: "5 minutes", Length: 5 * time.Minute},
		{Key: "1h", Text: "1 hour", Length: time.Hour},
		{Key: "24h", Text: "24 hours", Length: 24 * time.Hour},
	}
}

// spanOf is the request's choice, or the default when it names none that exists.
func spanOf(r *http.Request) span {
	all := spans()
	for _, s := range all {
		if s.Key == r.URL.Query().Get("range") {
			return s
		}
	}
	return all[0]
}

// series is a chart's data, one column for each line of the chart. Times are seconds since 1970.
type series struct {
	From int64 `json:"from"`
	To   int64 `json:"to"`
	// Step is the seconds between points; a larger gap means that nothing was measured there.
	Step    int64   `json:"step"`
	At      []int64 `json:"at"`
	Limit   []int   `json:"limit"`
	Active  []int   `json:"active"`
	Free    []int   `json:"free"`
	Waiting []int   `json:"waiting"`
}

func seriesOf(points []Point, from, to time.Time, step time.Duration) series {
	n := len(points)
	s := series{
		From:    from.Unix(),
		To:      to.Unix(),
		Step:    int64(step / time.Second),
		At:      make([]int64, n),
		Limit:   make([]int, n),
		Active:  make([]int, n),
		Free:    make([]int, n),
		Waiting: make([]int, n),
	}
	for i, p := range points {
		s.At[i], s.Limit[i], s.Active[i], s.Free[i], s.Waiting[i] = p.At.Unix(), p.Limit, p.Active, p.Free, p.Waiting
	}
	return s
}

// seriesJSON answers the chart's script.
func (d *Dashboard) seriesJSON(w http.ResponseWriter, r *http.Request) {
	now, length := sys.Now(), spanOf(r).Length
	from := now.Add(-length)
	points, step := d.history.Range(r.PathValue("id"), from, now, chartPointsMax)
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(seriesOf(points, from, now, step)); err != nil {
		d.options.Log.DebugContext(r.Context(), "chart data not delivered", "error", err)
	}
}
