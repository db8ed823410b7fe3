package main

import (
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
)

// progressInterval is how often the bar is drawn at most.
const progressInterval = 100 * time.Millisecond

// isTerminal tells whether a person watches the messages.
func (c console) isTerminal() bool {
	file, ok := c.err.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// progress shows how much of a long work is done, when somebody watches. advance may be called from many
// goroutines; finish takes the bar away.
func (c console) progress(what string, total time.Duration) (advance func(time.Duration), finish func()) {
	if !c.isTerminal() {
		return func(time.Duration) {}, func() {}
	}
	bar := progressbar.NewOptions64(total.Microseconds(),
		progressbar.OptionSetWriter(c.err),
		progressbar.OptionSetDescription(what),
		progressbar.OptionSetWidth(30),
		progressbar.OptionThrottle(progressInterval),
		progressbar.OptionClearOnFinish(),
	)
	// A terminal that went away is no reason to end the work.
	return func(d time.Duration) { _ = bar.Add64(d.Microseconds()) }, func() { _ = bar.Finish() }
}
