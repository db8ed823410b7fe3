// Package proxy carries an admitted request to the origin and the answer back.
//
// It decides what the origin gets to see (header fields, cookies, request target, framing), whether a
// failed attempt may be repeated, and what the visitor sees when the origin does not answer. It never
// decides who may enter: the gate does that and hands over a [Visit]. It keeps bytes as they came: the
// request target reaches the origin byte by byte, bodies stream both ways without a total time limit,
// and an answer that the origin broke off ends visibly broken.
//
// # Why not httputil.ReverseProxy
//
// The handler is written over [net/http.Transport]. ReverseProxy, told to flush at once, may flush an
// answer without a body before it is known to be complete: in HTTP/2 header and end are then two frames,
// and a gRPC client misses a status that consists of one header block. It also loses the values of
// request trailers, rewrites query strings and wipes the caller's header fields at an interim answer.
//
// # Repeating a request
//
//   - No connection could be made (name, TCP, TLS): one more attempt after a short pause, for every
//     method, with the whole body, because nothing was sent. Not after a time-out: the visitor has
//     waited enough.
//   - A connection from the pool was closed before a byte of the request was written: the transport
//     takes another one, for every method whose body is still at hand.
//   - The origin closed a connection from the pool after the request was written and before a byte of
//     the answer: repeated for GET, HEAD, OPTIONS and requests with an Idempotency-Key, since whether
//     the origin has worked on it is unknown.
//   - So that the last case does not hit the other methods, they take no connection that has rested for
//     more than half a second, or for more than half of the shortest rest that the origin was seen to
//     end. What remains is an origin that closes right after an answer without saying so: 502, never a
//     second delivery.
//   - An HTTP/2 connection broke before an answer: once more for GET, HEAD and OPTIONS, unless their own
//     header is so large that it may be the reason.
//   - In HTTP/2, when the origin says that it has not begun (GOAWAY, REFUSED_STREAM), and the body is
//     untouched or at most 64 KiB of it were read.
//
// # Limits of net/http that show through
//
// A request with both Content-Length and Transfer-Encoding reaches us as chunked alone and goes on as
// such; it cannot smuggle, but only the listener could refuse it. HTTP/2 visitors' Expect and
// unannounced request trailers are hidden from handlers: such a body is asked for as soon as an origin
// connection stands, and such trailers are lost. A close-delimited answer that ends early cannot be told
// from a whole one.
//
// Start reading at [Proxy.Forward]; [Trust] tells who the client is, [ParseOrigin] what an origin may be.
package proxy
