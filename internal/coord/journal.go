package coord

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/anteroom/anteroom/internal/queue"
	"github.com/anteroom/anteroom/internal/wire"
)

// A journal file begins with journalMagic and the room's seed. Then follow frames: the length of the
// records and their CRC-32C, 4 bytes each in little-endian, and the records. A torn last frame is what
// a kill leaves behind and is cut off; its answer was never given.
const (
	journalMagic = "anteroom journal 1\n"
	journalHead  = len(journalMagic) + len(queue.Seed{})
	frameHead    = 8
	// frameBytesMax bounds one frame, so that a damaged length cannot ask for all memory.
	frameBytesMax = 64 << 20
	// frameRecordsMax is how many records stand in one frame.
	frameRecordsMax = 4096
	// compactBytesMin is the size below which a journal is never rewritten.
	compactBytesMin = 1 << 20
)

// journal is the append-only file of one room. Records are collected under the room's lock and
// written by whoever first waits for them, for all who wait: a group commit. A write is handed to the
// operating system, which survives the end of this process; it is not forced to the disk, since a
// machine that lost power restores its line from the visitors' cookies.
type journal struct {
	path string
	// fail learns that a write failed, and with nil that the journal is whole again.
	fail func(err error)

	mu      sync.Mutex
	done    sync.Cond // signalled when a write has ended
	file    *os.File
	buf     []byte // frames to write
	spare   []byte // the buffer that was written last
	tail    []byte // while a compaction runs: what the new file still lacks
	seq     uint64 // last record in buf
	written uint64 // last record written
	size    int64
	writing bool
	compact bool
	broken  bool // records are missing: a snapshot must replace the file
	ended   bool // close was called
}

// content is what a journal file says.
type content struct {
	seed    queue.Seed
	records []queue.Record
	good    int // length of the sound part of the file; 0 means that it is new
	cut     int // bytes behind it: a torn frame, or damage
}

// openJournal opens the file, or makes it with the fresh seed, and tells its content.
func openJournal(path string, fresh queue.Seed, fail func(error)) (*journal, content, error) {
	path = filepath.Clean(path)
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, content{}, fmt.Errorf("read the room's journal: %w", err)
	}
	c, err := readJournal(data)
	if err != nil {
		return nil, c, fmt.Errorf("%s: %w", path, err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, c, fmt.Errorf("open the room's journal: %w", err)
	}
	if c.cut > frameHead+frameRecordsMax*wire.RecordBytesMax { // more than a kill can leave behind
		err = os.WriteFile(path+".damaged", data[c.good:], 0o600) //nolint:gosec // the path is the data directory and the id of a room
	}
	if err == nil && c.good == 0 {
		c.seed, c.good = fresh, journalHead
		_, err = f.Write(append([]byte(journalMagic), fresh[:]...))
	}
	if err == nil {
		err = f.Truncate(int64(c.good))
	}
	if err == nil {
		_, err = f.Seek(int64(c.good), io.SeekStart)
	}
	if err != nil {
		return nil, c, errors.Join(fmt.Errorf("prepare the room's journal: %w", err), f.Close())
	}
	j := &journal{path: path, fail: fail, file: f, size: int64(c.good)}
	j.done.L = &j.mu
	return j, c, nil
}

// readJournal decodes a file. A torn or damaged frame ends it.
func readJournal(data []byte) (c content, err error) {
	if len(data) < journalHead {
		if !bytes.HasPrefix([]byte(journalMagic), data[:min(len(data), len(journalMagic))]) {
			return c, errors.New("this is not a journal; move the file away to begin anew")
		}
		return c, nil
	}
	if !bytes.HasPrefix(data, []byte(journalMagic)) {
		return c, errors.New("this is not a journal of a known version; move the file away to begin anew")
	}
	copy(c.seed[:], data[len(journalMagic):])
	c.good = journalHead
	for {
		frame, n, ok := readFrame(data[c.good:])
		if !ok {
			c.cut = len(data) - c.good
			return c, nil
		}
		for len(frame) > 0 {
			r, size, err := wire.DecodeRecord(frame)
			if err != nil {
				return c, fmt.Errorf("at byte %d: %w", c.good, err)
			}
			c.records = append(c.records, r)
			frame = frame[size:]
		}
		c.good += n
	}
}

// readFrame cuts one frame off; false when none is complete and sound.
func readFrame(b []byte) (records []byte, size int, ok bool) {
	if len(b) < frameHead {
		return nil, 0, false
	}
	n := int(binary.LittleEndian.Uint32(b))
	if n > frameBytesMax || len(b) < frameHead+n {
		return nil, 0, false
	}
	records = b[frameHead : frameHead+n]
	if crc32.Checksum(records, castagnoli()) != binary.LittleEndian.Uint32(b[4:]) {
		return nil, 0, false
	}
	return records, frameHead + n, true
}

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// appendFrames appends records in frames of a bounded size.
func appendFrames(dst []byte, records []queue.Record) []byte {
	for batch := range slices.Chunk(records, frameRecordsMax) {
		dst = appendFrame(dst, batch)
	}
	return dst
}

