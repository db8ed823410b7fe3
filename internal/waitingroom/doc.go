// Package waitingroom is the gate: it decides for each HTTP request whether a room covers it, and
// whether the visitor enters, waits or is told otherwise.
//
// The decision is a function from a small [Request] value to an [Answer] value, [Gate.Decide]. It
// knows no HTTP library, reads no clock and draws nothing: time, random draws and the nonce come
// with the request, so the same request gets the same answer. [Handler] is the thin adapter for
// net/http around an origin; other listeners use the same function. Who waits and who enters is
// decided behind the [Rooms] interface; the gate opens the cookie, asks, seals what the room said
// and chooses the form of the answer. Start reading at [Gate.Decide].
//
// # Which request may do what
//
// [Kind] says what the client wants, by its headers. It decides what a request may cause:
//
//   - A navigation, and a poll of a program that prefers JSON, takes a place in line and enters
//     when its turn has come.
//   - A sub-resource, a websocket or a service worker's script needs a session. Without one it
//     takes no place in a full room and gets no cookie; in a room with free places it begins a
//     session like any other request.
//   - A background request of a script (fetch, XMLHttpRequest) that does not prefer JSON is treated
//     in the same way as long as it only reads, and as long as the visitor waits: a forgotten tab
//     that refreshes itself must not use up the admission that the visible waiting page waits
//     for. A POST or another unsafe method of a visitor without a place takes one, because a person
//     pressed something. The script reads the Anteroom-State header, loads the page again when it
//     says "turn", or asks with Accept: application/json and then enters itself.
//   - A speculative load (prefetch, prerender) has no effect at all.
//   - A CORS preflight goes to the origin; see docs/decisions/0003-preflight.md.
//
// # The answers of a visitor who waits
//
// All of them carry Cache-Control: no-store and Anteroom-State (waiting, turn or rejected), never
// an ETag and never status 304. A page has the room's queueing_status_code, and so has JSON when
// the room has json_response_enabled. Everything that is not a navigation gets 429, upgrades,
// speculative loads and service worker scripts 503: a program never takes the waiting page for the
// thing that it asked for. A program that prefers JSON gets JSON in any case, with 429 when the
// room has not enabled it.
//
// # The cookie
//
// The name is __anteroom, or __anteroom_SUFFIX with the room's cookie_suffix. The gate owns all
// names that begin in this way: it never shows them to the origin. When two rooms of one host would
// share a name, the later one's cookie ends in its room id instead, so that a visitor keeps the
// places in both; reading accepts every such name, because the room is sealed into the value, so
// that the removal of a room changes no one's place. The cookie has no Domain: it belongs to the
// exact host, and a room with routes on several hosts gives a visitor one place for each of them.
// While a visitor waits it lasts 300 s from the last answer, so a restart of the browser keeps the
// place. SameSite and Secure in the position auto follow the connection of the visitor: None and
// Secure over HTTPS, so that the room works in foreign frames, Lax without Secure otherwise.
// SameSite none becomes Lax where Secure is auto and the visitor came without HTTPS: browsers
// refuse None without Secure, and that visitor would never advance.
//
// # The lane
//
// Nearly all requests of a busy room are polls of visitors whose turn has not come. [Lane] is a
// listener in front of the http.Server that answers exactly these, at a fraction of the cost, and hands
// every other connection over as if nobody had read from it. It has no power of its own: it asks
// rooms only in ways that admit nobody, and it does not know the origin. Its answers are the same as
// Handler's to the byte of each header; docs/decisions/0007-lane.md says why it exists.
//
// # When the coordinator does not answer
//
// A visitor whose cookie says that the session is in force goes on to the origin. Everyone else gets the
// waiting page or JSON with status 503, an unknown wait and a short Refresh. In both cases the
// cookie is sealed again with the time of the request, because it is the only witness that
// the visitor is still here: nobody loses a place or a session by a coordinator's absence.
package waitingroom
