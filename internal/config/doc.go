// Package config turns bytes into configuration: strict decoding, defaults and validation of rooms,
// their extras and whole site files, with all faults at once, each with its place, the given value,
// the allowed range and advice. It also holds the shapes in which configuration travels between the
// other packages: [RoomRecord] and [Snapshot].
//
// It never reads a file, an environment variable or the network, and it changes nothing but the
// value it returns. The API, the store, the command line and the dashboard call it. Start reading
// at [DecodeRoom].
package config
