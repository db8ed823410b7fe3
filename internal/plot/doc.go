// Package plot draws the pictures of a simulation: the course of a room and heat maps, as PNG files. It
// decides nothing and knows no room; whoever calls it hands over plain numbers.
package plot
