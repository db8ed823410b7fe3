package route_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/route"
)

// none is what a table says when no room covers a request.
const none = -1

func compile(tb testing.TB, entries ...route.Entry) *route.Table {
	tb.Helper()
	t, err := route.Compile(entries)
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

func match(t *route.Table, host, path string) int {
	if room, ok := t.Match(host, path); ok {
		return room
	}
	return none
}

// inShop are targets that some server takes for something at or below /shop.
func inShop() map[string][]string {
	return map[string][]string{
		"Plain":           {"/shop", "/shop/", "/shop/x", "/shop/x/y/", "/shop//", "/shop/x.html", "/shop/.well-known"},
		"EncodedLetters":  {"/%73hop", "/%73%68%6F%70", "/sho%70/x", "/%73%68%6f%70/%78"},
		"EncodedSlash":    {"/shop%2Fx", "/shop%2fx", "/shop%2f", "/%2fshop", "/%2Fshop%2Fx", "%2Fshop"},
		"DoubledSlash":    {"//shop", "///shop", "//shop//x", "/shop//x", "//shop/"},
		"DotSegments":     {"/./shop", "/shop/.", "/x/../shop", "/x/y/../../shop/z", "/../shop", "/x/../shop/../shop"},
		"EncodedDots":     {"/%2e/shop", "/x/%2e%2e/shop", "/x/.%2e/shop", "/x/%2E./shop", "/%2e%2e/shop"},
		"ClimbsOut":       {"/shop/..", "/shop/../x", "/shop/%2e%2e/x", "/shop/..%2fx", "/shop/..%2Fx", "/shop//../x", "/shop/x/../../y"},
		"Params":          {"/shop;x=1", "/shop;x=1/y", "/shop;", "/;x/shop", "/x/..;/shop", "/x/..;a=b/shop", "/shop/..;/x", "/shop%3Bx", "/shop;%2f.."},
		"Backslash":       {`/\shop`, `\shop`, `/shop\x`, `/x\..\shop`, `/x/..\shop`, `/shop/..\x`, `/shop\..\x`, "/shop%5Cx", "/x%5c..%5cshop"},
		"EncodedTwice":    {"/%2573hop", "/shop%252fx", "/x/%252e%252e/shop", "/x/..%252fshop", "/%252573hop", "/%25252573hop"},
		"EncodedByHalves": {"/%%373hop", "/%7%33hop", "/%2%35%373hop"},
		"PercentU":        {"/%u0073hop", "/%U0073hop", "/x/%u002e./shop", "/shop%u002fx", "/shop%uFF0fx"},
		"Overlong":        {"/shop%c0%afx", "/x/%c0%ae%c0%ae/shop", "/x/..%c1%9cshop", "/shop%e0%80%afx", "/shop%f0%80%80%afx", "/shop%f8%80%80%80%afx", "/shop%fc%80%80%80%80%afx", "/%c1%b3hop", "/shop\xc0\xafx"},
		"FullWidth":       {"/shop%EF%BC%8Fx", "/shop／x", "/x/．．/shop", "/x/..＼shop", "/ｓｈｏｐ", "/x/%EF%BC%8E%EF%BC%8E/shop", "/%EF%BC%8573hop"},
		"NUL":             {"/shop%00", "/shop%00x", "/shop%00/..", "/shop%2500", "/shop%c0%80x", "/x/..%00/shop"},
		"TrailingDots":    {"/shop.", "/shop...", "/shop./x", "/shop%2e", "/shop%20", "/shop%20/x", "/shop%20.%20", "/shop%09", "/shop%0D%0A", "/shop /x", "/shop ", "/shop.;x", "/x/..%20/shop"},
		"Fragment":        {"/shop#x", "/shop#", "/shop#/x", "/shop%23x", "/x#/../shop", "/shop#/../x"},
		"Query":           {"/shop?x=1", "/shop%3Fx=1", "/shop?/../x"},
		"HostName":        {"//x/shop", "///x/shop", `/\x/shop`, `\\x\shop`, "//x:80/shop/y", "/%2fx/shop", "/;/x/shop", "//x%2fy/shop", `//x\y/shop`, "//x／y/shop", "http:/shop", "http:shop", "x:y@z/shop"},
		"AbsoluteForm":    {"http://a.test/shop", "HTTPS://a.test:8443/shop/x", `http://a.test\shop`, "http://a.test/x/../shop", "ws://u@a.test/%73hop"},
		"NoSlash":         {"shop", "shop/x", "./shop"},
		"Combined":        {"/x%2f%2e%2e%5cshop;y", "//x;/..%252f.//%73hop%20;z", `/x\..;\%2573hop/`},
	}
}

// notInShop are targets that no server takes for /shop.
func notInShop() []string {
	return []string{
		"/", "", "*", "/shopping", "/shopping/", "/sho", "/shop-x", "/shop_", "/SHOP", "/Shop/x", "/x/shop", "/x/shop/y", "/shop%20x",
		"/shop.html", "/.shop", "/shop%2ehtml", "/sh%2Fop", "/shop,x", "/shop&x", "/shop=", "/shop:80", "/shop~", "/shop%zz", "/shop%",
		"/x/../shopping", "/../sho/p", "//shopping", "//x/y/shop", "/x;/shop", "/x;shop", "/;shop", "/x#shop", "/x?/shop",
		"http://shop", "http://shop/", "http://shop/x", "http://a.test", "http://a.test/shopping", "http://a.test?/shop", "a.test:443",
		"/%", "/%2", "/%u", "/%u00", "/%zz", "/\xff", "/\xc0", "/\xc0\xc0shop", "/shop\xc3\xa4", "/shöp", "/sh%C3%B6p", "/..", "/.", "//", "/%00",
		"/shop.x/y", "/shop%2dx", "/shop+x",
	}
}

func TestMatchShop(t *testing.T) {
	t.Parallel()
	shop := compile(t, route.Entry{Host: "a.test", Path: "/shop", Room: 7})
	for name, targets := range inShop() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, target := range targets {
				if got := match(shop, "a.test", target); got != 7 {
					t.Errorf("%q: room %d, want 7", target, got)
				}
				if shop.Split("a.test", target) {
					t.Errorf("%q: one room is split", target)
				}
			}
		})
	}
	for _, target := range notInShop() {
		if got := match(shop, "a.test", target); got != none {
			t.Errorf("%q: room %d, want none", target, got)
		}
	}
	for _, host := range []string{"", "b.test", "xa.test", "a.test.b", "www.a.test", "*"} {
		if got := match(shop, host, "/shop"); got != none {
			t.Errorf("host %q: room %d, want none", host, got)
		}
	}
}

