package proxy_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/proxy"
)

func TestParseOriginReads(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"http://127.0.0.1:3000":     "http://127.0.0.1:3000",
		"HTTP://Shop.Test":          "http://Shop.Test",
		"https://shop.test/":        "https://shop.test",
		"h2c://shop.test:50051":     "h2c://shop.test:50051",
		"http://::1":                "http://[::1]",
		"http://[::1]":              "http://[::1]",
		"http://[::1]:8080":         "http://[::1]:8080",
		"http://2001:db8::7":        "http://[2001:db8::7]",
		"http://::ffff:127.0.0.1":   "http://[::ffff:127.0.0.1]",
		"http://my_host-1.internal": "http://my_host-1.internal",
	} {
		u, err := proxy.ParseOrigin(text)
		if err != nil {
			t.Errorf("ParseOrigin(%q): %v", text, err)
			continue
		}
		if u.String() != want {
			t.Errorf("ParseOrigin(%q) = %s, want %s", text, u, want)
		}
	}
}

func TestParseOriginRefuses(t *testing.T) {
	t.Parallel()
	for text, wants := range map[string]string{
		"":                          "http://",
		"127.0.0.1:3000":            "http://127.0.0.1:3000",
		"shop.test":                 "http://shop.test",
		"::1":                       "http://[::1]",
		"ftp://shop.test":           `"ftp"`,
		"http://":                   "host",
		"http://:8080":              "host",
		"http://shop.test:":         "port",
		"http://shop.test:0":        "port",
		"http://shop.test:65536":    "port",
		"http://shop.test:http":     "port",
		"http://[::1":               "IPv6",
		"http://[shop.test]:80":     "IPv6",
		"http://[127.0.0.1]":        "IPv6",
		"http://[fe80::1%25lo]":     "zone",
		"http://fe80::1%lo":         "zone",
		"http://shop.test/app":      "path",
		"http://shop.test//":        "path",
		"http://shop.test?a=b":      "query",
		"http://shop.test#a":        "fragment",
		"http://me:pw@shop.test":    "password",
		"http://shop.test\\x":       "host",
		"http://shop test":          "host",
		"http://shop.test\r\nX: y":  "port",
		"http://sh\x00p.test":       "host",
		"http://1:2:3:4:5:6:7:8:9":  "host",
		"unix:///var/run/shop.sock": `"unix"`,
	} {
		u, err := proxy.ParseOrigin(text)
		var fault *anteroom.Error
		if !errors.As(err, &fault) {
			t.Errorf("ParseOrigin(%q) = %v, %v; want an anteroom.Error", text, u, err)
			continue
		}
		if fault.Field != "origin" || fault.Hint == "" || !strings.Contains(fault.Error(), wants) {
			t.Errorf("ParseOrigin(%q): %q does not name %q, or lacks field and hint", text, fault, wants)
		}
	}
}

func TestNewRefusesWithoutOrigin(t *testing.T) {
	t.Parallel()
	if _, err := proxy.New(proxy.Options{}); err == nil || !strings.Contains(err.Error(), "origin") {
		t.Errorf("New without an origin: %v, want an error that names it", err)
	}
}

func FuzzParseOrigin(f *testing.F) {
	for _, s := range []string{"http://127.0.0.1:3000", "https://[::1]:8", "::1", "h2c://a", "http://[fe80::1%lo]:1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		u, err := proxy.ParseOrigin(text)
		if err != nil {
			return
		}
		again, err := proxy.ParseOrigin(u.String())
		if err != nil || *again != *u {
			t.Errorf("%q gives %q, which gives %v, %v", text, u, again, err)
		}
		if u.Host == "" || u.Path+u.RawQuery+u.Fragment != "" || u.User != nil {
			t.Errorf("%q gives %#v", text, u)
		}
	})
}
