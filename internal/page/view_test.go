package page_test

import (
	"errors"
	"testing"
	"time"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/page"
)

// inLine is a visitor in line whose every field is set.
func inLine() *page.View {
	return &page.View{
		RoomID: "699d98642c564d2e855e9661899b7252", RoomName: "autumn-sale",
		TicketID: "4f1d0c9a8b7e6f5d4c3b2a1908f7e6d5", Method: anteroom.FIFO,
		Known: true, Wait25: 8 * time.Minute, Wait: 10 * time.Minute, Wait75: 15 * time.Minute,
		Position: 1284, Waiting: 23456, Refresh: 19500 * time.Millisecond,
		LastUpdated: time.Date(2026, 11, 30, 14, 3, 22, 81e6, time.UTC),
		Language:    "en-US", Return: "/shop/cart?step=2&item=7", WaitURL: "/.anteroom/wait",
	}
}

// with is inLine changed.
func with(change func(*page.View)) *page.View {
	v := inLine()
	change(v)
	return v
}

func compile(t testing.TB, source string) *page.Template {
	t.Helper()
	tmpl, err := page.Compile(source, anteroom.DefaultLanguage)
	if err != nil {
		t.Fatalf("compile: %v", err)
	}
	return tmpl
}

func render(t testing.TB, source string, v *page.View) string {
	t.Helper()
	return string(compile(t, source).Append(nil, v))
}

// faultOf is the error of a source that must not compile.
func faultOf(t *testing.T, source string) *anteroom.Error {
	t.Helper()
	tmpl, err := page.Compile(source, anteroom.DefaultLanguage)
	var fault *anteroom.Error
	if !errors.As(err, &fault) || tmpl != nil {
		t.Fatalf("Compile gave %v and %v, want no template and an *anteroom.Error", tmpl, err)
	}
	if fault.Code != anteroom.CodeInvalid || fault.Field != "custom_page_html" {
		t.Errorf("code %d at %q", fault.Code, fault.Field)
	}
	return fault
}
