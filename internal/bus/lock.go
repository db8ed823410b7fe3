package bus

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/anteroom/anteroom"
)

// lock is the hold of one process on a data directory. The operating system ends it with the
// process, so a crash leaves no stale lock.
type lock struct{ file *os.File }

// errHeld tells that another process has the lock.
var errHeld = errors.New("locked by another process")

func takeLock(dir string) (*lock, error) {
	name := filepath.Join(dir, "lock")
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, anteroom.Errorf(anteroom.CodeUnavailable, "cannot use the data directory %s: %w", dir, err).
			WithHint("choose another one with --data, or let this user write there")
	}
	if err := lockFile(file); err != nil {
		holder, _ := io.ReadAll(io.LimitReader(file, 32)) // only for the text
		err = errors.Join(err, file.Close())
		if !errors.Is(err, errHeld) {
			return nil, anteroom.Errorf(anteroom.CodeUnavailable, "cannot lock the data directory %s: %w", dir, err).
				WithHint("use a file system that has locks")
		}
		return nil, anteroom.Errorf(anteroom.CodeUnavailable, "the data directory %s is in use by process %s", dir,
			strings.TrimSpace(string(holder))).WithHint("stop that process, or choose another directory with --data")
	}
	if err := errors.Join(file.Truncate(0), write(file, strconv.Itoa(os.Getpid()))); err != nil {
		return nil, errors.Join(fmt.Errorf("cannot write %s: %w", name, err), file.Close())
	}
	return &lock{file}, nil
}

func write(file *os.File, text string) error {
	_, err := file.WriteAt([]byte(text+"\n"), 0)
	return err
}

// release ends the hold. The file stays: removing it would let two processes lock two files.
func (l *lock) release() error {
	if l == nil {
		return nil
	}
	if err := l.file.Close(); err != nil {
		return fmt.Errorf("cannot release the data directory: %w", err)
	}
	return nil
}