// TestRootCoversEveryTarget: a room at "/" has no way around it.
func TestRootCoversEveryTarget(t *testing.T) {
	t.Parallel()
	root := compile(t, route.Entry{Host: "a.test", Room: 7})
	targets := notInShop()
	for _, more := range inShop() {
		targets = append(targets, more...)
	}
	for _, target := range targets {
		if got := match(root, "a.test", target); got != 7 {
			t.Errorf("%q: room %d, want 7", target, got)
		}
	}
}

func TestMostSpecificWins(t *testing.T) {
	t.Parallel()
	table := compile(t,
		route.Entry{Host: "a.test", Path: "/", Room: 0},
		route.Entry{Host: "a.test", Path: "/shop", Room: 1},
		route.Entry{Host: "a.test", Path: "/shop/sale/", Room: 2},
		route.Entry{Host: "a.test", Path: "/caf%C3%A9", Room: 3},
		route.Entry{Host: "b.test", Path: "/shop", Room: 4},
		route.Entry{Host: "*", Path: "/shop/sale/today", Room: 5},
		route.Entry{Host: "*", Path: "/news", Room: 6},
		route.Entry{Host: "b.test", Path: "/my shop/100%", Room: 7},
		route.Entry{Host: "b.test", Path: "/a%2561", Room: 8},
		route.Entry{Host: "b.test", Path: "/\u0080", Room: 9},
	)
	for _, c := range []struct {
		host, path string
		want       int
	}{
		{"a.test", "/", 0},
		{"a.test", "", 0},
		{"a.test", "*", 0},
		{"a.test", "/x", 0},
		{"a.test", "/news", 0}, // the exact host's shorter path wins over a longer one of "*"
		{"a.test", "/shop", 1},
		{"a.test", "/shop/salesman", 1},
		{"a.test", "/shop/sale", 2},
		{"a.test", "/shop/sale/today", 2},
		{"a.test", "/shop/sal%65/x", 2},
		{"a.test", "/shop/x/../sale", 2},
		{"a.test", "/shop/sale/../x", 2}, // one server stays in the sale
		{"a.test", "/café", 3},
		{"a.test", "/caf%c3%a9/x", 3},
		{"a.test", "/cafe%CC%81", 3}, // decomposed
		{"a.test", "/caf%E9", 0},     // Latin-1 is another name
		{"b.test", "/shop/sale", 4},
		{"b.test", "/shop/sale/today", 4},
		{"b.test", "/news/x", 6}, // the exact host has no such path
		{"b.test", "/", none},
		{"b.test", "/my%20shop/100%25/x", 7},
		{"b.test", "/my%20shop/100%/x", 7},
		{"b.test", "/a%2561", 8},
		{"b.test", "/aa", 8},
		{"b.test", "/%C2%80/x", 9},
		{"b.test", "/%80/x", none}, // one byte is not the character of that number
		{"c.test", "/shop/sale/today/x", 5},
		{"c.test", "/shop/sale", none},
		{"", "/news", 6},
		{"*", "/news", 6},
		{"[::1]:80", "/news", 6},
	} {
		if got := match(table, c.host, c.path); got != c.want {
			t.Errorf("%q %q: room %d, want %d", c.host, c.path, got, c.want)
		}
	}
}

