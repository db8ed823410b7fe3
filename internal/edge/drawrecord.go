package edge

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// serveDrawRecord answers with the record of a draw. It is kept packed, and goes to nearly everybody that
// way. The error comes before anything is written.
func (n *Node) serveDrawRecord(w http.ResponseWriter, r *http.Request, room string, number uint64) error {
	file, err := n.rooms.DrawRecord(r.Context(), room, number)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	from, header := io.Reader(file), w.Header()
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		header.Set("Content-Encoding", "gzip")
	} else if from, err = gzip.NewReader(bufio.NewReader(file)); err != nil {
		return fmt.Errorf("unpack the record of draw %d: %w", number, err)
	}
	header.Set("Content-Type", "application/json")
	header.Set("Content-Disposition", `inline; filename="draw-`+strconv.FormatUint(number, 10)+`.json"`)
	header.Set("Vary", "Accept-Encoding")
	header.Set("X-Content-Type-Options", "nosniff")
	if r.Method == http.MethodHead {
		return nil
	}
	if _, err := io.Copy(w, from); err != nil { //nolint:gosec // the file is our own
		n.log.DebugContext(r.Context(), "the record of a draw was not taken", "room", room, "draw", number, "error", err)
	}
	return nil
}
