package waitingroom

import "strings"

// acceptBytesMax bounds the work on one Accept header; real ones have less than 300 bytes.
const acceptBytesMax = 2048

// accept is what an Accept header says, with qualities in thousandths; -1 means not named.
type accept struct {
	html   int // text/html, application/xhtml+xml or text/*
	json   int // application/json or a type that ends in +json
	other  int // the best of the rest
	any    int // */*
	events bool
}

// readAccept reads an Accept header. It never fails: what it does not understand it skips.
func readAccept(header string) accept {
	a := accept{html: -1, json: -1, other: -1, any: -1}
	if len(header) > acceptBytesMax {
		header = header[:acceptBytesMax]
	}
	for part := range strings.SplitSeq(header, ",") {
		media, parameters, _ := strings.Cut(part, ";")
		media = strings.TrimSpace(media)
		q := quality(parameters)
		switch {
		case media == "":
		case media == "*/*" || media == "*":
			a.any = max(a.any, q)
		case isHTML(media):
			a.html = max(a.html, q)
		case isJSON(media):
			a.json = max(a.json, q)
		default:
			a.other = max(a.other, q)
			a.events = a.events || strings.EqualFold(media, "text/event-stream")
		}
	}
	return a
}

// prefersJSON tells that JSON is named and nothing is liked better, ties included: libraries send
// "application/json, text/plain, */*".
func (a accept) prefersJSON() bool {
	return a.json > 0 && a.json >= a.html && a.json >= a.any
}

// takesPage tells that a page is what the client expects: it names HTML, or nothing in particular.
// An image's "image/webp,*/*" names something else.
func (a accept) takesPage() bool {
	if a.html >= 0 {
		return a.html > 0
	}
	if named := max(a.json, a.other); named >= 0 {
		return a.any > named
	}
	return a.any != 0
}

func isHTML(media string) bool {
	return strings.EqualFold(media, "text/html") || strings.EqualFold(media, "application/xhtml+xml") || media == "text/*"
}

func isJSON(media string) bool {
	const suffix = "+json"
	if strings.EqualFold(media, "application/json") {
		return true
	}
	n := len(media) - len(suffix)
	return n > 0 && strings.EqualFold(media[n:], suffix)
}

// quality finds the q of a media range in thousandths: 1000 when it is missing or unreadable.
func quality(parameters string) int {
	for p := range strings.SplitSeq(parameters, ";") {
		p = strings.TrimSpace(p)
		if len(p) > 2 && (p[0] == 'q' || p[0] == 'Q') && p[1] == '=' {
			return thousandths(p[2:])
		}
	}
	return 1000
}

// thousandths reads "0.5", "1", "1.000"; anything else counts as 1.
func thousandths(s string) int {
	if s == "" || s[0] != '0' {
		return 1000
	}
	if len(s) > 1 && s[1] != '.' {
		return 1000
	}
	q, scale := 0, 100
	for i := 2; i < len(s) && i < 5; i++ {
		if s[i] < '0' || s[i] > '9' {
			break
		}
		q += int(s[i]-'0') * scale
		scale /= 10
	}
	return q
}
