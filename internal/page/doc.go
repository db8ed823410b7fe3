// Package page renders what a waiting visitor sees: the default waiting page, an operator's own
// Mustache page, and the published cfWaitingRoom JSON object.
//
// Templates are compiled and checked once, when a room is configured; rendering appends bytes and
// asks nobody. The package knows no HTTP and decides nothing about the queue: a [View] goes in,
// bytes come out. Start reading at [View] and [Compile].
package page
