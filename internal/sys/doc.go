// Package sys is the only door to the clock, to randomness and to goroutines.
//
// Everything above level 0 takes its time from [Now] or a [Clock], its random draws from
// [RandomBytes] and starts its goroutines with a [Group], so that each goroutine has a name and an owner that waits for it.
// The linter forbids the same calls elsewhere. In tests a testing/synctest bubble makes the real
// clock a virtual one. Start reading at [Group].
package sys
