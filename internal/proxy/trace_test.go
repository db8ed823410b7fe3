package proxy_test

import (
	"context"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
)

// traceInterim reports interim answers.
func traceInterim(ctx context.Context, report func(code int, h http.Header)) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		Got1xxResponse: func(code int, h textproto.MIMEHeader) error { report(code, http.Header(h)); return nil },
	})
}
