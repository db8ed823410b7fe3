package waitingroom_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/anteroom/anteroom/internal/waitingroom"
)

func updates() bool {
	f := flag.Lookup("update")
	return f != nil && f.Value.String() == "true"
}

func TestMain(m *testing.M) {
	flag.Bool("update", false, "write the golden files anew")
	flag.Parse()
	os.Exit(m.Run())
}

// TestGoldenAnswers holds whole answers: every header, the cookie, and the beginning of the body.
func TestGoldenAnswers(t *testing.T) {
	t.Parallel()
	scenes := []string{"Open", "Full", "Queued", "Turn", "Refused", "Absent"}
	for kind := waitingroom.Navigation; kind <= waitingroom.WaitEndpoint; kind++ {
		t.Run(kind.String(), func(t *testing.T) {
			t.Parallel()
			var b strings.Builder
			for _, name := range scenes {
				r := request(as(kind))
				if name == "Queued" || name == "Turn" {
					holds(t, place())(r)
				}
				a := decide(t, gate(t, &rooms{answer: scene(name)}, config()), r)
				fmt.Fprintf(&b, "%s\n----\n%s\n", name, render(a))
			}
			file := filepath.Join("testdata", "answers", kind.String()+".txt")
			if updates() {
				if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if b.String() != string(want) {
				t.Errorf("answers differ from %s; with -update it is written anew. Now:\n%s", file, b.String())
			}
		})
	}
}

// render is an answer as text; what is sealed and what belongs to the page is left out.
func render(a *waitingroom.Answer) string {
	var b strings.Builder
	switch a.Action {
	case waitingroom.Pass:
		b.WriteString("pass\n")
	case waitingroom.Forward:
		b.WriteString("forward\n")
	case waitingroom.Hold:
		b.WriteString("hold\n")
	case waitingroom.Respond:
		fmt.Fprintf(&b, "%d\n", a.Status)
	}
	for _, h := range a.Headers {
		v := h.Value
		if h.Name == "Content-Security-Policy" {
			v = "(of the page)"
		}
		fmt.Fprintf(&b, "%s: %s\n", h.Name, v)
	}
	if len(a.Cookie) > 0 {
		fmt.Fprintf(&b, "Set-Cookie: %s\n", regexp.MustCompile(`=[\w-]{103};`).ReplaceAllString(string(a.Cookie), "=(sealed);"))
	}
	body, _, cut := strings.Cut(string(a.Body), `"waitTimeKnown"`)
	switch {
	case cut:
		body += "…"
	case strings.HasPrefix(body, "<"):
		body = "(page)"
	}
	if body != "" {
		b.WriteString("\n" + strings.TrimSpace(body) + "\n")
	}
	return b.String()
}
