package api

import (
	"net/http"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/config"
)

func (h *handler) getExtras(r *http.Request) (reply, error) {
	record, err := h.room(r)
	return reply{result: record.Extras, revision: record.Revision}, err
}

func (h *handler) putExtras(r *http.Request) (reply, error) {
	return h.editExtras(r, func(_ anteroom.Extras, body []byte) (anteroom.Extras, error) {
		return config.DecodeExtras(body)
	})
}

func (h *handler) patchExtras(r *http.Request) (reply, error) {
	return h.editExtras(r, config.PatchExtras)
}

func (h *handler) editExtras(r *http.Request, change func(anteroom.Extras, []byte) (anteroom.Extras, error)) (reply, error) {
	if _, err := h.room(r); err != nil {
		return reply{}, err
	}
	match, err := h.match(r)
	if err != nil {
		return reply{}, err
	}
	dry, err := dryRun(r)
	if err != nil {
		return reply{}, err
	}
	body, err := readBody(r)
	if err != nil {
		return reply{}, err
	}
	edit := func(record config.RoomRecord) (config.RoomRecord, error) {
		record.Extras, err = change(record.Extras, body)
		return record, err
	}
	var record config.RoomRecord
	if dry {
		if record, err = h.room(r); err == nil {
			record, err = edit(record)
		}
		return reply{result: record.Extras}, err
	}
	record, err = h.o.Config.EditRoom(r.Context(), r.PathValue("zone"), r.PathValue("room"), match, edit)
	return reply{result: record.Extras, revision: record.Revision}, err
}
