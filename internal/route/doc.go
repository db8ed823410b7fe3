// Package route decides which waiting room covers a host and a path. It compiles the routes of all rooms into a
// [Table] that never changes, and looks requests up in it without a lock or a copy.
//
// It forwards nothing and rewrites nothing: the origin gets the path as the visitor wrote it. Start reading at
// [Table.Match].
package route