func TestSplit(t *testing.T) {
	t.Parallel()
	table := compile(t,
		route.Entry{Host: "a.test", Path: "/shop", Room: 1},
		route.Entry{Host: "a.test", Path: "/shop/sale", Room: 2},
		route.Entry{Host: "a.test", Path: "/news", Room: 3},
		route.Entry{Host: "a.test", Path: "/press", Room: 3},
		route.Entry{Host: "*", Path: "/", Room: 4},
		route.Entry{Host: "b.test", Path: "/x", Room: 4},
		route.Entry{Host: "c.test", Path: "/x", Room: 5},
		route.Entry{Host: "*", Path: "/p", Room: 5},
		route.Entry{Host: "*", Path: "/p/q", Room: 4},
	)
	long := strings.Repeat("/x", 70)
	for _, c := range []struct {
		host, path string
		room       int
		want       bool
	}{
		{"a.test", "/shop/sale/x", 2, false},
		{"a.test", "/shop/a%2Fb", 1, false}, // an escaped slash alone is no fault
		{"a.test", "/shop%2Fsale", 2, false},
		{"a.test", "/shop//sale", 2, false},
		{"a.test", "/news/../press", 3, true}, // all of it could also be "/"
		{"a.test", "/news/..%2fshop", 1, true},
		{"a.test", "/news/..;/shop", 1, true},
		{"a.test", "/shop/..;/news", 3, true},
		{"a.test", `/news\..\shop/sale`, 2, true},
		{"a.test", "//news/shop", 3, true},
		{"a.test", "/;/news/shop", 3, true},
		{"a.test", "//shop/sale", 2, true}, // "/sale" for a server that takes "shop" for a host
		{"b.test", "//x/y", 4, false},
		{"b.test", "/x/../y", 4, false},  // both rooms are one
		{"b.test", "/x/../p/q", 4, true}, // one server finds /p
		{"c.test", "/x/../y", 5, true},
		{"b.test", "/y/../z", 4, false},
		{"a.test", "/.." + long, 2, true}, // too many segments to look at: any room may be meant
		{"b.test", "/.." + long, 4, true},
		{"c.test", "/.." + long, 5, true},
		{"a.test", long, 4, false},
	} {
		if got := match(table, c.host, c.path); got != c.room {
			t.Errorf("%s %.40q: room %d, want %d", c.host, c.path, got, c.room)
		}
		if got := table.Split(c.host, c.path); got != c.want {
			t.Errorf("%s %.40q: split %v, want %v", c.host, c.path, got, c.want)
		}
	}
}

func TestEmptyTable(t *testing.T) {
	t.Parallel()
	var absent *route.Table
	for _, table := range []*route.Table{absent, compile(t)} {
		if room, ok := table.Match("a.test", "/"); ok || room != 0 || table.Split("a.test", "/..") {
			t.Errorf("room %d, %v in an empty table", room, ok)
		}
	}
}

