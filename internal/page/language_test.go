package page_test

import (
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/page"
)

func TestLanguages(t *testing.T) {
	t.Parallel()
	all := page.Languages()
	if len(all) != 39 || all[0] != anteroom.DefaultLanguage {
		t.Errorf("%d languages, the first is %s", len(all), all[0])
	}
	if sorted := slices.Compact(slices.Sorted(slices.Values(all))); len(sorted) != len(all) {
		t.Error("a language is listed twice")
	}
}

func TestMatchLanguage(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]string{
		"":                                      "en-US",
		"de":                                    "de-DE",
		"DE-at":                                 "de-DE",
		"fr-CA,fr;q=0.9,en;q=0.8":               "fr-FR",
		"en;q=0.5, ja;q=0.9":                    "ja-JP",
		"en;q=0.9,ja;q=0.9":                     "en-US",
		"xx, yy;q=0.9, sv;q=0.1":                "sv-SE",
		"de;q=0, nl;q=0.001":                    "nl-NL",
		"de;q=1.000":                            "de-DE",
		"de;q=2, it;q=0.1":                      "it-IT",
		"de;q=abc, it;q=0.1":                    "it-IT",
		"de;q=0.1234, it;q=0.1":                 "it-IT",
		"de;q=-1":                               "en-US",
		"*":                                     "en-US",
		"*;q=0.5, ko;q=0.4":                     "en-US",
		"ko, *;q=0.5":                           "ko-KR",
		"zh":                                    "zh-CN",
		"zh-TW":                                 "zh-TW",
		"zh-Hant":                               "zh-TW",
		"zh-Hant-HK":                            "zh-TW",
		"zh-hk":                                 "zh-TW",
		"zh-Hans-TW":                            "zh-CN",
		"zh-SG":                                 "zh-CN",
		"pt-PT":                                 "pt-BR",
		"no":                                    "nb-NO",
		"nn-NO":                                 "nb-NO",
		"iw":                                    "he-IL",
		"in":                                    "id-ID",
		"fil-PH":                                "tl-PH",
		"sr-Latn-RS":                            "sr-BA",
		"bs":                                    "hr-HR",
		"deu":                                   "en-US",
		"d":                                     "en-US",
		",,;;=,":                                "en-US",
		" uk ; q=0.7 ,\tvi;q=0.8":               "vi-VN",
		strings.Repeat("xx,", 40) + "de":        "en-US",
		"de" + strings.Repeat(",xx;q=0.1", 1e4): "de-DE",
	} {
		if got := page.MatchLanguage(header); got != want {
			t.Errorf("MatchLanguage(%.40q) is %s, want %s", header, got, want)
		}
	}
	for _, l := range page.Languages() {
		if got := page.MatchLanguage(l + ",en;q=0.9"); got != l {
			t.Errorf("%s is answered with %s", l, got)
		}
	}
}

func FuzzMatchLanguage(f *testing.F) {
	for _, s := range []string{"", "de", "fr-CA,fr;q=0.9,en;q=0.8", "*;q=0", "zh-Hant-HK", "a;q=0.;q=,,\x00-", "DE;Q=1"} {
		f.Add(s)
	}
	known := page.Languages()
	f.Fuzz(func(t *testing.T, header string) {
		got := page.MatchLanguage(header)
		if !slices.Contains(known, got) {
			t.Errorf("%q is not a published locale", got)
		}
		if len(header) < 20 && page.MatchLanguage(header+",xx;q=0.5") != got {
			t.Errorf("an unknown language at the end changes %q", header)
		}
	})
}

// texts reads a language's file as it stands in the repository.
func texts(t *testing.T, language string) map[string]any {
	t.Helper()
	b, err := os.ReadFile("locale/" + language + ".json")
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatalf("%s: %v", language, err)
	}
	return m
}

// formats are texts that may be alike in two languages.
func formats() []string { return []string{"dir", "group", "digits", "lakh", "min", "hour"} }

func TestLocales(t *testing.T) {
	t.Parallel()
	english := texts(t, anteroom.DefaultLanguage)
	for _, language := range page.Languages() {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			own := texts(t, language)
			for key, en := range english {
				text, ok := own[key].(string)
				if !ok || text == "" {
					t.Errorf("%s is missing", key)
					continue
				}
				if language != anteroom.DefaultLanguage && !slices.Contains(formats(), key) && text == en {
					t.Errorf("%s is English: %q", key, text)
				}
				checkText(t, key, text)
			}
			if d, ok := own["digits"].(string); ok && (utf8.RuneCountInString(d) != 10 || len(d) != 20) {
				t.Errorf("digits are %q, want ten of two bytes each", d)
			}
			if want := slices.Contains([]string{"ar-EG", "fa-IR", "he-IL"}, language); want != (own["dir"] == "rtl") {
				t.Errorf("dir is %v", own["dir"])
			}
		})
	}
}

func checkText(t *testing.T, key, text string) {
	t.Helper()
	most := 34 // labels
	switch {
	case strings.HasPrefix(key, "next") && key != "next", key == "blocked":
		most = 190
	case key == "lotText":
		most = 240
	case slices.Contains([]string{"longer", "longerAhead", "longerSettings", "offline", "cookies"}, key):
		most = 100
	case slices.Contains([]string{"line", "draw", "all", "no", "turn", "more", "lot"}, key):
		most = 40
	}
	if n := utf8.RuneCountInString(text); n > most {
		t.Errorf("%s has %d characters, more than %d: %q", key, n, most, text)
	}
	if strings.ContainsAny(text, `<>&"'`) || strings.TrimSpace(strings.Trim(text, "\u00a0\u202f")) != strings.Trim(text, "\u00a0\u202f") {
		t.Errorf("%s would need escaping or trimming: %q", key, text)
	}
	var want []string
	switch key {
	case "about":
		want = []string{"{t}"}
	case "min":
		want = []string{"{n}"}
	case "hour":
		want = []string{"{h}", "{m}"}
	}
	for _, w := range want {
		if strings.Count(text, w) != 1 {
			t.Errorf("%s needs %s once: %q", key, w, text)
		}
	}
	if strings.Count(text, "{") != len(want) {
		t.Errorf("%s has a mark that nothing replaces: %q", key, text)
	}
}

// TestNoLanguageIsACopy catches a file that was started by copying another.
func TestNoLanguageIsACopy(t *testing.T) {
	t.Parallel()
	all, read := page.Languages(), map[string]map[string]any{}
	for _, l := range all {
		read[l] = texts(t, l)
	}
	for i, a := range all {
		for _, b := range all[:i] {
			same := 0
			for key, text := range read[a] {
				if !slices.Contains(formats(), key) && reflect.DeepEqual(text, read[b][key]) {
					same++
				}
			}
			if same > 3 {
				t.Errorf("%s and %s share %d texts", a, b, same)
			}
		}
	}
}
