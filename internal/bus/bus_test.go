package bus_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/goleak"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/bus"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t testing.TB, dir string) *bus.Bus {
	t.Helper()
	b, err := bus.Open(t.Context(), bus.Options{Dir: dir, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

func fill(t testing.TB, b *bus.Bus, keys int) {
	t.Helper()
	kv, err := b.JetStream().CreateOrUpdateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "things"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range keys {
		if _, err := kv.Put(t.Context(), "key"+strconv.Itoa(i), bytes.Repeat([]byte("x"), 100)); err != nil {
			t.Fatal(err)
		}
	}
}

func count(t testing.TB, b *bus.Bus) int {
	t.Helper()
	kv, err := b.JetStream().KeyValue(t.Context(), "things")
	if err != nil {
		t.Fatal(err)
	}
	keys, err := kv.Keys(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return len(keys)
}

func TestKeepsWhatIsWritten(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "not", "there", "yet")
	b := open(t, dir)
	fill(t, b, 20)
	if b.Dir() != dir {
		t.Errorf("the directory is %s", b.Dir())
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if n := count(t, open(t, dir)); n != 20 {
		t.Errorf("%d keys after a restart, want 20", n)
	}
}

func TestDirectoryIsForTheOwnerOnly(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	fill(t, open(t, dir), 1)
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().Perm()&0o077 != 0 && path == dir {
			t.Errorf("%s has the mode %v", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestLargestPayload(t *testing.T) {
	t.Parallel()
	b := open(t, t.TempDir())
	fill(t, b, 0)
	kv, err := b.JetStream().KeyValue(t.Context(), "things")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := kv.Put(t.Context(), "large", make([]byte, 7<<20)); err != nil {
		t.Errorf("a value of 7 MiB: %v", err)
	}
}

func TestSecondOwnerIsKeptOut(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := open(t, dir)
	_, err := bus.Open(t.Context(), bus.Options{Dir: dir})
	mustSay(t, err, dir, "in use by process "+strconv.Itoa(os.Getpid()), "--data")
	fill(t, first, 3) // the refused one has done no harm
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if n := count(t, open(t, dir)); n != 3 {
		t.Errorf("%d keys, want 3", n)
	}
}

// mustSay checks an error that an operator meets.
func mustSay(t *testing.T, err error, parts ...string) {
	t.Helper()
	var e *anteroom.Error
	if !errors.As(err, &e) {
		t.Fatalf("no anteroom.Error: %v", err)
	}
	if e.Hint == "" {
		t.Errorf("no remedy: %v", err)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
}

func TestUnusableDirectories(t *testing.T) {
	t.Parallel()
	file := func(t *testing.T, name string) string {
		t.Helper()
		if err := os.WriteFile(name, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	cases := map[string]func(t *testing.T, dir string) (use string){
		"None":         func(*testing.T, string) string { return "" },
		"IsAFile":      func(t *testing.T, dir string) string { return file(t, filepath.Join(dir, "data")) },
		"BelowAFile":   func(t *testing.T, dir string) string { return filepath.Join(file(t, filepath.Join(dir, "f")), "data") },
		"StoreIsAFile": func(t *testing.T, dir string) string { file(t, filepath.Join(dir, "jetstream")); return dir },
		"LockIsADirectory": func(t *testing.T, dir string) string {
			must(t, os.Mkdir(filepath.Join(dir, "lock"), 0o700))
			return dir
		},
		"AccountIsAFile": func(t *testing.T, dir string) string {
			must(t, os.Mkdir(filepath.Join(dir, "jetstream"), 0o700))
			file(t, filepath.Join(dir, "jetstream", "$G"))
			return dir
		},
		"ReadOnlyFileystem": func(*testing.T, string) string { return "/proc/anteroom" },
	}
	for name, prepare := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := prepare(t, t.TempDir())
			b, err := bus.Open(t.Context(), bus.Options{Dir: dir})
			if err == nil {
				_, err = b.JetStream().CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "x"})
				t.Fatalf("it opens; a bucket: %v %v", err, b.Close())
			}
			mustSay(t, err, dir)
		})
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestDamage(t *testing.T) {
	t.Parallel()
	stream := func(dir string) string { return filepath.Join(dir, "jetstream", "$G", "streams", "KV_things") }
	change := func(t *testing.T, file string, edit func([]byte) []byte) {
		t.Helper()
		data, err := os.ReadFile(file)
		must(t, err)
		must(t, os.WriteFile(file, edit(data), 0o600))
	}
	t.Run("DescriptionUnreadable", func(t *testing.T) {
		t.Parallel()
		dir := filled(t)
		change(t, filepath.Join(stream(dir), "meta.inf"), func(b []byte) []byte { b[3] ^= 1; return b })
		_, err := bus.Open(t.Context(), bus.Options{Dir: dir})
		mustSay(t, err, dir, "damaged", "KV_things", "anteroom apply")
	})
	t.Run("ChecksumGone", func(t *testing.T) {
		t.Parallel()
		dir := filled(t)
		must(t, os.Remove(filepath.Join(stream(dir), "meta.sum")))
		_, err := bus.Open(t.Context(), bus.Options{Dir: dir})
		mustSay(t, err, dir, "damaged", "KV_things")
	})
	t.Run("MessageFlippedIsToldOf", func(t *testing.T) {
		t.Parallel()
		dir := filled(t)
		must(t, os.Remove(filepath.Join(stream(dir), "msgs", "index.db"))) // as after a crash
		change(t, filepath.Join(stream(dir), "msgs", "1.blk"), func(b []byte) []byte { b[len(b)/2] ^= 1; return b })
		log := &record{}
		b, err := bus.Open(t.Context(), bus.Options{Dir: dir, Logger: slog.New(slog.NewTextHandler(log, nil))})
		must(t, err)
		must(t, b.Close())
		if text := log.String(); !strings.Contains(text, "unreadable messages were cut off") || !strings.Contains(text, "KV_things") {
			t.Errorf("the log says only %q", text)
		}
	})
	t.Run("CrashWhileAStreamWasMade", func(t *testing.T) {
		t.Parallel()
		dir := filled(t)
		must(t, os.MkdirAll(filepath.Join(stream(dir)+"2", "msgs"), 0o700))
		must(t, os.WriteFile(filepath.Join(stream(dir)+"2", "meta.inf"), []byte("{"), 0o600))
		if n := count(t, open(t, dir)); n != 9 {
			t.Errorf("%d keys, want 9", n)
		}
	})
	t.Run("IndexGone", func(t *testing.T) {
		t.Parallel()
		dir := filled(t)
		must(t, os.Remove(filepath.Join(stream(dir), "msgs", "index.db")))
		if n := count(t, open(t, dir)); n != 9 {
			t.Errorf("%d keys, want 9: the index is only a shortcut", n)
		}
	})
}

// filled is a data directory with 9 keys that nobody uses.
func filled(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	b := open(t, dir)
	fill(t, b, 9)
	must(t, b.Close())
	return dir
}

// record is a log that tests read.
type record struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (r *record) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.buf.Write(p)
}

func (r *record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.buf.String()
}

func TestFailedOpenLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := bus.Open(ctx, bus.Options{Dir: dir}); !errors.Is(err, context.Canceled) {
		t.Fatalf("with an ended context: %v", err)
	}
	fill(t, open(t, dir), 1) // the lock is free again
}

func TestCloseTwice(t *testing.T) {
	t.Parallel()
	b := open(t, t.TempDir())
	conn, err := b.Dial("second")
	must(t, err)
	if err := errors.Join(b.Close(), b.Close()); err != nil {
		t.Error(err)
	}
	if conn.Publish("x", nil) == nil && conn.Flush() == nil {
		t.Error("a connection works after the end of the bus")
	}
	conn.Close()
}

func TestMessagesBetweenConnections(t *testing.T) {
	t.Parallel()
	b := open(t, t.TempDir())
	conn, err := b.Dial("second")
	must(t, err)
	defer conn.Close()
	sub, err := conn.SubscribeSync("hello")
	must(t, err)
	must(t, conn.Flush())
	must(t, b.Conn().Publish("hello", []byte("world")))
	m, err := sub.NextMsgWithContext(t.Context())
	must(t, err)
	if string(m.Data) != "world" {
		t.Errorf("got %q", m.Data)
	}
}

// BenchmarkOpen is the time from nothing to a usable JetStream, and back.
func BenchmarkOpen(b *testing.B) {
	dir := b.TempDir()
	for b.Loop() {
		opened, err := bus.Open(b.Context(), bus.Options{Dir: dir})
		must(b, err)
		must(b, opened.Close())
	}
}

func BenchmarkPut(b *testing.B) {
	opened := open(b, b.TempDir())
	fill(b, opened, 0)
	kv, err := opened.JetStream().KeyValue(b.Context(), "things")
	must(b, err)
	value := bytes.Repeat([]byte("x"), 200)
	n := 0
	for b.Loop() {
		n++
		if _, err := kv.Put(b.Context(), fmt.Sprint("key", n%100), value); err != nil {
			b.Fatal(err)
		}
	}
}
