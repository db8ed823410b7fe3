package queue_test

import (
	"encoding/binary"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/anteroom/anteroom"
	"github.com/anteroom/anteroom/internal/queue"
)

// drawRoom is a room on a lone node with people who do nothing but wait.
type drawRoom struct {
	now     time.Time
	set     queue.Settings
	pair    *queue.Pair
	journal []queue.Record
	nextID  uint64
	life    uint64
	cookies map[queue.ID]queue.Answer
}

func newDrawRoom(method queue.DrawMethod) *drawRoom {
	r := &drawRoom{
		now: epoch(), cookies: map[queue.ID]queue.Answer{},
		set: queue.Settings{Method: anteroom.Random, TotalActiveUsers: 1000, NewUsersPerMinute: 1000, Session: time.Minute, QueueAll: true},
	}
	if method == queue.DrawShuffle {
		r.set.Method = anteroom.FIFO
		r.set.Shuffle = queue.Shuffle{From: epoch().Add(-time.Minute), Until: epoch().Add(time.Hour), Seed: queue.Seed{9}}
	}
	r.restart()
	return r
}

// restart makes the room anew from its journal.
func (r *drawRoom) restart() {
	r.life++
	cfg := queue.LocalConfig{
		DataCenter: "here", Incarnation: r.life, Room: "shop", Seed: queue.Seed{1}, Settings: r.set, Pace: queue.NearPace(), Trace: true,
	}
	r.pair = queue.NewPair(r.now, cfg, slices.Values(r.journal))
	r.journal = append(r.journal, r.drain()...)
}

func (r *drawRoom) drain() []queue.Record {
	records, _ := r.pair.Drain(nil)
	return records
}

// pass lets time pass.
func (r *drawRoom) pass(d time.Duration) {
	r.now = r.now.Add(d)
	r.pair.Tick(r.now)
	r.pair.Pump(r.now)
	r.journal = append(r.journal, r.drain()...)
}

func (r *drawRoom) ask(id queue.ID, p queue.Purpose) queue.Answer {
	c := r.cookies[id]
	a := r.pair.Ask(r.now, queue.Ask{Purpose: p, ID: c.ID, Arrival: c.Arrival, Accepted: c.Accepted, LastSeen: c.LastSeen, Refresh: c.Refresh, NewID: id})
	r.cookies[id] = a
	r.pass(time.Millisecond)
	return a
}

// join brings people who wait.
func (r *drawRoom) join(n int) []queue.ID {
	ids := make([]queue.ID, n)
	for i := range ids {
		r.nextID++
		binary.BigEndian.PutUint64(ids[i][:], r.nextID*0x9e3779b97f4a7c15)
		r.ask(ids[i], queue.Enter)
		r.ask(ids[i], queue.Check)
	}
	return ids
}

// open lets everybody in and tells in which order they had their turn.
func (r *drawRoom) open() []queue.ID {
	r.set.QueueAll = false
	r.pair.Configure(r.now, r.set)
	r.pass(time.Second)
	return r.pair.Called()
}

// placesOf are the public ids of a record in the order of places.
func placesOf(record *queue.DrawRecord) []queue.ID {
	var ids []queue.ID
	for _, t := range record.Tickets {
		ids = append(ids, t.ID)
	}
	return ids
}

