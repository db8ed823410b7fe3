package proxy

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestStripCookies(t *testing.T) {
	t.Parallel()
	own := ownCookie{prefix: "__anteroom", names: []string{"extra"}}
	for name, c := range map[string]struct{ in, want []string }{
		"None":             {nil, nil},
		"ForeignOnly":      {[]string{"a=1; b=2"}, []string{"a=1; b=2"}},
		"Alone":            {[]string{"__anteroom=x"}, nil},
		"First":            {[]string{"__anteroom=x; a=1"}, []string{"a=1"}},
		"Middle":           {[]string{"a=1; __anteroom_shop=x; b=2"}, []string{"a=1; b=2"}},
		"Last":             {[]string{"a=1; __anteroom=x"}, []string{"a=1"}},
		"Twice":            {[]string{"__anteroom=x; a=1; __anteroom=y"}, []string{"a=1"}},
		"GivenName":        {[]string{"extra=x; a=1"}, []string{"a=1"}},
		"LongerNameStays":  {[]string{"__anteroomy=x; extras=1; x__anteroom=2"}, []string{"__anteroomy=x; extras=1; x__anteroom=2"}},
		"CaseMatters":      {[]string{"__Anteroom=x"}, []string{"__Anteroom=x"}},
		"NoSpace":          {[]string{"a=1;__anteroom=x;b=2"}, []string{"a=1;b=2"}},
		"SpacesAroundName": {[]string{"a=1;  __anteroom =x"}, []string{"a=1"}},
		"ValueWithEquals":  {[]string{"a=b=c==; __anteroom=a=b"}, []string{"a=b=c=="}},
		"MalformedForeign": {[]string{`a="x y, {"z"}; =; ;;b; __anteroom=1; é=ü`}, []string{`a="x y, {"z"}; =; ;;b; é=ü`}},
		"NamelessStays":    {[]string{"__anteroom; a=1"}, []string{"__anteroom; a=1"}},
		"SeveralLines":     {[]string{"a=1", "__anteroom=x", "b=2; __anteroom_q=1"}, []string{"a=1", "b=2"}},
		"OnlySeparators":   {[]string{"; __anteroom=x ;"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := slices.Clone(c.in)
			h := http.Header{"Cookie": c.in}
			if c.in == nil {
				h = http.Header{}
			}
			stripCookies(h, own)
			if !slices.Equal(h["Cookie"], c.want) {
				t.Errorf("%q became %q, want %q", before, h["Cookie"], c.want)
			}
			if !slices.Equal(c.in, before) {
				t.Errorf("the visitor's own lines were changed to %q", c.in)
			}
		})
	}
}

func TestStripCookiesKeepsForeignBytes(t *testing.T) {
	t.Parallel()
	own := ownCookie{prefix: "__anteroom"}
	foreign := rapid.StringMatching(`[a-z"{}=, é\t]{1,12}`)
	rapid.Check(t, func(t *rapid.T) {
		pairs := rapid.SliceOfN(foreign, 0, 6).Draw(t, "foreign")
		pairs = slices.DeleteFunc(pairs, func(s string) bool { return strings.Trim(s, " \t") == "" })
		for i := range pairs {
			pairs[i] = strings.TrimLeft(pairs[i], " \t")
		}
		mixed := slices.Clone(pairs)
		for range rapid.IntRange(1, 3).Draw(t, "ours") {
			mixed = slices.Insert(mixed, rapid.IntRange(0, len(mixed)).Draw(t, "place"), "__anteroom=secret")
		}
		h := http.Header{"Cookie": {strings.Join(mixed, "; ")}}
		stripCookies(h, own)
		if got := h.Get("Cookie"); got != strings.Join(pairs, "; ") {
			t.Fatalf("%q became %q, want %q", mixed, got, strings.Join(pairs, "; "))
		}
	})
}

func FuzzStripCookies(f *testing.F) {
	for _, s := range []string{"a=1; __anteroom=x; b=2", "__anteroom=x", ";;=;__anteroom_x =", "a"} {
		f.Add(s)
	}
	own := ownCookie{prefix: "__anteroom"}
	f.Fuzz(func(t *testing.T, line string) {
		h := http.Header{"Cookie": {line}}
		stripCookies(h, own)
		got := h.Get("Cookie")
		want := slices.DeleteFunc(strings.Split(line, ";"), func(p string) bool { return ownPair(p, own) })
		if strings.Trim(strings.Join(want, ""), " \t") != strings.Trim(strings.ReplaceAll(got, ";", ""), " \t") {
			t.Errorf("%q became %q", line, got)
		}
		for pair := range strings.SplitSeq(got, ";") {
			if ownPair(pair, own) {
				t.Errorf("%q became %q, which still has ours", line, got)
			}
		}
	})
}
