// Package store keeps the configuration in a JetStream key-value bucket: accounts, zones and rooms
// with revisions, a watch that turns every change into an immutable snapshot, an export to a plain
// file, and the few secrets of a node.
//
// It validates nothing beyond what needs the whole configuration (unique names and routes): values
// come checked from config. A write returns once this node has seen it. The API, the gate and the
// dashboard use it through small interfaces of their own. Start reading at [Open].
package store
