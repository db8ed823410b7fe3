package page

import (
	"strings"

	"github.com/anteroom/anteroom"
)

// locales are the published ones, each of localeLen bytes and a space between.
const (
	locales = "en-US es-ES de-DE fr-FR it-IT ja-JP ko-KR pt-BR zh-CN zh-TW nl-NL pl-PL id-ID " +
		"tr-TR ar-EG ru-RU fa-IR bg-BG hr-HR cs-CZ da-DK fi-FI lt-LT lv-LV ms-MY nb-NO ro-RO " +
		"el-GR he-IL hi-IN hu-HU sr-BA sk-SK sl-SI sv-SE tl-PH th-TH uk-UA vi-VN"
	localeLen = len("en-US")
)

// Languages lists the published locales, anteroom.DefaultLanguage first.
func Languages() []string { return strings.Fields(locales) }

// acceptRangesMax bounds how many entries of an Accept-Language header are read; browsers send
// fewer than ten.
const acceptRangesMax = 32

// MatchLanguage picks the published locale that fits an Accept-Language header best: the highest
// q wins, then the first. It is anteroom.DefaultLanguage when none fits.
func MatchLanguage(acceptLanguage string) string {
	best, bestQ := anteroom.DefaultLanguage, 0
	for range acceptRangesMax {
		entry, rest, more := strings.Cut(acceptLanguage, ",")
		tag, params, _ := strings.Cut(entry, ";")
		if q := quality(params); q > bestQ {
			if l := localeOf(strings.TrimSpace(tag)); l != "" {
				best, bestQ = l, q
			}
		}
		if !more {
			break
		}
		acceptLanguage = rest
	}
	return best
}

// quality reads the q parameter in thousandths; without one it is 1000, and 0 when it is broken.
func quality(params string) int {
	params = strings.TrimSpace(params)
	if params == "" {
		return 1000
	}
	v, ok := strings.CutPrefix(params, "q=")
	if !ok {
		if v, ok = strings.CutPrefix(params, "Q="); !ok {
			return 0
		}
	}
	whole, fraction, _ := strings.Cut(v, ".")
	if len(fraction) > 3 || (whole != "0" && whole != "1") {
		return 0
	}
	q, unit := int(whole[0]-'0')*1000, 100
	for i := range len(fraction) {
		if fraction[i] < '0' || fraction[i] > '9' {
			return 0
		}
		q += int(fraction[i]-'0') * unit
		unit /= 10
	}
	return min(q, 1000)
}

// localeOf is the published locale for one language range, or "".
func localeOf(tag string) string {
	if tag == "*" {
		return anteroom.DefaultLanguage
	}
	primary, rest, _ := strings.Cut(tag, "-")
	if len(primary) != 2 && len(primary) != 3 {
		return ""
	}
	var folded [3]byte
	for i := range len(primary) {
		folded[i] = primary[i] | 0x20
	}
	language := knownName(string(folded[:len(primary)]))
	if language == "zh" && isTraditional(rest) {
		return "zh-TW"
	}
	for i := 0; len(language) == 2 && i < len(locales); i += localeLen + 1 {
		if locales[i] == language[0] && locales[i+1] == language[1] {
			return locales[i : i+localeLen]
		}
	}
	return ""
}

// knownName maps the other names of a language, and languages whose readers read a published one
// with ease, to the name in locales.
func knownName(language string) string {
	switch language {
	case "no", "nn":
		return "nb"
	case "iw":
		return "he"
	case "in":
		return "id"
	case "fil":
		return "tl"
	case "bs", "sh":
		return "hr"
	case "yue", "cmn":
		return "zh"
	default:
		return language
	}
}

// isTraditional tells from the rest of a Chinese tag whether it is written in traditional
// characters: the script says so, or without one the region.
func isTraditional(rest string) bool {
	for part := range strings.SplitSeq(rest, "-") {
		switch {
		case strings.EqualFold(part, "Hans"):
			return false
		case strings.EqualFold(part, "Hant"), strings.EqualFold(part, "TW"),
			strings.EqualFold(part, "HK"), strings.EqualFold(part, "MO"):
			return true
		}
	}
	return false
}
