package waitingroom_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/anteroom/anteroom/internal/waitingroom"
)

func TestReturnPath(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ path, query, want string }{
		{"/", "", "/"},
		{"/a", "b=c", "/a?b=c"},
		{"/a%2Fb/%C3%A4", "q=%20&r[]=1", "/a%2Fb/%C3%A4?q=%20&r[]=1"},
		{"/a//b", "", "/a//b"},
		{"/a/../b", "", "/a/../b"},
		{"/a?", "", "/a?"},
		{"/ä b", "x=ö", "/%C3%A4%20b?x=%C3%B6"},
		{`/a"b'c<d>`, "", "/a%22b%27c%3Cd%3E"},
		{"/a\r\nSet-Cookie: x=y", "", "/a%0D%0ASet-Cookie:%20x=y"},
		{"/a", "b\r\nLocation: http://evil.test", "/a?b%0D%0ALocation:%20http://evil.test"},
		{"/a#b", "c#d", "/a%23b?c%23d"},
		{"/\t/evil.test", "", "/%09/evil.test"},
		{"/%09/evil.test", "", "/%09/evil.test"},
		{"/x", "next=//evil.test", "/x?next=//evil.test"},

		{"", "", "/"},
		{"*", "", "/"},
		{"a/b", "", "/"},
		{"//evil.test", "", "/"},
		{"//evil.test/%2f..", "", "/"},
		{`/\evil.test`, "", "/"},
		{`\\evil.test`, "", "/"},
		{"/.//evil.test", "", "/"},
		{"/x/..//evil.test", "", "/"},
		{"/%2e//evil.test", "", "/"},
		{"/%2E%2e//evil.test", "", "/"},
		{`/a\..\\evil.test`, "", "/"},
		{"javascript:alert(1)", "", "/"},
		{"https://evil.test/", "", "/"},
		{"https:evil.test", "", "/"},
		{"data:text/html,x", "", "/"},
		{"/" + strings.Repeat("a", 5000), "", "/"},
		{"/", strings.Repeat("a", 5000), "/"},
	} {
		if got := waitingroom.ReturnPath(test.path, test.query); got != test.want {
			t.Errorf("%q, %q leads back to %q, want %q", test.path, test.query, got, test.want)
		}
	}
}

func FuzzReturnPath(f *testing.F) {
	for _, seed := range []string{
		"/a?b", "javascript:alert(1)", "//evil.test", "https:evil.test", `\\evil.test`, "/%09/evil.test", "data:x", "/\r\nX: y",
		"/.//evil", "/\t//x", "/%5cevil", "/\x00", "/a/%2e%2e//b", "/;//x", "/\u2028/",
	} {
		f.Add(seed, "")
		f.Add("/", seed)
	}
	base, err := url.Parse("https://shop.test:8443/deep/page")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, path, query string) {
		got := waitingroom.ReturnPath(path, query)
		if got[0] != '/' || strings.ContainsAny(got, "\\\"'<>` \r\n\t\x00") {
			t.Fatalf("%q, %q: %q", path, query, got)
		}
		for i := range len(got) {
			if got[i] <= ' ' || got[i] >= 0x7f {
				t.Fatalf("%q, %q: %q", path, query, got)
			}
		}
		if strings.Contains(got, "%") {
			return // url.Parse refuses lone percent signs, which browsers take
		}
		at, err := base.Parse(got)
		if err != nil || at.Host != "shop.test:8443" || at.Scheme != "https" || strings.HasPrefix(at.EscapedPath(), "//") {
			t.Fatalf("%q, %q: %q leads to %v, %v", path, query, got, at, err)
		}
	})
}
