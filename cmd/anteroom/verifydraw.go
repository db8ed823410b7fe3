package main

import (
	"bufio"
	"compress/gzip"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/queue"
)

// Bounds of the file of a draw record.
const (
	drawRecordBytesMax = 1 << 30 // unpacked; five million tickets, one a line, have some 600 MB
	drawValueBytesMax  = 1 << 20 // one value or one stretch of white space, so that no file fills the memory
)

type verifyDrawCommand struct {
	File   string `arg:"" help:"The published record: JSON, plain or gzipped. \"-\" is standard input."`
	Ticket string `help:"Print the place of the ticket with this public id." placeholder:"PUBLICID"`
}

// Run recomputes the draw and says what of it holds.
func (c verifyDrawCommand) Run(con console) error {
	wanted, err := c.ticket()
	if err != nil {
		return err
	}
	record, err := c.read()
	if err != nil {
		return err
	}
	fmt.Fprintf(con.out, "draw %d of room %q, method %q\n", record.Number, record.Room, string(record.Method))
	faults := record.VerifyForm()
	for _, part := range []struct {
		faults anteroom.Errors
		holds  string
	}{
		{record.VerifyCommitment(), fmt.Sprintf("commitment ok: %v", record.Commitment)},
		{record.VerifySeal(), fmt.Sprintf("sealed list ok: %d tickets, root %v", record.Seal.Count, record.Seal.Root)},
		{record.VerifyPlaces(), fmt.Sprintf("%d places ok: by the seed, %s", len(record.Tickets), external(record.External))},
	} {
		if len(part.faults) == 0 {
			fmt.Fprintln(con.out, part.holds)
		}
		faults = append(faults, part.faults...)
	}
	if err := faults.OrNil(); err != nil {
		return err
	}
	fmt.Fprintln(con.out, "The record is true to itself. Compare the commitment with the one published before the start, count and root\n"+
		"with those published at the seal, and external randomness with its source, named before the seal.")
	if c.Ticket == "" {
		return nil
	}
	return printPlace(con, record, wanted)
}

// ticket is the wanted public id.
func (c verifyDrawCommand) ticket() (id queue.ID, err error) {
	if c.Ticket == "" {
		return id, nil
	}
	if err := id.UnmarshalText([]byte(c.Ticket)); err != nil {
		return id, anteroom.Errorf(anteroom.CodeInvalid, "%.40q is no public id: %w", c.Ticket, err).At("--ticket").
			WithHint("give the 32 hexadecimal digits that the waiting page shows")
	}
	return id, nil
}

// external says what randomness from outside went into the places.
func external(e queue.DrawExternal) string {
	switch {
	case e.IsZero():
		return "without external randomness: who knew the seed before the seal knew what each ticket would get"
	case e.Note == "":
		return fmt.Sprintf("with the external value %s of no named source", hex.EncodeToString(e.Value))
	}
	return fmt.Sprintf("with the external value %s from %q", hex.EncodeToString(e.Value), e.Note)
}

// printPlace prints where a ticket stands in a record that was found true.
func printPlace(con console, record *queue.DrawRecord, wanted queue.ID) error {
	for _, t := range record.Tickets {
		if t.ID != wanted {
			continue
		}
		joined := "sealed"
		if t.Late {
			joined = "joined after the seal"
		}
		fmt.Fprintf(con.out, "ticket %v: place %d of %d, %s\n", t.ID, t.Place, len(record.Tickets), joined)
		return nil
	}
	return anteroom.Errorf(anteroom.CodeNotFound, "the record has no ticket %v", wanted).At("--ticket").
		WithHint("check the id and that this is the record of your draw; if both are right, the ticket was not in line at the seal")
}

// read reads the record from the file.
func (c verifyDrawCommand) read() (*queue.DrawRecord, error) {
	name, file, err := c.open()
	if err != nil {
		return nil, badInput{anteroom.Errorf(anteroom.CodeInvalid, "cannot read the record: %w", err).
			WithHint("check the name of the file")}
	}
	defer func() { _ = file.Close() }()
	return readDraw(name, file)
}

// readDraw reads the record. What it says wrongly is bad input; when reading fails, the record is not
// to blame.
func readDraw(name string, from io.Reader) (*queue.DrawRecord, error) {
	watched := &failWatch{from: from}
	record, err := decodeDrawFile(watched)
	if watched.failed != nil {
		return nil, fmt.Errorf("read %s: %w; try again, or fetch the record anew", name, watched.failed)
	}
	if err != nil {
		return nil, badInput{fmt.Errorf("%s: %w", name, err)}
	}
	return record, nil
}

// open gives the name of the file and the file.
func (c verifyDrawCommand) open() (string, *os.File, error) {
	if c.File == "-" {
		return "standard input", os.Stdin, nil
	}
	file, err := os.Open(c.File)
	if err != nil {
		return "", nil, err
	}
	if info, err := file.Stat(); err == nil && info.IsDir() {
		_ = file.Close()
		return "", nil, fmt.Errorf("%s is a folder", c.File)
	}
	return c.File, file, nil
}

// decodeDrawFile reads a record that may be gzipped, as its first bytes tell, and nothing behind it.
func decodeDrawFile(from io.Reader) (*queue.DrawRecord, error) {
	buffered := bufio.NewReaderSize(from, 64<<10)
	plain := io.Reader(buffered)
	if magic, err := buffered.Peek(2); err == nil && magic[0] == 0x1f && magic[1] == 0x8b {
		unpacked, err := gzip.NewReader(buffered)
		if err != nil {
			return nil, anteroom.Errorf(anteroom.CodeInvalid, "is not a gzip file: %w", err).WithHint("fetch the record anew")
		}
		plain = unpacked
	}
	bounded := &drawBounds{from: plain}
	decoder := json.NewDecoder(bounded)
	bounded.offset = decoder.InputOffset
	record, err := queue.DecodeDrawRecord(decoder)
	if err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, anteroom.Errorf(anteroom.CodeInvalid, "something follows the record at byte %d", decoder.InputOffset()).
			WithHint("a file has one record: fetch it anew")
	}
	return record, nil
}

// failWatch remembers that reading failed: the decoder's error alone may be about a record that broke off.
type failWatch struct {
	from   io.Reader
	failed error
}

func (w *failWatch) Read(b []byte) (int, error) {
	n, err := w.from.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		w.failed = err
	}
	return n, err
}

// drawBounds refuses more bytes than a record has, and a value that would have to be kept in memory
// whole.
type drawBounds struct {
	from   io.Reader
	offset func() int64 // how many bytes the decoder is done with
	read   int64
}

func (l *drawBounds) Read(b []byte) (int, error) {
	if l.read > drawRecordBytesMax {
		return 0, fmt.Errorf("the record has more than %d bytes", drawRecordBytesMax)
	}
	if l.read-l.offset() > drawValueBytesMax {
		return 0, fmt.Errorf("a value has more than %d bytes", drawValueBytesMax)
	}
	n, err := l.from.Read(b)
	l.read += int64(n)
	return n, err
}
