package waitingroom

import "sync"

// holdsPerRoomMax bounds how many requests of one room are held at a time. Only the head of the line
// is held, so more would be a fault or an attack; the rest is answered at once and polls.
const holdsPerRoomMax = 1024

// holds counts the held requests of each room.
type holds struct {
	mu     *sync.Mutex
	counts map[string]int // guarded by mu; a room without held requests has no entry
}

func newHolds() holds { return holds{mu: &sync.Mutex{}, counts: map[string]int{}} }

// take counts one more held request, or is false when the room has its share.
func (h holds) take(room string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.counts[room] >= holdsPerRoomMax {
		return false
	}
	h.counts[room]++
	return true
}

// leave gives a place back.
func (h holds) leave(room string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.counts[room]--; h.counts[room] == 0 {
		delete(h.counts, room)
	}
}
