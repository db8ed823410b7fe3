package main

import (
	"bytes"
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBadInput: each wrong command line ends with exit code 2 and a text that names the thing and the
// remedy; nothing is left behind.
func TestBadInput(t *testing.T) {
	t.Parallel()
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = busy.Close() })
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	notADir := file("plain-file", "x")
	cert := file("cert.pem", "not a certificate")
	serve := func(args ...string) []string {
		return append([]string{"serve", "--admin", "127.0.0.1:0", "--listen", "127.0.0.1:0", "--data", filepath.Join(dir, "data")}, args...)
	}
	site := "http://127.0.0.1:9"
	for _, c := range []struct {
		name string
		args []string
		want []string
	}{
		{"UnknownFlag", []string{"serve", "--origon", site}, []string{"--origon", "--origin", "--help"}},
		{"UnknownCommand", []string{"sevre"}, []string{"sevre", "--help"}},
		{"NoOrigin", serve(), []string{"--origin http://", "--demo"}},
		{"OriginWithoutScheme", serve("--origin", "127.0.0.1:3000"), []string{"127.0.0.1:3000", "http://127.0.0.1:3000"}},
		{"OriginWithPath", serve("--origin", site+"/shop"), []string{"/shop"}},
		{"OriginAndDemo", serve("--origin", site, "--demo"), []string{"--demo", "--origin"}},
		{"LimitZero", serve("--origin", site, "--total-active-users", "0"), []string{"--total-active-users", "1"}},
		{"LimitNegative", serve("--origin", site, "--total-active-users=-5"), []string{"--total-active-users", "-5"}},
		{"RateAboveLimit", serve("--origin", site, "--total-active-users", "10", "--new-users-per-minute", "11"), []string{"--new-users-per-minute", "11", "[1, total_active_users]"}},
		{"RateWithoutLimit", serve("--origin", site, "--new-users-per-minute", "11"), []string{"--total-active-users"}},
		{"SessionWithoutLimit", serve("--origin", site, "--session-duration", "5m"), []string{"--total-active-users"}},
		{"QuickRoomAndDemo", serve("--demo", "--total-active-users", "5"), []string{"--demo"}},
		{"LimitNoNumber", serve("--origin", site, "--total-active-users", "many"), []string{"--total-active-users", "many"}},
		{"SessionTooShort", serve("--origin", site, "--total-active-users", "10", "--session-duration", "10ms"), []string{"--session-duration", "1s"}},
		{"SessionZero", serve("--origin", site, "--total-active-users", "10", "--session-duration", "0s"), []string{"--session-duration", "1s"}},
		{"SessionNoDuration", serve("--origin", site, "--total-active-users", "10", "--session-duration", "5"), []string{"--session-duration", "5"}},
		{"UnknownMethod", serve("--origin", site, "--total-active-users", "10", "--queueing-method", "lifo"), []string{"--queueing-method", "lifo", "fifo"}},
		{"TrustedProxyNoAddress", serve("--origin", site, "--trusted-proxy", "my-proxy"), []string{"--trusted-proxy", "my-proxy", "10.0.0.0/8"}},
		{"PortInUse", []string{"serve", "--origin", site, "--admin", "127.0.0.1:0", "--listen", busy.Addr().String(), "--data", filepath.Join(dir, "data")}, []string{busy.Addr().String(), "--listen", "in use"}},
		{"AdminPortInUse", []string{"serve", "--origin", site, "--listen", "127.0.0.1:0", "--admin", busy.Addr().String(), "--data", filepath.Join(dir, "data")}, []string{busy.Addr().String(), "--admin"}},
		{"AddressNoPort", []string{"serve", "--origin", site, "--admin", "127.0.0.1:0", "--listen", "localhost", "--data", filepath.Join(dir, "data")}, []string{"localhost", "--listen"}},
		{"DataIsAFile", []string{"serve", "--origin", site, "--admin", "127.0.0.1:0", "--listen", "127.0.0.1:0", "--data", notADir}, []string{notADir}},
		{"CertWithoutKey", serve("--origin", site, "--tls-cert", cert), []string{"--tls-cert", "--tls-key"}},
		{"CertNoPEM", serve("--origin", site, "--tls-cert", cert, "--tls-key", cert), []string{cert, "PEM"}},
		{"LogLevel", serve("--origin", site, "--log-level", "loud"), []string{"--log-level", "loud", "debug"}},
		{"ApplyNoFile", []string{"apply"}, []string{"--file"}},
		{"ApplyMissingFile", []string{"apply", "-f", filepath.Join(dir, "none.yaml")}, []string{"none.yaml", "-f"}},
		{"CheckBrokenYAML", []string{"check", "-f", file("broken.yaml", "waiting_rooms: [")}, []string{"broken.yaml"}},
		{"CheckUnknownField", []string{"check", "-f", file("field.yaml", "waiting_rooms:\n  - name: a\n    host: a.test\n    total_active_user: 5\n    new_users_per_minute: 5\n")}, []string{"field.yaml:4", "total_active_user"}},
		{"CheckBrokenTemplate", []string{"check", "-f", file("page.yaml", "waiting_rooms:\n  - name: a\n    host: a.test\n    total_active_users: 5\n    new_users_per_minute: 5\n    custom_page_html: '{{#waitTimeKnown}}open'\n")}, []string{"page.yaml", "custom_page_html", "line 1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var out, errs bytes.Buffer
			if code := run(t.Context(), c.args, console{&out, &errs}); code != exitUsage {
				t.Errorf("exit code %d, want %d; it said %s%s", code, exitUsage, out.String(), errs.String())
			}
			for _, want := range c.want {
				if !strings.Contains(errs.String(), want) {
					t.Errorf("the message lacks %q: %s", want, errs.String())
				}
			}
		})
	}
}

func TestHelpAndVersion(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--help"}, {"serve", "--help"}, {"version"}} {
		var out, errs bytes.Buffer
		if code := run(t.Context(), args, console{&out, &errs}); code != exitOK || out.Len() == 0 || errs.Len() > 0 {
			t.Errorf("%v: exit code %d, %q, %q", args, code, out.String(), errs.String())
		}
	}
}

// TestServeBeginsAndEnds starts the whole program in this process, on free ports, and stops it.
func TestServeBeginsAndEnds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out := &waitWriter{wanted: "Anteroom is ready", seen: cancel}
	var errs bytes.Buffer
	args := []string{"serve", "--demo", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"}
	if code := run(ctx, args, console{out, &errs}); code != exitOK {
		t.Errorf("exit code %d: %s", code, errs.String())
	}
	if !strings.Contains(out.text.String(), "?token=") {
		t.Errorf("no ready dashboard link in %q", out.text.String())
	}
}

// waitWriter calls a function when it has seen a text.
type waitWriter struct {
	text   bytes.Buffer
	wanted string
	seen   func()
}

func (w *waitWriter) Write(b []byte) (int, error) {
	n, err := w.text.Write(b)
	if strings.Contains(w.text.String(), w.wanted) {
		w.seen()
	}
	return n, err
}
