// Package demo is what "anteroom serve --demo" shows: a sample shop as the origin, a room that is
// tight enough for a line to form within seconds, and simulated visitors.
//
// The visitors are real HTTP clients with a cookie jar each that do as the waiting page tells them;
// they are few, stop with their context and use no more than a named number of connections. Nothing
// here is used outside the demonstration and the tests. Start reading at [Visitors.Run].
package demo