// TestLiveOrderIsThePublishedOne: whoever waits, leaves, comes late, and whatever crashes in between, the
// sealed tickets that still wait have their turns in the order of the record.
func TestLiveOrderIsThePublishedOne(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		method := rapid.SampledFrom(queue.DrawMethods()).Draw(t, "method")
		r := newDrawRoom(method)
		crash := func(label string) {
			switch rapid.SampledFrom([]string{"no", "journal", "snapshot"}).Draw(t, label) {
			case "snapshot":
				r.journal = r.pair.Snapshot(r.now)
				r.restart()
			case "journal":
				r.restart()
			}
		}
		sealed := r.join(rapid.IntRange(1, 40).Draw(t, "sealed"))
		crash("before")
		if err := r.pair.Seal(r.now, queue.Seed{2}); err != nil {
			t.Fatal(err)
		}
		r.pass(0)
		before := *r.pair.Draws().Sealed
		late := r.join(rapid.IntRange(0, 10).Draw(t, "late"))
		gone := sealed[:rapid.IntRange(0, len(sealed)-1).Draw(t, "gone")]
		for _, id := range gone {
			r.pair.End(r.now, id)
		}
		r.pass(0)
		crash("between")
		external := rapid.SliceOfN(rapid.Byte(), 0, 8).Draw(t, "external")
		record := r.pair.SealedDraw().Record(queue.DrawExternal{Value: external})
		if faults := record.Verify(); faults != nil {
			t.Fatal(faults)
		}
		if record.Seal != before.Seal || record.Commitment != before.Commitment || record.Seal.Count != len(sealed) {
			t.Fatalf("sealed %+v, and the record has %+v", before, record.Seal)
		}
		for range rapid.IntRange(0, 4).Draw(t, "parts") {
			r.pair.DrawPlaces(r.now, external, rapid.IntRange(1, 20).Draw(t, "part"))
			r.pass(time.Second)
			crash("amid")
		}
		r.pair.EndDraw(r.now, external)
		r.pass(0)
		crash("after")
		var want, got []queue.ID
		for _, id := range placesOf(record) {
			if !slices.ContainsFunc(gone, func(g queue.ID) bool { return queue.PublicID(g) == id }) {
				want = append(want, id)
			}
		}
		for _, id := range r.open() {
			if slices.Contains(sealed, id) {
				got = append(got, queue.PublicID(id))
			} else if !slices.Contains(late, id) {
				t.Fatalf("%v had a turn and never came", id)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("turns\n%v, places\n%v", got, want)
		}
	})
}

// TestSealedDrawStandsStill: between seal and draw nobody enters, and who joins belongs to the next draw.
func TestSealedDrawStandsStill(t *testing.T) {
	t.Parallel()
	r := newDrawRoom(queue.DrawRandom)
	first := *r.pair.Draws().Open
	if first.Number != 1 || first.Method != queue.DrawRandom || first.Commitment != queue.DrawCommitment("shop", 1, queue.DrawRandom, queue.Seed{1}) {
		t.Errorf("the first draw is announced as %+v", first)
	}
	sealed := r.join(5)
	if a := r.ask(sealed[0], queue.Check); a.Draw == nil || *a.Draw != first {
		t.Errorf("a waiting visitor is told of %+v", a.Draw)
	}
	if err := r.pair.Seal(r.now, queue.Seed{2}); err != nil {
		t.Fatal(err)
	}
	if err := r.pair.Seal(r.now, queue.Seed{3}); err == nil {
		t.Error("a sealed list is sealed again")
	}
	late := r.join(3)
	if got := r.open(); len(got) != 0 {
		t.Errorf("%v have a turn before the draw", got)
	}
	if a := r.ask(late[0], queue.Enter); a.Verdict != queue.Waiting || a.Draw.Number != 2 || a.Draw.Phase != queue.DrawOpen {
		t.Errorf("a newcomer is told %v of %+v", a.Verdict, a.Draw)
	}
	if a := r.ask(sealed[0], queue.Enter); a.Verdict != queue.Waiting || a.Draw.Number != 1 || a.Draw.Phase != queue.DrawSealed || a.Draw.Seal.Count != 5 {
		t.Errorf("a sealed visitor is told %v of %+v", a.Verdict, a.Draw)
	}
	r.pair.EndDraw(r.now, nil)
	r.pair.EndDraw(r.now, nil) // nothing is left to end
	if a := r.ask(sealed[0], queue.Look); a.Draw.Number != 1 || a.Draw.Phase != queue.DrawEnded {
		t.Errorf("a drawn visitor is told of %+v", a.Draw)
	}
	s := r.pair.Draws()
	if s.Open.Number != 2 || s.Sealed != nil || len(s.Past) != 1 || s.Past[0].Number != 1 || s.Past[0].Commitment != first.Commitment {
		t.Errorf("state %+v", s)
	}
}

