// Package route decides which waiting room covers a host and a path. It compiles the routes of all rooms into a
// [Table] that never changes, and looks requests up in it without a lock and, for ordinary requests, without an
// allocation. It forwards nothing and rewrites nothing: the origin gets the path as the visitor wrote it.
// Start reading at [Table.Match].
//
// # Which reading of a path counts
//
// Behind the gate stands a server that we do not know, and servers disagree on what a path means. For
// "/x/..;/shop" one serves /shop (it drops ";" and what follows) and another a file with an odd name. Whoever
// guesses one server leaves a way around the room at all others. So Match asks what any of them could serve:
//
//   - Percent-escapes are decoded, again and again until none is left, with overlong UTF-8, %uXXXX, and
//     compatibility characters such as the full-width slash taken for the plain ones.
//   - "/" and "\" end a segment. In a segment, what follows ";", "?", "#" or NUL does not count, nor do spaces
//     and dots at its end. Empty segments and "." do not count.
//   - A path without ".." is then looked up segment by segment, and the longest route wins. If it begins with two
//     slashes, it is also looked up without its first segment, which some servers take for a host name; with
//     escapes or "\" in it, it is treated as if it had "..", for it is not certain where that name ends.
//   - Servers differ on what ".." removes. Whatever is left at any of them is a part of the segments in their
//     order, so a path with ".." is covered by each route whose segments occur in it in this order; the longest one
//     wins. Browsers and other well-meaning clients resolve ".." before they ask: this widens rooms for no one else.
//
// A path of the last two kinds may reach two rooms, and then neither is right: with a strict room at /shop and an
// easy one at /news the origin may serve /shop for "/news/..%2fshop". [Table.Split] tells such paths; answer 400.
//
// Routes are put into the same form, so "/caf%C3%A9" and "/café" are one route. What does not count in a request
// does not count in a route either.
//
// Letters keep their case in paths, as published. Before an origin that ignores case, a route for /shop does not
// cover /SHOP; there a route should be "/" or the origin should refuse the other spellings. Bytes of other
// encodings than UTF-8 are compared as they are. A host that no route names and no "*" covers has no room, even
// when the origin serves it by default: the edge must refuse hosts that it does not know.
package route
