package demo_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/anteroom/anteroom/internal/demo"
)

// Whatever a client sends, the shop answers and is not broken by it.
func FuzzShop(f *testing.F) {
	f.Add("/", "application/json;q=0.3, text/html", "nightfall_cart=lyon.2", "lyon", "2")
	f.Add("/cart", "", "nightfall_cart=lyon.99999999999999999999", "<b>", "-1")
	f.Add("/shows/%2e%2e", "a/b;q=", "nightfall_cart=.", "lyon.1", "4.4")
	shop := demo.Shop()
	f.Fuzz(func(t *testing.T, path, accept, cookie, show, tickets string) {
		u, err := url.ParseRequestURI(path)
		if err != nil || !strings.HasPrefix(u.Path, "/") {
			return
		}
		form := url.Values{"show": {show}, "tickets": {tickets}}
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			r := httptest.NewRequestWithContext(t.Context(), method, "/", strings.NewReader(form.Encode()))
			r.URL = u
			r.Header.Set("Accept", accept)
			r.Header.Set("Cookie", cookie)
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			rec := httptest.NewRecorder()
			shop.ServeHTTP(rec, r)
			if rec.Code >= http.StatusInternalServerError {
				t.Errorf("%s %q: status %d", method, path, rec.Code)
			}
			if to := rec.Header().Get("Location"); rec.Code == http.StatusSeeOther && to != "/cart" {
				t.Errorf("%s %q leads to %q", method, path, to)
			}
		}
	})
}
