// Package endtoend tests the program as it is shipped: the real binary, real HTTP clients over
// loopback, and an origin that counts for itself who is inside. What the room says about its own
// counts is never taken for an answer.
//
// The package has no code but tests; each test bounds its clients, requests and time.
package endtoend
