package coord

import "testing"

// BreakJournal closes the file under a room's journal, so that its next write fails.
func BreakJournal(t *testing.T, n *Node, id string) {
	t.Helper()
	r, err := n.room(id)
	if err != nil {
		t.Fatal(err)
	}
	r.log.mu.Lock()
	defer r.log.mu.Unlock()
	if err := r.log.file.Close(); err != nil {
		t.Fatal(err)
	}
}
