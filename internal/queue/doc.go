// Package queue decides who waits and who enters a waiting room. It is the core of the product:
// pure values in, values out; time and random draws are arguments, nothing here reads a clock,
// starts a goroutine, takes a lock or writes to a disk.
//
// Two state machines share the work, also when both live in one process. [Local] is the coordinator
// of a room in one data center: it knows each ticket and each session there and answers visitors.
// [Global] is the coordinator of the room over all data centers: it owns the limits and hands out
// rights (one active session each) and permits (one admission each, cooling for a minute). They
// talk in [Report] and [Grant] values only. A visitor is admitted when the data center holds an
// idle right and an idle permit, so the sum over data centers can never exceed a limit.
//
// The caller serialises calls to one machine, gives times that never go back, and carries out what
// the methods return in the order in which they return it. Start reading at [Local.Ask].
package queue
