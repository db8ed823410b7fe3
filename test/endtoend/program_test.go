package endtoend_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// binary is the program under test, built once.
var binary string //nolint:gochecknoglobals // set by TestMain before any test

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "anteroom-endtoend-")
	if err != nil {
		panic(err)
	}
	binary = filepath.Join(dir, "anteroom")
	build := exec.Command("go", "build", "-o", binary, "github.com/anteroom/anteroom/cmd/anteroom")
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	if err = build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "build the program:", err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// program is one running server.
type program struct {
	t        *testing.T
	args     []string
	cmd      *exec.Cmd
	visitors string // base URL
	admin    string // base URL
	token    string
	logs     *tail
}

// tail keeps the last lines of a log for the report of a failure.
type tail struct {
	mu    sync.Mutex
	lines []string
}

func (l *tail) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lines = append(l.lines, line); len(l.lines) > 60 {
		l.lines = l.lines[1:]
	}
}

func (l *tail) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.lines, "\n")
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if err = l.Close(); err != nil {
		t.Fatal(err)
	}
	return address
}

// serve starts the program and waits until it says that it is ready.
func serve(t *testing.T, origin string, flags ...string) *program {
	t.Helper()
	visitors, admin := freePort(t), freePort(t)
	args := append([]string{
		"serve", "--listen", visitors, "--admin", admin, "--origin", origin,
		"--data", t.TempDir(), "--admin-token", "end-to-end-token-0123456789",
	}, flags...)
	p := &program{
		t: t, args: args, visitors: "http://" + visitors, admin: "http://" + admin,
		token: "end-to-end-token-0123456789", logs: &tail{},
	}
	p.start()
	t.Cleanup(func() {
		p.stop()
		if t.Failed() {
			t.Log("the program's last lines:\n" + p.logs.String())
		}
	})
	return p
}

func (p *program) start() {
	p.t.Helper()
	p.cmd = exec.Command(binary, p.args...)
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	errs, err := p.cmd.StderrPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if err = p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	ready := make(chan struct{})
	go p.follow(errs, nil)
	go p.follow(out, ready)
	select {
	case <-ready:
	case <-time.After(30 * time.Second):
		p.t.Fatal("not ready after 30 s:\n" + p.logs.String())
	}
}

func (p *program) follow(r io.Reader, ready chan struct{}) {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		p.logs.add(lines.Text())
		if ready != nil && strings.Contains(lines.Text(), "Anteroom is ready") {
			close(ready)
			ready = nil
		}
	}
}

// kill ends the program as a crash would.
func (p *program) kill() {
	_ = p.cmd.Process.Kill()
	_, _ = p.cmd.Process.Wait()
}

// stop ends it as an operator would, and tells its exit code.
func (p *program) stop() int {
	if p.cmd.ProcessState != nil {
		return p.cmd.ProcessState.ExitCode()
	}
	_ = p.cmd.Process.Signal(os.Interrupt)
	done := make(chan struct{})
	go func() {
		_ = p.cmd.Wait() // the exit code is read below
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		p.t.Error("did not stop within 20 s")
		p.kill()
	}
	return p.cmd.ProcessState.ExitCode()
}

// get reads an address of the admin listener.
func (p *program) get(ctx context.Context, path string) string {
	p.t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, p.admin+path, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+p.token)
	client := http.Client{Timeout: 10 * time.Second}
	resp, err := client.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		p.t.Fatalf("GET %s: status %d, %v: %s", path, resp.StatusCode, err, b)
	}
	return string(b)
}

// metric reads one series of the metrics.
func (p *program) metric(ctx context.Context, series string) string {
	p.t.Helper()
	text := p.get(ctx, "/metrics")
	m := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(series) + ` (\S+)$`).FindStringSubmatch(text)
	if m == nil {
		p.t.Fatalf("no series %s in\n%s", series, text)
	}
	return m[1]
}

// command runs the program once with an input and gives what it said and the exit code.
func (p *program) command(input string, args ...string) (string, int) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		p.t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}
