package coord

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/queue"
)

// drawRecordsMax is how many records of draws a room keeps.
const drawRecordsMax = 20

// drawRecordSuffix ends the name of a record's file; its number is in front.
const drawRecordSuffix = ".json.gz"

// drawRecords is the directory of one room's published records.
type drawRecords struct{ dir string }

func (d drawRecords) path(number uint64) string {
	return filepath.Join(d.dir, strconv.FormatUint(number, 10)+drawRecordSuffix)
}

// list tells the numbers of the records that are kept, oldest first.
func (d drawRecords) list() ([]uint64, error) {
	entries, err := os.ReadDir(d.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list the records of draws: %w", err)
	}
	var numbers []uint64
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), drawRecordSuffix)
		if n, err := strconv.ParseUint(name, 10, 64); ok && err == nil {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return numbers, nil
}

// open gives the record's file.
func (d drawRecords) open(number uint64) (io.ReadCloser, error) {
	f, err := os.Open(d.path(number))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, anteroom.Errorf(anteroom.CodeNotFound, "there is no record of a draw %d in this room", number).
			WithHint("a draw has a record when it has ended; the last %d are kept", drawRecordsMax)
	}
	if err != nil {
		return nil, fmt.Errorf("open the record of draw %d: %w", number, err)
	}
	return f, nil
}

// read decodes a record.
func (d drawRecords) read(number uint64) (*queue.DrawRecord, error) {
	f, err := d.open(number)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	plain, err := gzip.NewReader(bufio.NewReader(f))
	if err != nil {
		return nil, fmt.Errorf("unpack the record of draw %d: %w", number, err)
	}
	r, err := queue.DecodeDrawRecord(json.NewDecoder(plain))
	if err != nil {
		return nil, fmt.Errorf("read the record of draw %d: %w", number, err)
	}
	return r, nil
}

// write publishes a record, all or nothing, and removes the oldest ones.
func (d drawRecords) write(r *queue.DrawRecord) error {
	if err := os.MkdirAll(d.dir, 0o700); err != nil {
		return err
	}
	path := d.path(r.Number)
	fresh := path + ".new"
	f, err := os.OpenFile(fresh, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	err = errors.Join(pack(f, r), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(fresh, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(fresh))
	}
	_ = d.forget() // a file too many harms nobody; the next draw tries again
	return nil
}

// pack writes a record as gzipped JSON.
func pack(to io.Writer, r *queue.DrawRecord) error {
	buffered := bufio.NewWriterSize(to, 64<<10)
	packed := gzip.NewWriter(buffered)
	for piece := range r.JSON() {
		if _, err := packed.Write(piece); err != nil {
			return err
		}
	}
	return errors.Join(packed.Close(), buffered.Flush())
}

// forget removes the oldest records.
func (d drawRecords) forget() error {
	kept, err := d.list()
	if err != nil {
		return err
	}
	var faults []error
	for _, n := range kept[:max(0, len(kept)-drawRecordsMax)] {
		faults = append(faults, os.Remove(d.path(n)))
	}
	return errors.Join(faults...)
}
