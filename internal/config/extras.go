package config

import (
	"time"

	"github.com/anteroom/anteroom"
)

// Bounds of Extras.SessionDuration.
const (
	SessionMin = time.Second
	SessionMax = 24 * time.Hour
)

// DecodeExtras reads the body of a PUT of extras: an absent field means its default.
func DecodeExtras(body []byte) (anteroom.Extras, error) {
	return PatchExtras(anteroom.Extras{}, body)
}

// PatchExtras reads the body of a PATCH of extras: an absent field keeps its value.
func PatchExtras(old anteroom.Extras, body []byte) (anteroom.Extras, error) {
	n, fault := parseJSON(body)
	if fault != nil {
		return old, anteroom.Errors{fault}
	}
	x, f := old, newFaults()
	readExtras(reader{f}, n, "", &x)
	checkExtras(f, "", &x)
	if err := f.list.OrNil(); err != nil {
		return old, err
	}
	return x, nil
}

// ValidateExtras checks extras that were not decoded here. The error is an anteroom.Errors.
func ValidateExtras(x *anteroom.Extras) error {
	f := newFaults()
	checkExtras(f, "", x)
	return f.list.OrNil()
}

func readExtras(r reader, n *node, path string, x *anteroom.Extras) {
	if n.kind != objectKind {
		r.wrongType(n, path, "an object")
		return
	}
	r.object(n, path, []field{{"session_duration", r.duration(&x.SessionDuration)}})
}

func checkExtras(f *faults, path string, x *anteroom.Extras) {
	at := child(path, "session_duration")
	switch d := time.Duration(x.SessionDuration); {
	case d == 0: // not set: the room's own minutes apply
	case d < SessionMin:
		f.add(at, "%s is below %s", d, SessionMin).WithHint("the range is %s to %s", SessionMin, SessionMax)
	case d > SessionMax:
		f.add(at, "%s is above %s", d, SessionMax).WithHint("the range is %s to %s", SessionMin, SessionMax)
	}
}
