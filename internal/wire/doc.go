// Package wire knows the byte forms of what the queue core stores and sends: journal records, the
// reports and grants between data centers, and the ledger of bounds.
//
// It only encodes and decodes; it opens no file and no connection. Every form has its page in
// docs/wire.md, is the only form of its value, and refuses what it does not know: coordinators
// call it with bytes that came over a network or from a disk. Start reading at [AppendReport], for the
// journal at [AppendRecord].
package wire
