package config

import (
	"errors"
	"fmt"
	"strings"

	"github.com/anteroom/anteroom"
)

// Site is the content of a site file: the rooms that an operator wants.
type Site struct {
	Rooms []SiteRoom
}

// SiteRoom is a room of a site file.
type SiteRoom struct {
	Room anteroom.Room
	// Extras is nil when the file does not speak of them: then they stay as they are.
	Extras *anteroom.Extras
}

// Fault is a fault with its place in a file.
type Fault struct {
	Err  *anteroom.Error
	File string
	// Line and Column begin at 1; 0 is unknown.
	Line, Column int
}

// Error puts file, line and column before the text.
func (f Fault) Error() string {
	if f.Line == 0 {
		return f.File + ": " + f.Err.Error()
	}
	return fmt.Sprintf("%s:%d:%d: %s", f.File, f.Line, f.Column, f.Err.Error())
}

// Unwrap gives the fault without its place.
func (f Fault) Unwrap() error { return f.Err }

// Faults are all faults of one file.
type Faults []Fault

// Error has one fault a line.
func (fs Faults) Error() string {
	lines := make([]string, len(fs))
	for i, f := range fs {
		lines[i] = f.Error()
	}
	return strings.Join(lines, "\n")
}

// DecodeSite reads a site file: YAML with waiting_rooms, a list of rooms with the field names of the
// API, each with optional extras. The name stands in the errors. The error is a Faults with every
// fault of the file.
func DecodeSite(name string, data []byte, checks Checks) (Site, error) {
	return Site{}, errors.ErrUnsupported
}

// EncodeSite writes a site file that DecodeSite reads.
func EncodeSite(site Site) ([]byte, error) { return nil, errors.ErrUnsupported }
