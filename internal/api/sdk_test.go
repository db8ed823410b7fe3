package api_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	legacy "github.com/cloudflare/cloudflare-go"
	"github.com/cloudflare/cloudflare-go/v7/option"
	"github.com/cloudflare/cloudflare-go/v7/waiting_rooms"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/queue"
)

// sdk is the published Go client against our server.
func (s *server) sdk() *waiting_rooms.WaitingRoomService {
	return waiting_rooms.NewWaitingRoomService(option.WithBaseURL(s.url+"/"), option.WithAPIToken(token),
		option.WithHTTPClient(s.client), option.WithMaxRetries(0))
}

// query is a room as that client sends it. Its helper for fields is in a package that takes minutes
// to compile, so the fields are set by hand.
func query(name string) (q waiting_rooms.QueryParam) {
	q.Name.Value, q.Name.Present = name, true
	q.Host.Value, q.Host.Present = name+".example.com", true
	q.TotalActiveUsers.Value, q.TotalActiveUsers.Present = 300, true
	q.NewUsersPerMinute.Value, q.NewUsersPerMinute.Present = 200, true
	return q
}

// TestOfficialClient creates, lists, reads, edits, replaces and deletes a room.
func TestOfficialClient(t *testing.T) {
	t.Parallel()
	s := serve(t)
	sdk := s.sdk()
	var fresh waiting_rooms.WaitingRoomNewParams
	fresh.ZoneID.Value, fresh.ZoneID.Present = s.zone, true
	fresh.Query = query("shop")
	created, err := sdk.New(t.Context(), fresh)
	must(t, err)
	if created.Name != "shop" || created.QueueingMethod != "fifo" || created.SessionDuration != 5 || created.CreatedOn.IsZero() || len(created.ID) != 32 {
		t.Errorf("created %+v", created)
	}

	var edit waiting_rooms.WaitingRoomEditParams
	edit.ZoneID, edit.Query = fresh.ZoneID, query("shop")
	edit.Query.Suspended.Value, edit.Query.Suspended.Present = true, true
	edited, err := sdk.Edit(t.Context(), created.ID, edit)
	must(t, err)
	if !edited.Suspended || edited.ID != created.ID || !edited.CreatedOn.Equal(created.CreatedOn) {
		t.Errorf("edited %+v", edited)
	}

	var update waiting_rooms.WaitingRoomUpdateParams
	update.ZoneID, update.Query = fresh.ZoneID, query("shop")
	update.Query.QueueingMethod.Value, update.Query.QueueingMethod.Present = waiting_rooms.QueryQueueingMethodRandom, true
	updated, err := sdk.Update(t.Context(), created.ID, update)
	must(t, err)
	if updated.Suspended || updated.QueueingMethod != "random" {
		t.Errorf("updated %+v", updated)
	}

	var get waiting_rooms.WaitingRoomGetParams
	get.ZoneID = fresh.ZoneID
	got, err := sdk.Get(t.Context(), created.ID, get)
	must(t, err)
	if got.JSON.RawJSON() != updated.JSON.RawJSON() {
		t.Errorf("got %s\nwant %s", got.JSON.RawJSON(), updated.JSON.RawJSON())
	}

	s.rooms.set(created.ID, queue.Status{State: queue.Queueing, Waiting: 3, Active: 300})
	var statusOf waiting_rooms.StatusGetParams
	statusOf.ZoneID = fresh.ZoneID
	status, err := sdk.Statuses.Get(t.Context(), created.ID, statusOf)
	must(t, err)
	if status.Status != "queueing" || status.EstimatedQueuedUsers != 3 || status.EstimatedTotalActiveUsers != 300 {
		t.Errorf("the status is %+v", status)
	}

	var remove waiting_rooms.WaitingRoomDeleteParams
	remove.ZoneID = fresh.ZoneID
	removed, err := sdk.Delete(t.Context(), created.ID, remove)
	must(t, err)
	if removed.ID != created.ID {
		t.Errorf("deleted %+v", removed)
	}
	_, err = sdk.Get(t.Context(), created.ID, get)
	mustFail(t, err, http.StatusNotFound, 1001, "Object not found.")
	fresh.Query.NewUsersPerMinute.Value = 301
	_, err = sdk.New(t.Context(), fresh)
	mustFail(t, err, http.StatusBadRequest, 1002, "new_users_per_minute must be in range [1, total_active_users]: invalid data")
}

