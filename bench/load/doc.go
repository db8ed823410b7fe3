// Command load measures the built program from outside, side by side with a peer on the same machine:
// the processor time per request of whole processes, start-up time, sizes. Everything is on loopback
// and bounded in connections and time.
//
// It starts the program, nginx and wrk itself and prints a table with medians and ratios; a single
// figure of a busy machine means little, the ratio within one run does. Start reading at main.
package main
