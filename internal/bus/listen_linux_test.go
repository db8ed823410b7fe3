package bus_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestNoListener: a lone node opens no port, so nobody outside the process reaches the bus.
func TestNoListener(t *testing.T) {
	t.Parallel()
	fill(t, open(t, t.TempDir()), 1)
	mine := map[string]bool{}
	links, err := filepath.Glob("/proc/self/fd/*")
	must(t, err)
	for _, link := range links {
		if target, err := os.Readlink(link); err == nil && strings.HasPrefix(target, "socket:[") {
			mine[strings.Trim(target, "socket:[]")] = true
		}
	}
	for _, table := range []string{"/proc/self/net/tcp", "/proc/self/net/tcp6"} {
		data, err := os.ReadFile(table)
		must(t, err)
		for _, line := range strings.Split(string(data), "\n")[1:] {
			const listening = "0A"
			if f := strings.Fields(line); len(f) > 9 && f[3] == listening && mine[f[9]] {
				t.Errorf("a socket of this process listens on %s", f[1])
			}
		}
	}
}
