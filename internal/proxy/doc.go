// Package proxy carries an admitted request to the origin and the answer back.
//
// It decides what the origin gets to see (header fields, cookies, request target, framing), whether a
// failed attempt may be repeated, and what the visitor sees when the origin does not answer. It never
// decides who may enter: the gate does that and hands over a [Visit]. It keeps bytes as they came: the
// request target reaches the origin byte by byte, bodies stream both ways without a total time limit,
// and an answer that the origin broke off ends visibly broken.
//
// The handler is written over [net/http.Transport] and not over httputil.ReverseProxy, because that one
// flushes an answer without a body before it is known to be complete (a gRPC answer that consists of
// trailers alone then arrives without them, now and then), loses the values of request trailers,
// rewrites query strings and wipes the caller's header fields at an interim answer.
//
// Start reading at [Proxy.Forward]; [Trust] tells who the client is, [ParseOrigin] what an origin may be.
package proxy
