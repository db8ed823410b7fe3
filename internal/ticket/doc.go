// Package ticket makes and reads the sealed value of a waiting room's cookie: who the visitor is, when the
// visitor came, was accepted and was last seen, and when to ask again. The value alone restores a place after
// a restart or in another data center, so it is encrypted, authenticated and bound to its room.
//
// A [Ring] seals with its first key and opens with all of them, so a key is rotated by putting a new one in
// front and removing the old one a day later. Everything is a value: the time and the nonce are arguments, and
// what a ticket means is decided elsewhere. A text that cannot be opened is one of three errors, never a panic;
// the caller treats its bearer as a new visitor. Start reading at [Ticket] and [Ring.Append].
//
// # Form
//
// A sealed text is base64url without padding of 77 bytes, thus always 103 characters:
//
//	 1  version, 1
//	 4  id of the key
//	12  nonce
//	44  encrypted by AES-256-GCM: 16 id, 8 arrival, 8 accepted, 8 last seen (milliseconds since 1970),
//	    4 refresh interval (milliseconds); numbers are big-endian
//	16  tag
//
// The associated data is the room's id followed by the version and the id of the key. Each sealed text has one
// decoding and each decoding one text, so a value can be compared byte by byte.
package ticket
