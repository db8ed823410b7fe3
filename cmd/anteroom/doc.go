// Command anteroom runs a waiting room in front of a web site.
//
// It parses the command line, builds a node with internal/edge and prints what a person needs to
// know; it has no logic of its own. Wrong input ends with exit code 2 and a message that names the
// thing and the remedy, a failure while running with 1. Start reading at run.
package main
