package config

import (
	"errors"

	"github.com/anteroom/anteroom"
)

// Checks are the rules that other packages know.
type Checks struct {
	// Template checks the source of a custom page in a room of this default language. Nil accepts
	// every source. Its error names line and column.
	Template func(source, language string) error
}

// Defaults is a room in which every optional field has its default.
func Defaults() anteroom.Room { return anteroom.Room{} }

// DecodeRoom reads the body of a POST or PUT: a room in which an absent field means its default. A
// field that is null, an enumeration that is "" or a number that is 0 where 0 has no meaning also
// mean the default. The error is an anteroom.Errors with every fault.
func DecodeRoom(body []byte, checks Checks) (anteroom.Room, error) {
	return anteroom.Room{}, errors.ErrUnsupported
}

// PatchRoom reads the body of a PATCH over the room as it is: an absent field keeps its value, null
// means the default. The error is an anteroom.Errors with every fault.
func PatchRoom(old anteroom.Room, body []byte, checks Checks) (anteroom.Room, error) {
	return old, errors.ErrUnsupported
}

// ValidateRoom checks a room that was not decoded here, such as one made from flags. The error is an
// anteroom.Errors with every fault.
func ValidateRoom(room *anteroom.Room, checks Checks) error { return errors.ErrUnsupported }

// Clashes are the faults of a room beside another one: an equal name in the same zone, or an equal
// host and path anywhere.
func Clashes(room, other *RoomRecord) anteroom.Errors { return nil }

// DecodeExtras reads the body of a PUT of extras: an absent field means its default.
func DecodeExtras(body []byte) (anteroom.Extras, error) {
	return anteroom.Extras{}, errors.ErrUnsupported
}

// PatchExtras reads the body of a PATCH of extras: an absent field keeps its value.
func PatchExtras(old anteroom.Extras, body []byte) (anteroom.Extras, error) {
	return old, errors.ErrUnsupported
}

// ValidateExtras checks extras that were not decoded here. The error is an anteroom.Errors.
func ValidateExtras(x *anteroom.Extras) error { return errors.ErrUnsupported }

// Languages lists the published locales of the default page, the default first.
func Languages() []string { return nil }
