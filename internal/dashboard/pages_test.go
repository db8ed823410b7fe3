package dashboard_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/dashboard"
	"github.com/anteroom/anteroom/internal/queue"
)

func TestRoomsPageSaysTheState(t *testing.T) {
	t.Parallel()
	known := func(d time.Duration) queue.Estimate { return queue.Estimate{Known: true, Middle: d, High: 2 * d} }
	cases := map[string]struct {
		change func(r *dashboard.Room)
		want   []string
	}{
		"Queueing": {
			func(*dashboard.Room) {},
			[]string{`data-state="queueing"`, ">Queueing<", "3,456 waiting", "5 min 45 s", ">580</span>", `value="1200" max="1200"`},
		},
		"NotQueueing": {
			func(r *dashboard.Room) { r.Status = queue.Status{State: queue.Open, Active: 311} },
			[]string{`data-state="open"`, ">Not queueing<", "311 active", ">–<"},
		},
		"Suspended": {
			func(r *dashboard.Room) { r.Config.Suspended = true },
			[]string{`data-state="suspended"`, ">Suspended<"},
		},
		"QueueAll": {
			func(r *dashboard.Room) { r.Config.QueueAll = true; r.Status.Longest = queue.Estimate{} },
			[]string{`data-state="queue-all"`, ">Queue-all<", "3,456 waiting", ">unknown<"},
		},
		"SuspendedBeforeQueueAll": {
			func(r *dashboard.Room) { r.Config.QueueAll, r.Config.Suspended = true, true },
			[]string{`data-state="suspended"`},
		},
		"Rejecting": {
			func(r *dashboard.Room) { r.Config.QueueingMethod = anteroom.Reject },
			[]string{`data-state="refusing"`, ">Rejecting<"},
		},
		"LotteryShowsWhatThreeOfFourDoNotExceed": {
			func(r *dashboard.Room) { r.Config.QueueingMethod = anteroom.Random },
			[]string{">20 min<"},
		},
		"Hours":        {func(r *dashboard.Room) { r.Status.Longest = known(3*time.Hour + 5*time.Minute) }, []string{">3 h 5 min<"}},
		"Seconds":      {func(r *dashboard.Room) { r.Status.Longest = known(59400 * time.Millisecond) }, []string{">59 s<"}},
		"WholeMinutes": {func(r *dashboard.Room) { r.Status.Longest = known(2 * time.Minute) }, []string{">2 min<"}},
		"Days":         {func(r *dashboard.Room) { r.Status.Longest = known(90 * time.Hour) }, []string{">over 24 h<"}},
		"MoreRoutes": {
			func(r *dashboard.Room) {
				r.Config.AdditionalRoutes = []anteroom.Route{{Host: "b.example.com", Path: "/"}}
			},
			[]string{"shop.example.com/ and 1 more"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := room("r1", "shop")
			c.change(&r)
			w := setup(t, r)
			page := w.get("/dashboard/", w.signIn())
			wantStatus(t, page, http.StatusOK)
			wantHas(t, text(t, page), c.want...)
		})
	}
}

func TestRoomsAreSortedByName(t *testing.T) {
	t.Parallel()
	w := setup(t, room("1", "zebra"), room("2", "Apple"), room("3", "mango"))
	page := text(t, w.get("/dashboard/", w.signIn()))
	a, m, z := strings.Index(page, ">Apple<"), strings.Index(page, ">mango<"), strings.Index(page, ">zebra<")
	if a < 0 || a > m || m > z {
		t.Errorf("the order is Apple at %d, mango at %d, zebra at %d", a, m, z)
	}
}

func TestNoRoomsShowsHowToMakeOne(t *testing.T) {
	t.Parallel()
	w := setup(t)
	page := text(t, w.get("/dashboard/", w.signIn()))
	wantHas(t, page, "curl -X POST", "http://127.0.0.1:8081/client/v4/zones/Z/waiting_rooms", "total_active_users",
		"Authorization: Bearer $ANTEROOM_ADMIN_TOKEN")
	if strings.Contains(page, goodToken) {
		t.Error("the page shows the token")
	}
}

func TestRoomPage(t *testing.T) {
	t.Parallel()
	t.Run("NumbersSettingsAndTable", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			r := room("r1", "shop")
			r.Config.Path, r.Config.Description = "/tickets", "the big night"
			r.Extras.SessionDuration = anteroom.Duration(20 * time.Second)
			w := setup(t, r)
			stop := w.run()
			time.Sleep(6 * time.Minute)
			page := text(t, w.get("/dashboard/rooms/r1?range=5m", w.signIn()))
			wantHas(t, page, "<title>shop", "20 s after the last request", "the big night", "First come, first served",
				`href="http://shop.example.com:8080/tickets"`, `data-source="/dashboard/rooms/r1/series?range=5m"`,
				`aria-current="true">5 minutes`, "1 min 35 s")
			if rows := strings.Count(page, "<time datetime="); rows < 14 || rows > 16 {
				t.Errorf("the table has %d rows for a range that is full", rows)
			}
			stop()
		})
	})
	t.Run("BeforeAnythingWasMeasured", func(t *testing.T) {
		t.Parallel()
		w := setup(t, room("r1", "shop"))
		wantHas(t, text(t, w.get("/dashboard/rooms/r1", w.signIn())), "Nothing has been measured")
	})
	t.Run("EveryHostLeadsToTheListener", func(t *testing.T) {
		t.Parallel()
		r := room("r1", "shop")
		r.Config.Host, r.Config.Path = anteroom.AnyHost, "/"
		w := setup(t, r)
		wantHas(t, text(t, w.get("/dashboard/rooms/r1", w.signIn())), `href="http://127.0.0.1:8080/"`, "every host and path")
	})
	t.Run("Unknown", func(t *testing.T) {
		t.Parallel()
		w := setup(t, room("r1", "shop"))
		for _, path := range []string{"/dashboard/rooms/nope", "/dashboard/nothing", "/elsewhere"} {
			page := w.get(path, w.signIn())
			wantStatus(t, page, http.StatusNotFound)
			wantHas(t, text(t, page), "not found", `href="/dashboard/"`)
		}
	})
}

