package queue_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/anteroom/anteroom/internal/queue"
)

// TestMerkleRootVectors compares roots with those that the program of docs/draw.md computes.
func TestMerkleRootVectors(t *testing.T) {
	t.Parallel()
	want := []string{
		"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		"c59dcc79e60ed611e281d99f3c976482cac300656e687cb741cd93802793df70",
		"feba94685c2b67e1eeef9c1133426c89061492495890af77357da9b1b4eef834",
		"1115003a6ba2be1d62bd01140fb28942e170e722ba45f147ab1d4e5d28f2b218",
		"e953d6dc683c7717910cedaa79203cf0b8b181b7b9f2625f8053a6409beeb88c",
		"66830f035fdfd791e54127fb2914005cddddc41831cd05a1ac85402112927580",
		"deb6ea659ebdf2ee96cbbcd0ca3473074b63351f475db86bd6c1d06409e61eb4",
		"db8a78f47de523c75a216865e789f6da0eb16edffeb28acc7939d0cb253e6b25",
	}
	ids := publicIDs(len(want) - 1)
	slices.SortFunc(ids, func(a, b queue.ID) int { return slices.Compare(a[:], b[:]) })
	for n, root := range want {
		if got := queue.MerkleRoot(ids[:n]); got.String() != root {
			t.Errorf("root of %d: %v, want %s", n, got, root)
		}
		if got := queue.NewMerkleTree(ids[:n]).Root(); got.String() != root {
			t.Errorf("root of a tree of %d: %v, want %s", n, got, root)
		}
	}
}

// TestMerkleProofsOfEveryLeaf: the proof of each leaf of each small tree holds, and no other one does.
func TestMerkleProofsOfEveryLeaf(t *testing.T) {
	t.Parallel()
	for n := range 70 {
		ids := publicIDs(n)
		tree := queue.NewMerkleTree(ids)
		root := tree.Root()
		if root != queue.MerkleRoot(ids) {
			t.Fatalf("%d leaves: tree and root differ", n)
		}
		if tree.Proof(-1) != nil || tree.Proof(n) != nil {
			t.Errorf("%d leaves: a proof beyond the list", n)
		}
		for i, id := range ids {
			proof := tree.Proof(i)
			if !queue.VerifyInclusion(root, n, i, id, proof) {
				t.Errorf("leaf %d of %d: the proof does not hold", i, n)
			}
			for at := range n + 1 {
				if at != i && queue.VerifyInclusion(root, n, at, id, proof) {
					t.Errorf("leaf %d of %d: the proof holds at %d too", i, n, at)
				}
			}
			if queue.VerifyInclusion(root, n, i, id, append(slices.Clone(proof), queue.Hash{})) {
				t.Errorf("leaf %d of %d: the proof holds with a hash more", i, n)
			}
			if len(proof) > 0 && queue.VerifyInclusion(root, n, i, id, proof[:len(proof)-1]) {
				t.Errorf("leaf %d of %d: the proof holds with a hash less", i, n)
			}
		}
	}
}

// TestMerkleProofTampered: one changed bit of root, id or proof of a tree of any size is found.
func TestMerkleProofTampered(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 3000).Draw(t, "leaves")
		ids := publicIDs(n)
		tree := queue.NewMerkleTree(ids)
		i := rapid.IntRange(0, n-1).Draw(t, "index")
		root, id, proof := tree.Root(), ids[i], tree.Proof(i)
		if root != queue.MerkleRoot(ids) || !queue.VerifyInclusion(root, n, i, id, proof) {
			t.Fatal("the proof does not hold")
		}
		bit := byte(1) << rapid.IntRange(0, 7).Draw(t, "bit")
		switch what := rapid.IntRange(0, 1+len(proof)).Draw(t, "what"); what {
		case 0:
			root[rapid.IntRange(0, 31).Draw(t, "byte")] ^= bit
		case 1:
			id[rapid.IntRange(0, 15).Draw(t, "byte")] ^= bit
		default:
			proof[what-2][rapid.IntRange(0, 31).Draw(t, "byte")] ^= bit
		}
		if queue.VerifyInclusion(root, n, i, id, proof) {
			t.Fatal("the tampering is not found")
		}
	})
}

// TestMerkleInnerNodeIsNoTicket: a list cannot be shortened by taking inner nodes for tickets.
func TestMerkleInnerNodeIsNoTicket(t *testing.T) {
	t.Parallel()
	ids := publicIDs(4)
	tree := queue.NewMerkleTree(ids)
	proof := tree.Proof(0)
	inner := queue.ID(proof[1][:16])
	if queue.VerifyInclusion(tree.Root(), 2, 1, inner, proof[:1]) {
		t.Error("an inner node passes for a ticket")
	}
}
