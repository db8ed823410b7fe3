package waitingroom

import (
	"net/http"
	"strconv"
	"time"
)

// dateLine is the Date of all answers of one second.
type dateLine struct {
	second int64
	text   string
}

// dateAt is the Date header's value.
func (l *Lane) dateAt(now time.Time) string {
	second := now.Unix()
	d := l.date.Load()
	if d == nil || d.second != second {
		d = &dateLine{second, now.UTC().Format(http.TimeFormat)}
		l.date.Store(d)
	}
	return d.text
}

// appendAnswer appends an answer of the gate as it goes over the wire, the same as the server would
// write it.
func appendAnswer(dst []byte, a *Answer, date string, head, last bool) []byte {
	dst = append(dst, "HTTP/1.1 "...)
	dst = strconv.AppendInt(dst, int64(a.Status), 10)
	dst = append(append(dst, ' '), statusText(a.Status)...)
	for _, h := range a.Headers {
		dst = appendField(dst, h.Name, h.Value)
	}
	if len(a.Cookie) > 0 {
		dst = append(append(dst, "\r\nSet-Cookie: "...), a.Cookie...)
	}
	dst = appendField(dst, "Date", date)
	if !head {
		dst = append(dst, "\r\nContent-Length: "...)
		dst = strconv.AppendInt(dst, int64(len(a.Body)), 10)
	}
	if last {
		dst = append(dst, "\r\nConnection: close"...)
	}
	dst = append(dst, "\r\n\r\n"...)
	return append(dst, a.Body...)
}

func appendField(dst []byte, name, value string) []byte {
	dst = append(append(dst, "\r\n"...), name...)
	return append(append(dst, ": "...), value...)
}

func statusText(status int) string {
	if text := http.StatusText(status); text != "" {
		return text
	}
	return "status code " + strconv.Itoa(status)
}
