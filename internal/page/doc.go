// Package page renders what a waiting visitor sees: the default waiting page, an operator's own
// Mustache page, and the published cfWaitingRoom JSON object.
//
// Templates are compiled and checked once, when a room is configured; rendering appends bytes and
// asks nobody. The package knows no HTTP and decides nothing about the queue: a [View] goes in,
// bytes come out. Start reading at [View] and [Compile].
//
// # What the caller sends with a page
//
// The caller sends the Refresh header with every page and every JSON answer, in the whole seconds
// that [RefreshSeconds] gives, and leaves it out when that is 0. Without JavaScript the header
// alone moves the visitor on. The default page's script calls window.stop once the document has
// loaded, which cancels the pending refresh, and asks View.WaitURL instead; a browser whose script
// fails to start keeps the header's refresh.
//
// # What the page's script expects of View.WaitURL
//
// It sends GET with Accept: application/json and the cookies, and expects [AppendJSON]'s object
// with any status. An answer may be held up to 12 s; the script gives up after 30 s. A Retry-After
// header lengthens its next pause (at most 120 s). "yourTurn":true or "inWaitingRoom":false makes
// it load the asked path again, once. Two answers in a row whose ticketId is empty or another than
// before mean that the browser keeps no cookies: the page says so and asks no more. After a
// rejection ("isRejectQueue":true) it asks no more either. Errors make it ask ever more rarely, down
// to once a minute; a third answer in a row that is no such object, and neither 429 nor 5xx, makes it
// load the asked path, since the room may be gone.
package page
