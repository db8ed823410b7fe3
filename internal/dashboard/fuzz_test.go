package dashboard_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// Wherever a link says to go next, an operator stays in the dashboard.
func FuzzNext(f *testing.F) {
	for _, seed := range []string{
		"/dashboard/", "/dashboard/rooms/r1?range=1h", "//evil.example/dashboard/", `/dashboard/\evil.example`,
		"https://evil.example/dashboard/", "javascript:alert(1)", "/dashboard/../..//evil.example", "/dashboard/%0d%0aX: y", "",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, next string) {
		w := setup(t)
		answer := w.post("/dashboard/login", url.Values{"token": {goodToken}, "next": {next}}, nil)
		to := answer.Header.Get("Location")
		base, err := url.Parse("http://127.0.0.1:8081/")
		if err != nil {
			t.Fatal(err)
		}
		u, err := base.Parse(to)
		if err != nil || u.Host != base.Host || u.Scheme != "http" || !strings.HasPrefix(to, "/dashboard/") || strings.ContainsAny(to, "\r\n\\") {
			t.Errorf("%q leads to %q (%v)", next, to, err)
		}
	})
}

// No cookie but the one that was given opens a page.
func FuzzCookie(f *testing.F) {
	for _, seed := range []string{"", ".", "a.b", strings.Repeat("A", 22) + ".", goodToken, "." + goodToken} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		w := setup(t, room("r1", "shop"))
		if value == w.signIn().Value {
			return
		}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/dashboard/", nil)
		r.Header.Set("Cookie", "anteroom_dashboard="+value)
		wantStatus(t, w.do(r, nil), http.StatusUnauthorized)
	})
}
