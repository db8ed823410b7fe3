// Program mistaken runs a world, which it reads as JSON, and writes the result. The test of the known
// mistakes builds it with a core that makes one of them.
package main

import (
	"encoding/json"
	"log"
	"os"

	"github.com/anteroom/anteroom/internal/sim"
)

func main() {
	var w sim.World
	if err := json.NewDecoder(os.Stdin).Decode(&w); err != nil {
		log.Fatalf("read the world: %v", err)
	}
	r, err := sim.Run(w, nil)
	if err != nil {
		log.Fatalf("run the world: %v", err)
	}
	r.Passages, r.Series = nil, nil // nobody looks at them
	if err := json.NewEncoder(os.Stdout).Encode(r); err != nil {
		log.Fatalf("write the result: %v", err)
	}
}
