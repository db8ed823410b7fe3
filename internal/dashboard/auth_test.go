package dashboard_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestStrangersSeeTheForm(t *testing.T) {
	t.Parallel()
	w := setup(t, room("r1", "secret-room"))
	good := w.signIn()
	forged := *good
	forged.Value = strings.Repeat("A", 22) + "." + strings.Repeat("B", 43)
	halfForged := *good
	halfForged.Value = good.Value[:len(good.Value)-4] + "AAAA"
	otherToken := *good
	otherToken.Value = goodToken
	empty := *good
	empty.Value = ""
	for name, c := range map[string]*http.Cookie{
		"NoCookie": nil, "Forged": &forged, "HalfForged": &halfForged, "TokenAsCookie": &otherToken, "Empty": &empty,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, path := range []string{"/dashboard/", "/dashboard/rooms/r1", "/dashboard/login"} {
				answer := w.get(path, c)
				wantStatus(t, answer, http.StatusUnauthorized)
				page := text(t, answer)
				wantHas(t, page, `action="/dashboard/login"`, `type="password"`)
				if strings.Contains(page, "secret-room") {
					t.Errorf("%s names a room to a stranger", path)
				}
			}
			for _, path := range []string{"/dashboard/events", "/dashboard/rooms/r1/series"} {
				answer := w.get(path, c)
				wantStatus(t, answer, http.StatusUnauthorized)
				if body := text(t, answer); strings.Contains(body, "secret-room") || strings.Contains(body, "limit") {
					t.Errorf("%s tells a stranger %q", path, body)
				}
			}
		})
	}
}

func TestReadyLink(t *testing.T) {
	t.Parallel()
	t.Run("RightToken", func(t *testing.T) {
		t.Parallel()
		w := setup(t, room("r1", "shop"))
		answer := w.get("/?token="+goodToken, nil)
		wantStatus(t, answer, http.StatusSeeOther)
		if to := answer.Header.Get("Location"); to != "/dashboard/" {
			t.Errorf("leads to %q", to)
		}
		cookies := answer.Cookies()
		if len(cookies) != 1 {
			t.Fatalf("%d cookies", len(cookies))
		}
		c := cookies[0]
		if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/dashboard/" || c.Domain != "" || c.Secure {
			t.Errorf("cookie attributes: %+v", c)
		}
		if strings.Contains(c.Value, goodToken) {
			t.Error("the cookie holds the token")
		}
		page := w.get("/dashboard/", c)
		wantStatus(t, page, http.StatusOK)
		wantHas(t, text(t, page), "shop")
	})
	t.Run("WithoutTheSlash", func(t *testing.T) {
		t.Parallel()
		w := setup(t)
		answer := w.get("/dashboard?token="+goodToken, nil)
		if to := answer.Header.Get("Location"); to != "/dashboard/" || len(answer.Cookies()) != 1 {
			t.Errorf("leads to %q with %d cookies", to, len(answer.Cookies()))
		}
		wantStatus(t, w.get("/dashboard", nil), http.StatusSeeOther)
	})
	t.Run("KeepsThePage", func(t *testing.T) {
		t.Parallel()
		w := setup(t, room("r1", "shop"))
		answer := w.get("/dashboard/rooms/r1?range=1h&token="+goodToken, nil)
		if to := answer.Header.Get("Location"); to != "/dashboard/rooms/r1?range=1h" {
			t.Errorf("leads to %q", to)
		}
	})
	t.Run("WrongToken", func(t *testing.T) {
		t.Parallel()
		w := setup(t, room("r1", "shop"))
		for _, token := range []string{"wrong", "", goodToken + "x", strings.Repeat("x", 600)} {
			answer := w.get("/?token="+token, nil)
			wantStatus(t, answer, http.StatusUnauthorized)
			if len(answer.Cookies()) > 0 {
				t.Errorf("%.20q got a cookie", token)
			}
			if page := text(t, answer); strings.Contains(page, goodToken) || (len(token) > 1 && strings.Contains(page, token)) {
				t.Errorf("the page repeats a token: %s", page)
			}
		}
		if strings.Contains(w.logs.String(), goodToken) {
			t.Error("the log holds the token")
		}
	})
	t.Run("SecureOverTLS", func(t *testing.T) {
		t.Parallel()
		w := setup(t)
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "https://admin.example.com/?token="+goodToken, nil)
		if c := w.do(r, nil).Cookies(); len(c) != 1 || !c[0].Secure {
			t.Errorf("cookies over TLS: %v", c)
		}
	})
}