func TestNamesAreEscaped(t *testing.T) {
	t.Parallel()
	r := room("r1", `"><script>alert(1)</script>`)
	r.Config.Host, r.Config.Path = `x"onload=alert(2)`, "/<b>"
	r.Config.Description = "<img src=x onerror=alert(3)>"
	r.Config.ID = `r"<x`
	w := setup(t, r)
	cookie := w.signIn()
	for _, path := range []string{"/dashboard/", "/dashboard/rooms/" + `r%22%3Cx`} {
		page := w.get(path, cookie)
		wantStatus(t, page, http.StatusOK)
		body := text(t, page)
		for _, bad := range []string{"<script>alert", "<img src=x", "<b>", `"onload`, `r"<x`} {
			if strings.Contains(body, bad) {
				t.Errorf("%s carries %q unescaped", path, bad)
			}
		}
	}
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	w := setup(t, room("r1", "shop"))
	cookie := w.signIn()
	for _, path := range []string{
		"/", "/dashboard/", "/dashboard/rooms/r1", "/dashboard/rooms/r1/series", "/dashboard/login", "/nowhere",
		"/dashboard/assets/live.js", "/dashboard/assets/nothing.js", "/?token=no",
	} {
		h := w.get(path, cookie).Header
		policy := h.Get("Content-Security-Policy")
		if !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") || strings.Contains(policy, "*") ||
			!strings.Contains(policy, "frame-ancestors 'none'") {
			t.Errorf("%s: policy %q", path, policy)
		}
		if h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Referrer-Policy") != "no-referrer" {
			t.Errorf("%s: headers %v", path, h)
		}
		if h.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: Cache-Control %q without the asset's hash", path, h.Get("Cache-Control"))
		}
	}
}

func TestPagesObeyTheirPolicy(t *testing.T) {
	t.Parallel()
	inline := regexp.MustCompile(`(?i)<style|\sstyle=|\son[a-z]+=|<script(?:[^>]*)>[^<]|javascript:`)
	address := regexp.MustCompile(`(?:src|href|action)="([^"]*)"`)
	w := setup(t, room("r1", "shop"))
	cookie := w.signIn()
	for _, c := range []*http.Cookie{cookie, nil} {
		for _, path := range []string{"/dashboard/", "/dashboard/rooms/r1", "/nowhere"} {
			body := text(t, w.get(path, c))
			if bad := inline.FindString(body); bad != "" {
				t.Errorf("%s has %q in the page itself", path, bad)
			}
			for _, m := range address.FindAllStringSubmatch(body, -1) {
				to := m[1]
				if !strings.HasPrefix(to, "/dashboard/") && !strings.HasPrefix(to, "?") && !strings.HasPrefix(to, "#") &&
					to != "http://shop.example.com:8080/" {
					t.Errorf("%s points to %q", path, to)
				}
				if strings.HasPrefix(to, "/dashboard/assets/") {
					asset := w.get(to, nil)
					wantStatus(t, asset, http.StatusOK)
					if !strings.Contains(asset.Header.Get("Cache-Control"), "immutable") {
						t.Errorf("%s is not cached", to)
					}
				}
			}
		}
	}
}

func TestAssetsNameNoOtherSite(t *testing.T) {
	t.Parallel()
	foreign := regexp.MustCompile(`(?:https?:)?//[a-zA-Z0-9-]+\.[a-zA-Z]{2,}[^\s"')]*`)
	files, err := filepath.Glob("assets/*")
	if err != nil || len(files) < 6 {
		t.Fatalf("%d assets: %v", len(files), err)
	}
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range foreign.FindAllString(string(body), -1) {
			// The library's banner names its home, and SVG its name space; neither is ever requested.
			if found != "https://github.com/leeoniya/uPlot" && found != "http://www.w3.org/2000/svg" {
				t.Errorf("%s names %s", file, found)
			}
		}
	}
}

func TestHeadAndOtherMethods(t *testing.T) {
	t.Parallel()
	w := setup(t, room("r1", "shop"))
	cookie := w.signIn()
	send := func(method, path string) *http.Response {
		return w.do(httptest.NewRequestWithContext(t.Context(), method, path, nil), cookie)
	}
	wantStatus(t, send(http.MethodHead, "/dashboard/"), http.StatusOK)
	wantStatus(t, send(http.MethodGet, "/dashboard"), http.StatusSeeOther)
	wantStatus(t, send(http.MethodPost, "/dashboard/"), http.StatusNotFound)
	wantStatus(t, send(http.MethodGet, "/dashboard/logout"), http.StatusNotFound)
	wantStatus(t, w.get("/dashboard/", cookie), http.StatusOK)
}
