package route

// Entry is one route of a room.
type Entry struct {
	// Host is an exact name without scheme and port, an address, or "*" for every host.
	Host string
	// Path is a prefix that ends at a segment boundary: "/shop" covers "/shop", "/shop/" and "/shop/x", not
	// "/shopping". Empty means "/". It may be percent-encoded.
	Path string
	// Room is the caller's index of the room that the route belongs to.
	Room int
}

// Table finds rooms. It never changes and may be used by many goroutines at once; nil is an empty table.
type Table struct{}

// Compile makes a table of the entries. The error lists every fault: a bad host or path, or two entries that
// cover the same host and path.
func Compile(entries []Entry) (*Table, error) { _ = entries; return &Table{}, nil }

// Match finds the room that covers a host as it stands in the Host header and a path as it stands in the request
// line, still percent-encoded, without the query. The longest path wins; a path of the exact host wins over
// any path of "*". Where servers would read the path differently, the visitor is put into the most specific
// room that any reading hits.
func (t *Table) Match(host, path string) (room int, ok bool) { _, _ = host, path; return 0, false }

// Split tells that a path climbs ("..", in any spelling) in such a way that different servers would find it in
// different rooms. No well-meaning client sends such a path, and no single room would be right: answer 400.
func (t *Table) Split(host, path string) bool { _, _ = host, path; return false }
