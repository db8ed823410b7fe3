package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
)

// verifyDraw runs the command and gives the exit code and what it printed.
func verifyDraw(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	code = run(t.Context(), append([]string{"verify-draw"}, args...), console{&o, &e})
	return code, o.String(), e.String()
}

func drawFile(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func gzipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestVerifyDraw(t *testing.T) {
	t.Parallel()
	packed := filepath.Join(t.TempDir(), "record") // the name says nothing, the first bytes do
	if err := os.WriteFile(packed, []byte(gzipped(t, drawFile(t, "draw-random.json"))), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		args []string
		want []string
	}{
		{"Shuffle", []string{"testdata/draw-shuffle.json"}, []string{
			`draw 12 of room "spring sale", method "shuffle"`, "commitment ok: 07fe345b1c8f", "sealed list ok: 8 tickets, root 03af2999",
			"8 places ok", `from "round 4711 of the city beacon"`, "Compare the commitment",
		}},
		{"Random", []string{packed}, []string{
			`method "random"`, "sealed list ok: 6 tickets", "9 places ok", "without external randomness",
		}},
		{"Sealed", []string{packed, "--ticket", "E66A5FE7D65E89F69E10C8A0D6A3EA48"}, []string{"ticket e66a5fe7d65e89f69e10c8a0d6a3ea48: place 8 of 9, sealed"}},
		{"Late", []string{packed, "--ticket", "449b788aabc26c3bbee4eef234179540"}, []string{"place 2 of 9, joined after the seal"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			code, out, errs := verifyDraw(t, c.args...)
			if code != exitOK || errs != "" {
				t.Errorf("exit code %d: %s", code, errs)
			}
			for _, want := range c.want {
				if !strings.Contains(out, want) {
					t.Errorf("the output lacks %q: %s", want, out)
				}
			}
		})
	}
}

// TestVerifyDrawRefuses: a wrong record or a wrong command line ends with exit code 2 and names the thing
// and the remedy; what holds all the same is said to hold.
func TestVerifyDrawRefuses(t *testing.T) {
	t.Parallel()
	good := drawFile(t, "draw-shuffle.json")
	for _, c := range []struct {
		name, text string
		args       []string
		out, errs  []string
	}{
		{"Commitment", strings.Replace(good, `"number":12`, `"number":13`, 1), nil, []string{"sealed list ok", "8 places ok"}, []string{"commitment: ", "void"}},
		{"List", strings.Replace(good, `"count":8`, `"count":9`, 1), nil, []string{"commitment ok", "8 places ok"}, []string{"seal.count: is 9"}},
		{"Places", strings.Replace(good, `{"place":2`, `{"place":1`, 1), nil, []string{"commitment ok", "sealed list ok"}, []string{"tickets[1].place: "}},
		{"Version", strings.Replace(good, `"version":1`, `"version":2`, 1), nil, []string{"commitment ok"}, []string{"version: is 2", "release"}},
		{"ControlBytes", strings.Replace(good, `"spring sale"`, `"\u001b[2J"`, 1), nil, []string{`"\x1b[2J"`}, []string{"commitment"}},
		{"Empty", "", nil, nil, []string{"record.json", "EOF"}},
		{"NoJSON", "hello", nil, nil, []string{"record.json", "JSON"}},
		{"CutOff", good[:len(good)/2], nil, nil, []string{"record.json", "whole record"}},
		{"TwoRecords", good + good, nil, nil, []string{"record.json", "follows"}},
		{"LongValue", `{"room":"` + strings.Repeat("x", drawValueBytesMax<<1) + `"}`, nil, nil, []string{"record.json", "a value has more than"}},
		{"LongSpace", strings.Repeat(" ", drawValueBytesMax<<1) + good, nil, nil, []string{"record.json", "a value has more than"}},
		{"BrokenGzip", "\x1f\x8bxx", nil, nil, []string{"record.json", "gzip"}},
		{"CutOffGzip", gzipped(t, good)[:200], nil, nil, []string{"record.json", "unexpected EOF"}},
		{"TicketNoID", good, []string{"--ticket", "me"}, nil, []string{"--ticket", `"me"`, "32 hexadecimal"}},
		{"TicketUnknown", good, []string{"--ticket", strings.Repeat("0", 32)}, []string{"8 places ok"}, []string{"--ticket", strings.Repeat("0", 32), "in line at the seal"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "record.json")
			if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			code, out, errs := verifyDraw(t, append(c.args, file)...)
			if code != exitUsage {
				t.Errorf("exit code %d, want %d", code, exitUsage)
			}
			for _, want := range c.out {
				if !strings.Contains(out, want) {
					t.Errorf("the output lacks %q: %s", want, out)
				}
			}
			for _, want := range c.errs {
				if !strings.Contains(errs, want) {
					t.Errorf("the message lacks %q: %s", want, errs)
				}
			}
			if strings.Contains(out, "true to itself") && c.name != "TicketUnknown" {
				t.Errorf("a wrong record passes: %s", out)
			}
		})
	}
}

func TestVerifyDrawFileNames(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{}, {"testdata/none.json"}, {"testdata"}} {
		code, out, errs := verifyDraw(t, args...)
		if code != exitUsage || out != "" || !strings.Contains(errs, "; ") {
			t.Errorf("%q: exit code %d, %s%s", args, code, out, errs)
		}
	}
}

// TestVerifyDrawBrokenDisk: when reading fails the record is not to blame.
func TestVerifyDrawBrokenDisk(t *testing.T) {
	t.Parallel()
	broken := errors.New("the disk is broken")
	good := drawFile(t, "draw-shuffle.json")
	for _, text := range []string{"", good[:500], good, gzipped(t, good)[:200]} {
		_, err := readDraw("record.json", io.MultiReader(strings.NewReader(text), iotest.ErrReader(broken)))
		if !errors.Is(err, broken) || exitCode(err) != exitFailure || !strings.Contains(err.Error(), "record.json") {
			t.Errorf("after %d bytes: error %v, exit code %d", len(text), err, exitCode(err))
		}
	}
}

// TestVerifyDrawBytes: a record has a largest size, whatever it unpacks from.
func TestVerifyDrawBytes(t *testing.T) {
	t.Parallel()
	bounds := &drawBounds{from: strings.NewReader("x"), offset: func() int64 { return drawRecordBytesMax }, read: drawRecordBytesMax + 1}
	if _, err := bounds.Read(make([]byte, 1)); err == nil || !strings.Contains(err.Error(), "bytes") {
		t.Errorf("error %v", err)
	}
}
