// Package edge builds a node from its options: it opens the bus, the store and the coordinators,
// compiles the rooms into the gate, and starts the listeners for visitors and for the operator.
//
// It is the only package that knows all others. Each of them declares the small interfaces it needs;
// edge hands them over and translates where two of them use different words. It has no logic about
// rooms or requests of its own. Start reading at [New], then [Node.Start] and [Node.Stop].
package edge
