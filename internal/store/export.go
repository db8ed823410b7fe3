package store

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/anteroom/anteroom/internal/config"
)

// wantExport asks for an export of the newest snapshot. Several wishes become one.
func (s *Store) wantExport() {
	select {
	case s.exports <- struct{}{}:
	default:
	}
}

func (s *Store) runExport(ctx context.Context) {
	for {
		select {
		case <-s.exports:
			s.export()
		case <-ctx.Done():
			select {
			case <-s.exports:
				s.export()
			default:
			}
			return
		}
	}
}

// export writes the plain file and then the mark, so that the mark never knows more than the file.
func (s *Store) export() {
	now := s.Snapshot()
	if err := errors.Join(s.writeExport(now), s.writeMark(now)); err != nil {
		s.o.Logger.Warn("the configuration could not be exported", "error", err)
	}
}

func (s *Store) writeExport(now *config.Snapshot) error {
	if s.o.Export == "" {
		return nil
	}
	text, err := config.EncodeSite(siteOf(now))
	if err != nil {
		return err
	}
	head := fmt.Sprintf("# The whole configuration at revision %d, written after every change.\n"+
		"# Changes in this file have no effect. To bring it back: anteroom apply -f %s\n",
		now.Revision, filepath.Base(s.o.Export))
	return replaceFile(s.o.Export, append([]byte(head), text...))
}

func siteOf(now *config.Snapshot) config.Site {
	site := config.Site{}
	for i := range now.Rooms {
		site.Rooms = append(site.Rooms, config.SiteRoom{Room: now.Rooms[i].Room, Extras: &now.Rooms[i].Extras})
	}
	return site
}