// TestDrawnPlacesAreKept: the next draw is for those who came after the seal, and winners of a published
// draw enter in the order of their places.
func TestDrawnPlacesAreKept(t *testing.T) {
	t.Parallel()
	r := newDrawRoom(queue.DrawRandom)
	r.join(20)
	if err := r.pair.Seal(r.now, queue.Seed{2}); err != nil {
		t.Fatal(err)
	}
	first := r.pair.SealedDraw().Record(queue.DrawExternal{})
	r.pair.EndDraw(r.now, nil)
	if err := r.pair.Seal(r.now, queue.Seed{3}); err == nil {
		t.Error("a list without tickets is sealed")
	}
	r.join(7)
	if err := r.pair.Seal(r.now, queue.Seed{3}); err != nil {
		t.Fatal(err)
	}
	second := r.pair.SealedDraw().Record(queue.DrawExternal{})
	if second.Number != 2 || second.Seal.Count != 7 || second.Seed != (queue.Hash{2}) {
		t.Errorf("the second draw has number %d, %d tickets and the seed %v", second.Number, second.Seal.Count, second.Seed)
	}
	r.pair.EndDraw(r.now, nil)
	r.set.QueueAll, r.set.TotalActiveUsers, r.set.NewUsersPerMinute = false, 1, 1
	var entered []queue.ID
	for range 20 + 7 {
		r.pair.Configure(r.now, r.set)
		r.pass(time.Second)
		for id := range r.cookies { // in any order: only one may enter
			if r.cookies[id].Verdict == queue.Waiting && r.ask(id, queue.Enter).Verdict == queue.Admitted {
				entered = append(entered, queue.PublicID(id))
			}
		}
		r.set.TotalActiveUsers++
		r.set.NewUsersPerMinute++
	}
	for _, record := range []*queue.DrawRecord{first, second} {
		places := placesOf(record)
		got := slices.DeleteFunc(slices.Clone(entered), func(id queue.ID) bool { return !slices.Contains(places, id) })
		if !slices.Equal(got, places) {
			t.Errorf("draw %d: entered\n%v, places\n%v", record.Number, got, places)
		}
	}
}

// TestSealCutOffByACrash: a list without its end was never sealed, and does not get into the next one.
func TestSealCutOffByACrash(t *testing.T) {
	t.Parallel()
	r := newDrawRoom(queue.DrawRandom)
	r.join(4)
	whole := slices.Clone(r.journal)
	if err := r.pair.Seal(r.now, queue.Seed{2}); err != nil {
		t.Fatal(err)
	}
	sealing := r.drain()
	end := slices.IndexFunc(sealing, func(rec queue.Record) bool { return rec.Kind == queue.RecordSeal })
	r.journal = slices.Concat(whole, sealing[:end])
	r.restart()
	if s := r.pair.Draws(); s.Sealed != nil || s.Open.Number != 1 {
		t.Fatalf("state %+v", s)
	}
	r.join(1)
	if err := r.pair.Seal(r.now, queue.Seed{3}); err != nil {
		t.Fatal(err)
	}
	r.pass(0)
	r.restart()
	if n := r.pair.Draws().Sealed.Seal.Count; n != 5 {
		t.Errorf("%d tickets are sealed, want 5", n)
	}
}

// TestChangedMethodVoidsPlaces: the record of a draw stands, the line goes by the new method.
func TestChangedMethodVoidsPlaces(t *testing.T) {
	t.Parallel()
	r := newDrawRoom(queue.DrawRandom)
	ids := r.join(9)
	if err := r.pair.Seal(r.now, queue.Seed{2}); err != nil {
		t.Fatal(err)
	}
	r.set.Method = anteroom.FIFO
	r.pair.Configure(r.now, r.set)
	if s := r.pair.Draws(); s.Open != nil || s.Sealed == nil {
		t.Errorf("state %+v", s)
	}
	if err := r.pair.Seal(r.now, queue.Seed{2}); err == nil {
		t.Error("a line of arrivals is sealed")
	}
	r.pair.EndDraw(r.now, nil)
	if got := r.open(); !slices.Equal(got, ids) {
		t.Errorf("turns %v, came %v", got, ids)
	}
}
