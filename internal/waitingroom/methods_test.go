package waitingroom_test

import (
	"net/http"
	"testing"

	"github.com/anteroom/anteroom/internal/waitingroom"
)

// TestOtherMethodsNeverGetAPage: no link and no form sends these, so a program did, and a page with status
// 200 would be a lie to it.
func TestOtherMethodsNeverGetAPage(t *testing.T) {
	t.Parallel()
	for _, method := range []string{http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions, "PROPFIND"} {
		for _, accept := range []string{"*/*", "text/html", ""} {
			r := &waitingroom.Request{Method: method, Accept: accept}
			if got := waitingroom.Classify(r); got == waitingroom.Navigation {
				t.Errorf("%s with Accept %q is taken for a navigation", method, accept)
			}
		}
	}
}
