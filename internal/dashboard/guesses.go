package dashboard

import (
	"sync"
	"time"
)

// Bounds of wrong tokens. Tokens are too long to be guessed; this keeps logs and processor quiet.
const (
	wrongMax     = 10
	wrongWindow  = time.Minute
	addressesMax = 1024
	wrongRetry   = "60" // wrongWindow for the Retry-After header
)

// guesses counts wrong tokens by peer address.
type guesses struct {
	mu    sync.Mutex
	wrong map[string]tally // guarded by mu
}

type tally struct {
	since time.Time
	n     int
}

func newGuesses() *guesses { return &guesses{wrong: map[string]tally{}} }

// allowed tells whether the address may try again.
func (g *guesses) allowed(now time.Time, address string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	t := g.wrong[address]
	return t.n < wrongMax || now.Sub(t.since) >= wrongWindow
}

// add counts a wrong token.
func (g *guesses) add(now time.Time, address string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	t, known := g.wrong[address]
	if !known && len(g.wrong) >= addressesMax {
		g.makeRoomLocked(now)
	}
	if !known || now.Sub(t.since) >= wrongWindow {
		t = tally{since: now}
	}
	t.n++
	g.wrong[address] = t
}

// makeRoomLocked forgets what is over, or else everything: whoever has that many addresses is not
// stopped by counting them.
func (g *guesses) makeRoomLocked(now time.Time) {
	for address, t := range g.wrong {
		if now.Sub(t.since) >= wrongWindow {
			delete(g.wrong, address)
		}
	}
	if len(g.wrong) >= addressesMax {
		clear(g.wrong)
	}
}
