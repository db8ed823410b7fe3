// Package sim runs waiting rooms in virtual time: data centers, the network between them, faults and
// visitors are simulated, the queue core is the product's own. One seed reproduces a run exactly.
//
// An observer outside the system counts real people and believes nothing that a room says about
// itself; checkers look at each invariant of docs/simulation.md while the run goes on. The algorithm
// that was published for waiting rooms before is a second implementation behind the same small
// interface, for comparison.
//
// Start reading at World, which describes a run, and Run, which carries it out.
package sim
