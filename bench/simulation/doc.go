// Command simulation writes docs/simulation.md: it runs every named world and many random ones, and sets
// what they showed beside what was asked.
//
// The text of the page is report.tmpl; the tables and pictures come from internal/sim. Start reading at main.
package main
