package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// startTimeout is how long a server may take to open its port.
const startTimeout = 15 * time.Second

// process is a running server on one processor.
type process struct {
	cmd *exec.Cmd
	out *bufio.Reader
}

// start runs a command pinned to a processor.
func start(cpu, name string, args ...string) (*process, error) {
	cmd := exec.Command("taskset", append([]string{"-c", cpu, name}, args...)...)
	cmd.Env = append(os.Environ(), "PATH="+os.Getenv("PATH")+":/usr/sbin")
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	return &process{cmd: cmd, out: bufio.NewReader(out)}, nil
}

// stop ends the process and everything it started.
func (p *process) stop() {
	_ = p.cmd.Process.Signal(os.Interrupt)
	done := make(chan struct{})
	go func() { _ = p.cmd.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(5 * time.Second):
		_ = p.cmd.Process.Kill()
	}
}

// waitPort returns when something listens on the address.
func waitPort(address string) error {
	for end := time.Now().Add(startTimeout); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if c, err := net.DialTimeout("tcp", address, time.Second); err == nil {
			return c.Close()
		}
	}
	return fmt.Errorf("nothing listens on %s after %v", address, startTimeout)
}

func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// ticks is the unit of /proc/PID/stat: a hundredth of a second on every Linux that Go runs on.
const ticks = 10 * time.Millisecond

// cpu is the processor time that the process and its children have used.
func (p *process) cpu() (time.Duration, error) {
	root := strconv.Itoa(p.cmd.Process.Pid)
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return 0, err
	}
	var sum time.Duration
	for _, path := range stats {
		b, err := os.ReadFile(filepath.Clean(path))
		if errors.Is(err, os.ErrNotExist) || err != nil {
			continue // it ended meanwhile
		}
		pid, _, _ := strings.Cut(string(b), " ")
		fields := strings.Fields(string(b)[strings.LastIndexByte(string(b), ')')+1:])
		if pid != root && fields[1] != root {
			continue
		}
		user, err1 := strconv.Atoi(fields[11])
		system, err2 := strconv.Atoi(fields[12])
		if err := errors.Join(err1, err2); err != nil {
			return 0, err
		}
		sum += time.Duration(user+system) * ticks
	}
	return sum, nil
}

// rss is the resident memory of the process in MiB.
func (p *process) rss() (float64, error) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(p.cmd.Process.Pid) + "/status")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kib, err := strconv.Atoi(strings.Fields(rest)[0])
			return float64(kib) / 1024, err
		}
	}
	return 0, io.ErrUnexpectedEOF
}
