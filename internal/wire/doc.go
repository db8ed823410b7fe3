// Package wire knows the byte forms of what the queue core stores and sends: journal records now,
// reports and grants between data centers with the cluster.
//
// It only encodes and decodes; it opens no file and no connection. Every form is documented beside
// its code, carries a version where it is stored, and refuses what it does not know. Start reading
// at [AppendRecord].
package wire
