package ticket_test

import (
	"fmt"
	"time"

	"github.com/anteroom/anteroom/internal/ticket"
)

func Example() {
	ring, err := ticket.NewRing(key(2), key(1)) // 2 seals, what 1 sealed before the rotation still opens
	if err != nil {
		fmt.Println(err)
		return
	}
	arrival := time.Date(2026, 3, 1, 19, 51, 12, 0, time.UTC)
	queued := ticket.Ticket{ID: ticket.ID{1, 2, 3}, Arrival: arrival, LastSeen: arrival, Refresh: 20 * time.Second}
	cookie := string(ring.Append(nil, "shop", queued, ticket.Nonce{1}))
	fmt.Println(len(cookie) <= ticket.SealedMax)

	back, err := ring.Open("shop", cookie, arrival.Add(20*time.Second))
	fmt.Println(back.Bucket().Format(time.TimeOnly), back.Accepted.IsZero(), err)

	_, err = ring.Open("cinema", cookie, arrival.Add(20*time.Second))
	fmt.Println(err)
	// Output:
	// true
	// 19:51:00 true <nil>
	// the ticket cannot be opened for this room
}
