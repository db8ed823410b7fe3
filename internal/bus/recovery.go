package bus

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/anteroom/anteroom"
)

// stored is a stream as its files show it before the server starts.
type stored struct {
	name   string
	blocks map[string]int64 // size of each file with messages
}

// listStreams looks at the files of the streams. The server leaves out what it cannot read and goes
// on; only who has looked before can tell that something is missing.
func listStreams(dir string) []stored {
	var streams []stored
	pattern := filepath.Join(dir, "jetstream", "$G", "streams", "*", "meta.inf")
	files, _ := filepath.Glob(pattern) // the pattern is well formed
	for _, file := range files {
		at := filepath.Dir(file)
		s := stored{name: filepath.Base(at), blocks: map[string]int64{}}
		blocks, _ := filepath.Glob(filepath.Join(at, "msgs", "*.blk"))
		for _, block := range blocks {
			s.blocks[block] = sizeOf(block)
		}
		// A crash between the two files of a new stream leaves one without content: no loss.
		if sizeOf(filepath.Join(at, "meta.sum")) == 0 && len(blocks) == 0 {
			continue
		}
		if !strings.HasPrefix(s.name, ".") { // a stream that was being deleted
			streams = append(streams, s)
		}
	}
	return streams
}

func sizeOf(file string) int64 {
	info, err := os.Stat(file)
	if err != nil {
		return 0
	}
	return info.Size()
}

// checkRecovered compares what the server has with what was on disk. A stream that is gone is an
// error. Messages cut off a file are only logged: after a crash the last one may be half written,
// and whoever needs completeness has to count, as the store does.
func (b *Bus) checkRecovered(ctx context.Context, before []stored) error {
	for _, s := range before {
		_, err := b.stream.Stream(ctx, s.name)
		if errors.Is(err, jetstream.ErrStreamNotFound) {
			return anteroom.Errorf(anteroom.CodeUnavailable, "the store in %s is damaged: the stream %s is on disk and cannot be read",
				b.dir, s.name).WithHint("restore %s from a copy; or move it away to begin anew, "+
				"and bring the configuration back with anteroom apply", filepath.Join(b.dir, "jetstream"))
		}
		if err != nil {
			return fmt.Errorf("cannot look at the stream %s in %s: %w", s.name, b.dir, err)
		}
		for block, size := range s.blocks {
			if now := sizeOf(block); now < size {
				b.logger.WarnContext(ctx, "unreadable messages were cut off", "stream", s.name, "file", block, "bytes", size-now)
			}
		}
	}
	return nil
}