func TestCompileNamesEveryFault(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		entry route.Entry
		want  string // parts of the error, between bars
	}{
		"EmptyHost":         {route.Entry{Host: ""}, `entries[1].host|is empty`},
		"HostWithScheme":    {route.Entry{Host: "http://a.test"}, `entries[1].host|"http://a.test"|"*"`},
		"HostWithPort":      {route.Entry{Host: "b.test:80"}, `entries[1].host|has a port`},
		"AddressWithPort":   {route.Entry{Host: "[::1]:80"}, `entries[1].host|more than an address`},
		"BadAddress":        {route.Entry{Host: "[::x]"}, `entries[1].host|is no host name`},
		"OpenBracket":       {route.Entry{Host: "[::1"}, `entries[1].host|more than an address`},
		"WildcardHost":      {route.Entry{Host: "*.a.test"}, `entries[1].host|"*.a.test"`},
		"HostWithSpace":     {route.Entry{Host: "a test"}, `entries[1].host`},
		"HostWithQuote":     {route.Entry{Host: `a"test`}, `entries[1].host`},
		"HostWithEmptyPart": {route.Entry{Host: "a..test"}, `entries[1].host|empty`},
		"OnlyADot":          {route.Entry{Host: "."}, `entries[1].host`},
		"HostTooLong":       {route.Entry{Host: strings.Repeat("a.", 127) + "test"}, `entries[1].host`},
		"PartTooLong":       {route.Entry{Host: strings.Repeat("a", 64) + ".test"}, `entries[1].host|too long`},
		"PathWithoutSlash":  {route.Entry{Host: "b.test", Path: "shop"}, `entries[1].path|"shop"|does not begin with "/"`},
		"FullURL":           {route.Entry{Host: "b.test", Path: "http://b.test/shop"}, `entries[1].path`},
		"WildcardPath":      {route.Entry{Host: "b.test", Path: "/shop*"}, `entries[1].path|without wildcard`},
		"Query":             {route.Entry{Host: "b.test", Path: "/shop?x"}, `entries[1].path`},
		"EncodedQuery":      {route.Entry{Host: "b.test", Path: "/shop%3fx"}, `entries[1].path`},
		"Fragment":          {route.Entry{Host: "b.test", Path: "/shop#x"}, `entries[1].path`},
		"Params":            {route.Entry{Host: "b.test", Path: "/shop;x"}, `entries[1].path`},
		"EncodedParams":     {route.Entry{Host: "b.test", Path: "/shop%3Bx"}, `entries[1].path`},
		"Backslash":         {route.Entry{Host: "b.test", Path: `/shop\x`}, `entries[1].path`},
		"Control":           {route.Entry{Host: "b.test", Path: "/shop%00"}, `entries[1].path|control`},
		"DEL":               {route.Entry{Host: "b.test", Path: "/shop\x7f"}, `entries[1].path|control`},
		"HiddenDots":        {route.Entry{Host: "b.test", Path: "/%252e%252e/x"}, `entries[1].path|different ways`},
		"Duplicate":         {route.Entry{Host: "A.test.", Path: "/x/../%73hop/", Room: 9}, `entries[1].path|a.test/shop|room 4|room 9`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			good := route.Entry{Host: "a.test", Path: "/shop", Room: 4}
			table, err := route.Compile([]route.Entry{good, c.entry, {Host: "c.test", Path: "bad"}})
			if table != nil || err == nil {
				t.Fatalf("compiled; want an error")
			}
			var faults anteroom.Errors
			if !errors.As(err, &faults) || len(faults) != 2 || faults[0].Code != anteroom.CodeInvalid {
				t.Fatalf("want two faults with code %d, got %v", anteroom.CodeInvalid, err)
			}
			for part := range strings.SplitSeq(c.want, "|") {
				if !strings.Contains(faults[0].Error(), part) {
					t.Errorf("%q does not say %s", faults[0].Error(), part)
				}
			}
		})
	}
}

func TestCompileAccepts(t *testing.T) {
	t.Parallel()
	for _, e := range []route.Entry{
		{Host: "*"},
		{Host: "*", Path: "//"},
		{Host: "localhost", Path: "/a/./b/"},
		{Host: "A.Test.", Path: "/100%"},
		{Host: "my_host-1.test", Path: "/%2A"},
		{Host: "bücher.example", Path: "/straße"},
		{Host: "127.0.0.1", Path: "/.well-known"},
		{Host: "::1", Path: "/a b"},
		{Host: "[::1]", Path: "/x/../y"},
		{Host: strings.Repeat("a", 63) + ".test"},
	} {
		table, err := route.Compile([]route.Entry{e})
		if err != nil {
			t.Errorf("%+v: %v", e, err)
			continue
		}
		if _, ok := table.Match(e.Host, e.Path); !ok {
			t.Errorf("%+v does not cover itself", e)
		}
	}
}