func TestSignInForm(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		token, next string
		status      int
		to          string
	}{
		"Right":          {goodToken, "/dashboard/rooms/r1?range=24h", http.StatusSeeOther, "/dashboard/rooms/r1?range=24h"},
		"SpacesAround":   {"  " + goodToken + "\n", "", http.StatusSeeOther, "/dashboard/"},
		"ForeignScheme":  {goodToken, "https://evil.example/dashboard/", http.StatusSeeOther, "/dashboard/"},
		"ForeignHost":    {goodToken, "//evil.example/dashboard/", http.StatusSeeOther, "/dashboard/"},
		"Backslash":      {goodToken, `/dashboard/\\evil.example`, http.StatusSeeOther, "/dashboard/%5C%5Cevil.example"},
		"DotSegments":    {goodToken, "/dashboard/../client/v4/zones", http.StatusSeeOther, "/dashboard/"},
		"Script":         {goodToken, "javascript:alert(1)", http.StatusSeeOther, "/dashboard/"},
		"OutsideOfPages": {goodToken, "/client/v4/zones", http.StatusSeeOther, "/dashboard/"},
		"Wrong":          {"nope", "/dashboard/rooms/r1", http.StatusUnauthorized, ""},
		"Empty":          {"", "", http.StatusUnauthorized, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := setup(t, room("r1", "shop"))
			answer := w.post("/dashboard/login", url.Values{"token": {c.token}, "next": {c.next}}, nil)
			wantStatus(t, answer, c.status)
			if to := answer.Header.Get("Location"); to != c.to {
				t.Errorf("leads to %q, want %q", to, c.to)
			}
			if got, want := len(answer.Cookies()) == 1, c.status == http.StatusSeeOther; got != want {
				t.Errorf("cookie set: %v, want %v", got, want)
			}
		})
	}
	t.Run("WrongKeepsWhereToGo", func(t *testing.T) {
		t.Parallel()
		w := setup(t)
		answer := w.post("/dashboard/login", url.Values{"token": {"no"}, "next": {"/dashboard/rooms/r1"}}, nil)
		wantHas(t, text(t, answer), `value="/dashboard/rooms/r1"`, `role="alert"`)
	})
	t.Run("FromAnotherSite", func(t *testing.T) {
		t.Parallel()
		w := setup(t)
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/dashboard/logout", nil)
		r.Header.Set("Sec-Fetch-Site", "cross-site")
		wantStatus(t, w.do(r, w.signIn()), http.StatusForbidden)
	})
}

func TestSessionEnds(t *testing.T) {
	t.Parallel()
	t.Run("AtSignOut", func(t *testing.T) {
		t.Parallel()
		w := setup(t, room("r1", "shop"))
		one, other := w.signIn(), w.signIn()
		answer := w.post("/dashboard/logout", nil, one)
		wantStatus(t, answer, http.StatusSeeOther)
		if c := answer.Cookies(); len(c) != 1 || c[0].MaxAge >= 0 {
			t.Errorf("the cookie stays: %v", c)
		}
		wantStatus(t, w.get("/dashboard/", one), http.StatusUnauthorized)
		wantStatus(t, w.get("/dashboard/", other), http.StatusOK)
	})
	t.Run("WithItsToken", func(t *testing.T) {
		t.Parallel()
		w := setup(t, room("r1", "shop"))
		c := w.signIn()
		w.revoke()
		wantStatus(t, w.get("/dashboard/", c), http.StatusUnauthorized)
	})
	t.Run("ByAge", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			w := setup(t, room("r1", "shop"))
			c := w.signIn()
			time.Sleep(12*time.Hour - time.Second)
			wantStatus(t, w.get("/dashboard/", c), http.StatusOK)
			time.Sleep(time.Second)
			wantStatus(t, w.get("/dashboard/", c), http.StatusUnauthorized)
		})
	})
	t.Run("OldestAboveTheBound", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			w := setup(t, room("r1", "shop"))
			first := w.signIn()
			time.Sleep(time.Second)
			second := w.signIn()
			for range 63 {
				time.Sleep(time.Second)
				w.signIn()
			}
			wantStatus(t, w.get("/dashboard/", first), http.StatusUnauthorized)
			wantStatus(t, w.get("/dashboard/", second), http.StatusOK)
		})
	})
	t.Run("NotByAForgedSignOut", func(t *testing.T) {
		t.Parallel()
		w := setup(t, room("r1", "shop"))
		c := w.signIn()
		forged := *c
		forged.Value, _, _ = strings.Cut(c.Value, ".")
		w.post("/dashboard/logout", nil, &forged)
		wantStatus(t, w.get("/dashboard/", c), http.StatusOK)
	})
}

func TestWrongTokensAreSlowedDown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := setup(t)
		from := func(address, token string) *http.Response {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/?token="+token, nil)
			r.RemoteAddr = address
			return w.do(r, nil)
		}
		for range 10 {
			wantStatus(t, from("192.0.2.1:1000", "no"), http.StatusUnauthorized)
		}
		blocked := from("192.0.2.1:2000", goodToken)
		wantStatus(t, blocked, http.StatusTooManyRequests)
		if blocked.Header.Get("Retry-After") == "" {
			t.Error("no Retry-After")
		}
		wantStatus(t, from("192.0.2.2:1000", goodToken), http.StatusSeeOther)
		time.Sleep(time.Minute)
		wantStatus(t, from("192.0.2.1:3000", goodToken), http.StatusSeeOther)

		for range 10 {
			from("192.0.2.9:1", "no")
		}
		wantStatus(t, from("192.0.2.9:1", goodToken), http.StatusTooManyRequests)
		for i := range 1100 { // more addresses than are remembered: none of them is locked out
			wantStatus(t, from(url.PathEscape(time.Duration(i).String())+":1", "no"), http.StatusUnauthorized)
		}
		wantStatus(t, from("192.0.2.9:1", goodToken), http.StatusSeeOther) // forgotten with the others
	})
}
