package page

import "sync"

// Bounds of the remembered renderings of one custom page.
const (
	renderingsMax      = 64
	renderingsBytesMax = 4 << 20
)

// renderings remembers the last pages by the values that made them, so that a page is rendered once
// per state and not once per request. The oldest goes first.
type renderings struct {
	mu sync.RWMutex
	// The fields below are guarded by mu. order has the keys of pages, oldest first; bytes is the
	// size of all keys and pages.
	pages map[string][]byte
	order []string
	bytes int
}

// get gives a page that must not be changed, or nil.
func (r *renderings) get(key []byte) []byte {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.pages[string(key)]
}

func (r *renderings) put(key string, page []byte) {
	size := len(key) + len(page)
	if size > renderingsBytesMax {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.pages[key]; ok {
		return
	}
	for len(r.order) == renderingsMax || r.bytes+size > renderingsBytesMax {
		oldest := r.order[0]
		r.bytes -= len(oldest) + len(r.pages[oldest])
		delete(r.pages, oldest)
		r.order = r.order[:copy(r.order, r.order[1:])]
	}
	if r.pages == nil {
		r.pages = make(map[string][]byte, renderingsMax)
	}
	r.pages[key] = page
	r.order = append(r.order, key)
	r.bytes += size
}
