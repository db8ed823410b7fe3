package page

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

//go:embed locale/*.json
var localeFiles embed.FS

// locale is what the default page says in one language. {n}, {h}, {m} and {t} stand for a number of
// minutes, hours and minutes, and a wait. Texts are worded so that no number needs a plural form.
type locale struct {
	// Dir is ltr or rtl.
	Dir string `json:"dir"`
	// Group parts the digits of numbers from 10,000 up; Lakh groups by two above the first three.
	Group string `json:"group"`
	Lakh  bool   `json:"lakh"`
	// Digits are the ten digits of the language; empty for 0 to 9.
	Digits string `json:"digits"`

	// A heading and an explanation for each state.
	Line     string `json:"line"`
	Draw     string `json:"draw"`
	All      string `json:"all"`
	No       string `json:"no"`
	Turn     string `json:"turn"`
	NextLine string `json:"nextLine"`
	NextDraw string `json:"nextDraw"`
	NextAll  string `json:"nextAll"`
	NextNo   string `json:"nextNo"`
	NextTurn string `json:"nextTurn"`

	// Labels.
	Position string `json:"position"`
	Wait     string `json:"wait"`
	Waiting  string `json:"waiting"`
	Updated  string `json:"updated"`
	Ticket   string `json:"ticket"`
	Next     string `json:"next"`
	Progress string `json:"progress"`

	// The wait: About takes {t}, Min takes {n}, Hour takes {h} and {m}.
	About   string `json:"about"`
	Min     string `json:"min"`
	Hour    string `json:"hour"`
	Unknown string `json:"unknown"`
	More    string `json:"more"`
	Longer  string `json:"longer"`
	// Why the wait is longer than promised, when visitors do not stay longer.
	LongerAhead    string `json:"longerAhead"`
	LongerSettings string `json:"longerSettings"`

	Offline string `json:"offline"`
	Cookies string `json:"cookies"`
	Blocked string `json:"blocked"`
	Check   string `json:"check"`

	// The draw: a heading, an explanation, and labels.
	Lot       string `json:"lot"`
	LotText   string `json:"lotText"`
	LotTicket string `json:"lotTicket"`
	LotFixed  string `json:"lotFixed"`
	LotSealed string `json:"lotSealed"`
	LotRecord string `json:"lotRecord"`
}

// readLocale reads one language strictly: a key that is unknown is a mistake in the file.
func readLocale(language string) (*locale, error) {
	b, err := localeFiles.ReadFile("locale/" + language + ".json")
	if err != nil {
		return nil, fmt.Errorf("texts of %s: %w", language, err)
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	l := new(locale)
	if err := dec.Decode(l); err != nil {
		return nil, fmt.Errorf("texts of %s: %w", language, err)
	}
	return l, nil
}

// ungroupedMax is the largest number written without grouping, which suits every language.
const ungroupedMax = 9999

// appendNumber appends n in the language's digits and grouping. The page's script does the same.
func (l *locale) appendNumber(dst []byte, n int) []byte {
	if n <= ungroupedMax {
		return l.appendDigits(dst, n)
	}
	var buf [20]byte
	s := strconv.AppendInt(buf[:0], int64(n), 10)
	for i := range s {
		if left := len(s) - i; i > 0 && l.groupAt(left) {
			dst = append(dst, l.Group...)
		}
		dst = l.appendDigit(dst, s[i])
	}
	return dst
}

// groupAt tells whether a group of digits begins with left digits to go.
func (l *locale) groupAt(left int) bool {
	if l.Lakh {
		return left >= 3 && left%2 == 1
	}
	return left%3 == 0
}

func (l *locale) appendDigits(dst []byte, n int) []byte {
	if l.Digits == "" {
		return strconv.AppendInt(dst, int64(n), 10)
	}
	var buf [20]byte
	for _, c := range strconv.AppendInt(buf[:0], int64(n), 10) {
		dst = l.appendDigit(dst, c)
	}
	return dst
}

// appendDigit appends c in the language's digits when it is one. Both sets of digits in use beside
// 0 to 9 take two bytes each.
func (l *locale) appendDigit(dst []byte, c byte) []byte {
	if l.Digits == "" || c < '0' || c > '9' {
		return append(dst, c)
	}
	i := int(c-'0') * 2
	return append(dst, l.Digits[i:i+2]...)
}

// appendClock appends the time of day for pages whose script does not show the visitor's own.
func (l *locale) appendClock(dst []byte, t time.Time) []byte {
	at := len(dst)
	dst = append(appendClock(dst, t.UTC()), " UTC"...)
	if l.Digits == "" {
		return dst
	}
	var own [2 * len("15:04:05 UTC")]byte
	b := own[:0]
	for _, c := range dst[at:] {
		b = l.appendDigit(b, c)
	}
	return append(dst[:at], b...)
}

// appendWait appends the estimate as the page shows it.
func (l *locale) appendWait(dst []byte, f *facts) []byte {
	if f.full {
		return append(dst, l.More...)
	}
	if !f.known {
		return append(dst, l.Unknown...)
	}
	low, high := max(1, minutes(f.low)), max(1, minutes(f.high))
	if low >= high {
		before, after, _ := strings.Cut(l.About, "{t}")
		dst = append(dst, before...)
		dst = l.appendSpan(dst, max(1, minutes(f.mid)))
		return append(dst, after...)
	}
	if high < 60 {
		before, after, _ := strings.Cut(l.Min, "{n}")
		dst = append(dst, before...)
		dst = l.appendDigits(dst, low)
		dst = append(dst, "–"...)
		dst = l.appendDigits(dst, high)
		return append(dst, after...)
	}
	dst = l.appendSpan(dst, low)
	dst = append(dst, " – "...)
	return l.appendSpan(dst, high)
}

// appendSpan appends a number of minutes as minutes, or from an hour up as hours and minutes.
func (l *locale) appendSpan(dst []byte, m int) []byte {
	if m < 60 {
		before, after, _ := strings.Cut(l.Min, "{n}")
		dst = append(dst, before...)
		dst = l.appendDigits(dst, m)
		return append(dst, after...)
	}
	before, rest, _ := strings.Cut(l.Hour, "{h}")
	between, after, _ := strings.Cut(rest, "{m}")
	dst = append(dst, before...)
	dst = l.appendDigits(dst, m/60)
	dst = append(dst, between...)
	dst = l.appendDigits(dst, m%60)
	return append(dst, after...)
}
