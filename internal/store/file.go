package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// replaceFile writes a file that only its owner may read. Whoever reads it, and whoever comes after a
// crash, finds the old or the new content, never a part.
func replaceFile(name string, data []byte) error {
	dir := filepath.Dir(name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("cannot write %s: %w", name, err)
	}
	temporary, err := os.CreateTemp(dir, "."+filepath.Base(name)+"-*")
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", name, err)
	}
	_, errWrite := temporary.Write(data)
	err = errors.Join(errWrite, temporary.Sync(), temporary.Close())
	if err == nil {
		err = os.Rename(temporary.Name(), name)
	}
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", name, errors.Join(err, os.Remove(temporary.Name())))
	}
	return syncDir(dir)
}

// syncDir makes a rename durable where directories can be synced.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("cannot sync %s: %w", dir, err)
	}
	_ = d.Sync() // some systems refuse it for directories
	return d.Close()
}
