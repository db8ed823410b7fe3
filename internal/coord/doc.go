// Package coord runs the queue core: it owns the coordinator of each room on this node, feeds it
// with visitors' requests and the passing of time, wakes held requests when a turn comes, and makes
// what the core decides durable before anybody acts on it.
//
// It decides nothing about who waits or enters; that is the queue package. Each room has one lock and
// one journal file. A journal is replayed at the start, so that a killed process comes back with every
// place, every session and every cooling permit. The waiting room's gate, the API and the dashboard
// ask it. Start reading at [Open] and [Node.Ask].
package coord