func appendFrame(dst []byte, records []queue.Record) []byte {
	start := len(dst)
	dst = append(dst, make([]byte, frameHead)...)
	for _, r := range records {
		dst = wire.AppendRecord(dst, r)
	}
	body := dst[start+frameHead:]
	binary.LittleEndian.PutUint32(dst[start:], uint32(len(body)))
	binary.LittleEndian.PutUint32(dst[start+4:], crc32.Checksum(body, castagnoli()))
	return dst
}

// add collects records; the last one has the number seq. Calls come in the order of the numbers.
func (j *journal) add(records []queue.Record, seq uint64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.buf = appendFrames(j.buf, records)
	j.seq = seq
}

// wait returns when the record has been written. A failing disk does not stop the line: the failure
// is told, and the room goes on without a memory of this moment.
func (j *journal) wait(seq uint64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for j.written < seq {
		if j.writing {
			j.done.Wait()
			continue
		}
		j.writeLocked()
	}
}

// flush writes what was collected.
func (j *journal) flush() {
	j.mu.Lock()
	seq := j.seq
	j.mu.Unlock()
	j.wait(seq)
}

// sync writes what was collected and forces it to the disk: what a draw has published must not be
// forgotten with the power. A failing disk is told like any other failed write.
func (j *journal) sync() {
	j.flush()
	j.mu.Lock()
	defer j.mu.Unlock()
	for j.writing {
		j.done.Wait()
	}
	if err := j.file.Sync(); err != nil && !j.ended {
		j.breakLocked(err)
	}
}

// writeLocked writes the collected frames, with the lock released during the write.
func (j *journal) writeLocked() {
	out, seq := j.buf, j.seq
	j.buf = j.spare[:0]
	j.writing = true
	if j.compact {
		j.tail = append(j.tail, out...)
	}
	f := j.file
	j.mu.Unlock()
	_, err := f.Write(out)
	j.mu.Lock()
	if err == nil {
		j.size += int64(len(out))
	} else {
		j.breakLocked(err)
	}
	j.spare = out
	j.writing = false
	j.written = seq
	j.done.Broadcast()
}

// breakLocked notes a failed write and cuts off what may have been written of it: a torn frame in the
// middle would hide all that follow.
func (j *journal) breakLocked(err error) {
	err = errors.Join(err, j.file.Truncate(j.size))
	if _, errSeek := j.file.Seek(j.size, io.SeekStart); errSeek != nil {
		err = errors.Join(err, errSeek)
	}
	j.broken = true
	j.fail(fmt.Errorf("write the journal %s: %w", j.path, err))
}

// bulky tells whether a snapshot of so many records should replace the file: most of it is history, or
// a part is missing.
func (j *journal) bulky(records int) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return !j.compact && (j.broken || j.size > max(compactBytesMin, 4*int64(records)*wire.RecordBytesMax))
}

// beginCompact starts the rewrite: what is collected from now on goes into both files.
func (j *journal) beginCompact() {
	j.mu.Lock()
	defer j.mu.Unlock()
	for j.writing {
		j.done.Wait()
	}
	if len(j.buf) > 0 {
		j.writeLocked()
	}
	j.compact, j.tail = true, j.tail[:0]
}

// finishCompact writes the snapshot that was taken at beginCompact and puts the new file in place.
func (j *journal) finishCompact(seed queue.Seed, snapshot []queue.Record) error {
	fresh := filepath.Clean(j.path + ".new")
	f, err := os.OpenFile(fresh, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return j.abandonCompact(nil, err)
	}
	out := appendFrames(append([]byte(journalMagic), seed[:]...), snapshot)
	if _, err = f.Write(out); err != nil {
		return j.abandonCompact(f, err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	for j.writing {
		j.done.Wait()
	}
	defer j.done.Broadcast() // close may wait for the end of the rewrite
	if j.ended {
		err = errJournalEnded
	}
	if err == nil {
		_, err = f.Write(j.tail)
	}
	if err == nil {
		err = f.Sync() // a name that points to an empty file would be worse than a lost record
	}
	if err == nil {
		err = os.Rename(fresh, j.path)
	}
	if err != nil {
		j.compact = false
		return errors.Join(err, f.Close(), os.Remove(fresh))
	}
	old := j.file
	j.file, j.size, j.compact = f, int64(len(out)+len(j.tail)), false
	err = old.Close()
	if j.broken {
		j.broken = false
		j.fail(nil)
		return nil // whatever the failed file says at its end
	}
	return err
}

// errJournalEnded tells that the room was closed while its journal was being rewritten.
var errJournalEnded = errors.New("the room was closed meanwhile")

func (j *journal) abandonCompact(f *os.File, err error) error {
	j.mu.Lock()
	j.compact = false
	j.done.Broadcast()
	j.mu.Unlock()
	if f != nil {
		err = errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	return err
}

// close writes the rest and closes the file.
func (j *journal) close() error {
	j.flush()
	j.mu.Lock()
	defer j.mu.Unlock()
	j.ended = true
	for j.compact || j.writing {
		j.done.Wait()
	}
	if j.broken {
		j.broken = false
		j.fail(nil) // nobody needs it any more
	}
	return j.file.Close()
}
