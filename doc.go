// Package anteroom holds the words of the product: what a waiting room, a route, a method and an
// admission limit are, the bounds they keep, and the errors people and programs meet.
//
// It has no logic beyond these words and imports only the standard library. Every other package
// may import it; it imports none of them. Start reading at [Room].
package anteroom
