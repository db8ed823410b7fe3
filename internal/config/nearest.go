package config

import "strings"

// nearest is the known field that a mistyped name most likely means; empty when none is close.
func nearest(name string, fields []field) string {
	name = strings.ToLower(name)
	best, bestDistance := "", max(2, len(name)/4)+1
	for _, f := range fields {
		if len(name) > 4*len(f.name) { // no need to measure a monster
			continue
		}
		if d := distance(name, f.name); d < bestDistance && d < len(f.name) {
			best, bestDistance = f.name, d
		}
	}
	return best
}

// distance is how many letters must be put in, left out or replaced to turn a into b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