// mustFail checks what the official client makes of an error.
func mustFail(t *testing.T, err error, status int, code int64, text string) {
	t.Helper()
	var e *waiting_rooms.Error
	if !errors.As(err, &e) {
		t.Fatalf("no error of the API: %v", err)
	}
	if e.StatusCode != status || len(e.Errors) == 0 || e.Errors[0].Code != code || !strings.Contains(e.Errors[0].Message, text) {
		t.Errorf("got %d %+v, want %d with code %d and %q", e.StatusCode, e.Errors, status, code, text)
	}
}

// TestOfficialClientPages lists more rooms than a page has, by zone and by account.
func TestOfficialClientPages(t *testing.T) {
	t.Parallel()
	s := serve(t)
	for name := range strings.SplitSeq("abcdefghijklm", "") {
		s.create(t, name, "")
	}
	byZone := waiting_rooms.WaitingRoomListParams{}
	byZone.ZoneID.Value, byZone.ZoneID.Present = s.zone, true
	byAccount := waiting_rooms.WaitingRoomListParams{}
	byAccount.AccountID.Value, byAccount.AccountID.Present = s.store.Snapshot().Accounts[0].ID, true
	for _, list := range []waiting_rooms.WaitingRoomListParams{byZone, byAccount} {
		list.PerPage.Value, list.PerPage.Present = 5, true
		names := ""
		pager := s.sdk().ListAutoPaging(t.Context(), list)
		for pager.Next() {
			names += pager.Current().Name
		}
		if err := pager.Err(); err != nil || names != "abcdefghijklm" {
			t.Errorf("listed %q, %v", names, err)
		}
	}
}

// TestLegacyClient does the same with the client of the years before, which writes the zero value of
// every field that is not set.
func TestLegacyClient(t *testing.T) {
	t.Parallel()
	s := serve(t)
	client, err := legacy.NewWithAPIToken(token, legacy.BaseURL(s.url), legacy.HTTPClient(s.client), legacy.UsingRetryPolicy(0, 0, 0))
	must(t, err)
	verified, err := client.VerifyAPIToken(t.Context())
	if err != nil || verified.Status != "active" {
		t.Errorf("the token is %+v, %v", verified, err)
	}
	zone, err := client.ZoneIDByName("default")
	if err != nil || zone != s.zone {
		t.Fatalf("the zone is %s, %v", zone, err)
	}
	given := legacy.WaitingRoom{Name: "shop", Host: "shop.example.com", TotalActiveUsers: 300, NewUsersPerMinute: 200}
	created, err := client.CreateWaitingRoom(t.Context(), zone, given)
	must(t, err)
	if created.SessionDuration != anteroom.SessionMinutes || created.QueueingStatusCode != 200 || created.Path != "/" || created.QueueingMethod != "fifo" {
		t.Errorf("created %+v", created)
	}
	created.Suspended = true
	updated, err := client.UpdateWaitingRoom(t.Context(), zone, *created)
	must(t, err)
	if !updated.Suspended || updated.ID != created.ID {
		t.Errorf("updated %+v", updated)
	}
	updated.Suspended = false
	changed, err := client.ChangeWaitingRoom(t.Context(), zone, updated.ID, updated)
	must(t, err)
	if changed.Suspended || time.Since(changed.ModifiedOn) > time.Minute {
		t.Errorf("changed %+v", changed)
	}
	list, err := client.ListWaitingRooms(t.Context(), zone)
	if err != nil || len(list) != 1 || list[0].ID != created.ID {
		t.Errorf("listed %+v, %v", list, err)
	}
	status, err := client.WaitingRoomStatus(t.Context(), zone, created.ID)
	if err != nil || status.Status != "not_queueing" {
		t.Errorf("the status is %+v, %v", status, err)
	}
	must(t, client.DeleteWaitingRoom(t.Context(), zone, created.ID))
	_, err = client.WaitingRoom(t.Context(), zone, created.ID)
	var missing *legacy.NotFoundError
	if !errors.As(err, &missing) || missing.ErrorCodes()[0] != 1001 {
		t.Errorf("a deleted room: %v", err)
	}
}
