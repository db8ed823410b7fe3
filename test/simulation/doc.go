// Package simulation asserts the numbers of the simulator on fixed seeds, in runs as long as those of the
// report: the limits under random faults, the use of the room, the order of turns, the fairness of a lottery,
// and the invariants in each named world. Shorter runs of the same kind stand in internal/sim, where the
// race detector watches them.
//
// The package has no code but tests. A run that fails names the command that repeats it.
package simulation
