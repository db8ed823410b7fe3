package proxy

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"
)

// TestLastGoodAddressServesWhileLookupsFail breaks the resolver after the first connection.
func TestLastGoodAddressServesWhileLookupsFail(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	d := &dialer{net: net.Dialer{Timeout: time.Second}, rests: new(rests), good: map[string]string{}}
	first, err := d.dial(t.Context(), "tcp", "localhost:"+port)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	d.net.Resolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		return nil, errors.New("the resolver is down")
	}}
	d.good["shop.invalid:"+port] = d.good["localhost:"+port]
	second, err := d.dial(t.Context(), "tcp", "shop.invalid:"+port)
	if err != nil {
		t.Fatalf("with a broken resolver: %v", err)
	}
	defer second.Close()
	if second.RemoteAddr().String() != first.RemoteAddr().String() {
		t.Errorf("connected to %v, want %v", second.RemoteAddr(), first.RemoteAddr())
	}
	_, err = d.dial(t.Context(), "tcp", "other.invalid:"+port)
	var failed *stage
	if !errors.As(err, &failed) || failed.reason != ReasonLookup {
		t.Errorf("an unknown name: %v, want reason lookup", err)
	}
}

func TestRememberedAddressesAreBounded(t *testing.T) {
	t.Parallel()
	d := &dialer{good: map[string]string{}}
	for i := range 3 * goodMax {
		d.remember(string(rune('a'+i%26))+time.Duration(i).String(), "127.0.0.1:1")
	}
	if len(d.good) > goodMax {
		t.Errorf("%d addresses are kept, the bound is %d", len(d.good), goodMax)
	}
}

func TestRestsLearnTheShortest(t *testing.T) {
	t.Parallel()
	var r rests
	if r.max() != restMax {
		t.Errorf("at first %v, want %v", r.max(), restMax)
	}
	for _, step := range []struct{ after, want time.Duration }{
		{time.Minute, restMax}, {600 * time.Millisecond, 300 * time.Millisecond}, {time.Second, 300 * time.Millisecond}, {200 * time.Millisecond, 100 * time.Millisecond},
	} {
		if r.ended(step.after); r.max() != step.want {
			t.Errorf("after a rest of %v: %v, want %v", step.after, r.max(), step.want)
		}
	}
}
