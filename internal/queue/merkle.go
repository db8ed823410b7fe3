package queue

import (
	"crypto/sha256"
	"encoding/hex"
)

// Hash is a SHA-256 sum.
type Hash [sha256.Size]byte

// String is the hash in 64 hexadecimal digits.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// MarshalText is String as bytes.
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText reads 64 hexadecimal digits.
func (h *Hash) UnmarshalText(text []byte) error { return readHex(h[:], string(text)) }

// The first byte of what is hashed keeps leaves and inner nodes apart, so that nobody can pass off an
// inner node as a ticket.
const (
	merkleLeaf = 0x00
	merkleNode = 0x01
)

func leafHash(id ID) Hash {
	var b [1 + len(ID{})]byte
	b[0] = merkleLeaf
	copy(b[1:], id[:])
	return sha256.Sum256(b[:])
}

func nodeHash(left, right Hash) Hash {
	var b [1 + 2*sha256.Size]byte
	b[0] = merkleNode
	copy(b[1:], left[:])
	copy(b[1+sha256.Size:], right[:])
	return sha256.Sum256(b[:])
}

// MerkleRoot is the Merkle tree hash of RFC 6962 over the ids in the given order. It is what a room
// publishes at the seal: with it no id can be added, removed or exchanged afterwards. It needs no
// memory that grows with the list.
func MerkleRoot(ids []ID) Hash {
	if len(ids) == 0 {
		return sha256.Sum256(nil)
	}
	var open []Hash // roots of the full subtrees so far, one for each bit of the number of leaves
	for i, id := range ids {
		h := leafHash(id)
		for n := i; n&1 == 1; n >>= 1 {
			h = nodeHash(open[len(open)-1], h)
			open = open[:len(open)-1]
		}
		open = append(open, h)
	}
	root := open[len(open)-1]
	for i := len(open) - 2; i >= 0; i-- {
		root = nodeHash(open[i], root)
	}
	return root
}

// MerkleTree proves that single tickets are in a sealed list. It takes 64 bytes for each ticket; who
// needs the root alone has [MerkleRoot].
type MerkleTree struct {
	// levels begins with the leaves and ends with the root. The last node of a level with an odd
	// number of nodes stands in the next level as it is.
	levels [][]Hash
}

// NewMerkleTree builds the tree over the ids in the given order.
func NewMerkleTree(ids []ID) *MerkleTree {
	level := make([]Hash, len(ids))
	for i, id := range ids {
		level[i] = leafHash(id)
	}
	t := &MerkleTree{levels: [][]Hash{level}}
	for len(level) > 1 {
		next := make([]Hash, 0, (len(level)+1)/2)
		for i := 0; i+1 < len(level); i += 2 {
			next = append(next, nodeHash(level[i], level[i+1]))
		}
		if len(level)%2 == 1 {
			next = append(next, level[len(level)-1])
		}
		t.levels = append(t.levels, next)
		level = next
	}
	return t
}

// Root is the same hash that [MerkleRoot] gives.
func (t *MerkleTree) Root() Hash {
	top := t.levels[len(t.levels)-1]
	if len(top) == 0 {
		return sha256.Sum256(nil)
	}
	return top[0]
}

// Proof lists the hashes with which [VerifyInclusion] gets from the id at the index to the root, nil
// when there is no such index. A tree of five million ids has proofs of at most 23 hashes.
func (t *MerkleTree) Proof(index int) []Hash {
	if index < 0 || index >= len(t.levels[0]) {
		return nil
	}
	var proof []Hash
	for _, level := range t.levels[:len(t.levels)-1] {
		if beside := index ^ 1; beside < len(level) {
			proof = append(proof, level[beside])
		}
		index >>= 1
	}
	return proof
}

// VerifyInclusion tells whether the id stands at the index of the list with this root and count. It is
// the check of RFC 9162, section 2.1.3.2.
func VerifyInclusion(root Hash, count, index int, id ID, proof []Hash) bool {
	if index < 0 || index >= count {
		return false
	}
	h := leafHash(id)
	last := count - 1
	for _, beside := range proof {
		switch {
		case last == 0:
			return false // more hashes than levels
		case index&1 == 1:
			h = nodeHash(beside, h)
		case index == last: // an odd node: it was handed up until it had a neighbour on its left
			h = nodeHash(beside, h)
			for index&1 == 0 {
				index >>= 1
				last >>= 1
			}
		default:
			h = nodeHash(h, beside)
		}
		index >>= 1
		last >>= 1
	}
	return last == 0 && h == root
}
