package anteroom

import (
	"encoding/json"
	"fmt"
	"time"
)

// Duration is a time.Duration that reads and writes as text such as "90s" in JSON and YAML.
type Duration time.Duration

// MarshalJSON writes the duration as text; zero is "0s".
func (d Duration) MarshalJSON() ([]byte, error) {
	return json.Marshal(time.Duration(d).String())
}

// UnmarshalJSON reads text that time.ParseDuration knows.
func (d *Duration) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return fmt.Errorf("a duration is text such as \"90s\" or \"5m\", not %s", b)
	}
	v, err := time.ParseDuration(s)
	if err != nil {
		return fmt.Errorf("a duration is text such as \"90s\" or \"5m\": %w", err)
	}
	*d = Duration(v)
	return nil
}
