// Package bus runs the embedded NATS server with JetStream on disk and hands out connections to it.
// It owns the data directory: a lock file keeps a second process out, and a store that cannot be
// read completely is an error at the start, never silently an empty one.
//
// It knows nothing of rooms or visitors, and a lone node opens no port. The store and the
// coordinators use its connections; internal/edge opens and closes it. Start reading at [Open].
package bus
