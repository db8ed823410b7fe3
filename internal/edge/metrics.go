package edge

import (
	"context"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/anteroom/anteroom/internal/proxy"
	"github.com/anteroom/anteroom/internal/waitingroom"
)

// meter keeps the metrics of a node. The number of series is bounded by the number of rooms: labels
// are rooms and words of closed lists, never anything that a visitor sends.
type meter struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	failures *prometheus.CounterVec
	latency  prometheus.Histogram
	answers  *prometheus.CounterVec
}

func newMeter(n *Node) *meter {
	m := &meter{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "anteroom_requests_total",
			Help: "Requests of visitors by room (empty: no room covers it), kind of request and outcome at the gate.",
		}, []string{"room", "kind", "outcome"}),
		failures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "anteroom_origin_failures_total", Help: "Requests that the origin did not answer completely, by reason.",
		}, []string{"reason"}),
		latency: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "anteroom_origin_header_seconds", Help: "Time until the header of the origin's answer was complete.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
		}),
		answers: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "anteroom_origin_answers_total", Help: "Answers of the origin by class of status.",
		}, []string{"class"}),
	}
	for _, reason := range proxy.Reasons() {
		m.failures.WithLabelValues(string(reason))
	}
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "anteroom_info", Help: "The running version.", ConstLabels: prometheus.Labels{"version": n.opts.Version},
	})
	info.Set(1)
	m.registry.MustRegister(m.requests, m.failures, m.latency, m.answers, info, newRoomCollector(n),
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Decided counts one request at the gate.
func (m *meter) Decided(room string, kind waitingroom.Kind, outcome waitingroom.Outcome) {
	m.requests.WithLabelValues(room, kind.String(), outcome.String()).Inc()
}

// forget drops the series of rooms that are gone, so that their number stays that of the rooms.
func (m *meter) forget(gone []string) {
	for _, room := range gone {
		m.requests.DeletePartialMatch(prometheus.Labels{"room": room})
	}
}

func (m *meter) failed(reason proxy.Reason) { m.failures.WithLabelValues(string(reason)).Inc() }

func (m *meter) answered(status int, took time.Duration) {
	m.latency.Observe(took.Seconds())
	m.answers.WithLabelValues(statusClass(status)).Inc()
}

func statusClass(status int) string {
	if status < 100 || status > 599 {
		return "other"
	}
	return string(rune('0'+status/100)) + "xx"
}

func (m *meter) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// roomCollector reads the rooms' counts when it is asked.
type roomCollector struct {
	n      *Node
	gauges []roomGauge
}

type roomGauge struct {
	desc  *prometheus.Desc
	kind  prometheus.ValueType
	value func(r roomCounts) float64
}

// roomCounts is what a room's gauges are made of.
type roomCounts struct {
	limit, rate                      int
	active, waiting, free, admitted  int
	oldest                           time.Duration
	total, joined, abandoned, lapsed uint64
}

func newRoomCollector(n *Node) *roomCollector {
	c := &roomCollector{n: n}
	add := func(name, help string, kind prometheus.ValueType, value func(roomCounts) float64) {
		desc := prometheus.NewDesc("anteroom_room_"+name, help, []string{"room"}, nil)
		c.gauges = append(c.gauges, roomGauge{desc, kind, value})
	}
	const gauge, counter = prometheus.GaugeValue, prometheus.CounterValue
	add("total_active_users", "The limit of active users.", gauge, func(r roomCounts) float64 { return float64(r.limit) })
	add("new_users_per_minute", "The limit of admissions a minute.", gauge, func(r roomCounts) float64 { return float64(r.rate) })
	add("active_users", "Sessions in force.", gauge, func(r roomCounts) float64 { return float64(r.active) })
	add("queued_users", "Visitors who wait.", gauge, func(r roomCounts) float64 { return float64(r.waiting) })
	add("free_slots", "Visitors who could enter at this moment.", gauge, func(r roomCounts) float64 { return float64(r.free) })
	add("admitted_last_minute", "Admissions of the last 60 s.", gauge, func(r roomCounts) float64 { return float64(r.admitted) })
	add("oldest_wait_seconds", "How long the next in line has waited.", gauge, func(r roomCounts) float64 { return r.oldest.Seconds() })
	add("admitted_total", "Admissions.", counter, func(r roomCounts) float64 { return float64(r.total) })
	add("joined_total", "Visitors who took a place in line.", counter, func(r roomCounts) float64 { return float64(r.joined) })
	add("abandoned_total", "Visitors who gave up waiting.", counter, func(r roomCounts) float64 { return float64(r.abandoned) })
	add("lapsed_total", "Turns that nobody claimed in time.", counter, func(r roomCounts) float64 { return float64(r.lapsed) })
	return c
}

// Describe tells the names of the metrics.
func (c *roomCollector) Describe(out chan<- *prometheus.Desc) {
	for _, g := range c.gauges {
		out <- g.desc
	}
}

// Collect reads every room once.
func (c *roomCollector) Collect(out chan<- prometheus.Metric) {
	s := c.n.store.Snapshot()
	for i := range s.Rooms {
		r := &s.Rooms[i].Room
		st, err := c.n.rooms.Status(context.WithoutCancel(c.n.group.Context()), r.ID)
		if err != nil {
			continue
		}
		counts := roomCounts{
			limit: r.TotalActiveUsers, rate: r.NewUsersPerMinute,
			active: st.Active, waiting: st.Waiting, free: st.Free, admitted: st.AdmittedMinute, oldest: st.OldestWait,
			total: st.Admitted, joined: st.Joined, abandoned: st.Abandoned, lapsed: st.Lapsed,
		}
		for _, g := range c.gauges {
			out <- prometheus.MustNewConstMetric(g.desc, g.kind, g.value(counts), r.Name)
		}
	}
}
