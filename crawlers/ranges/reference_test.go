package ranges

import (
	"flag"
	"fmt"
	"maps"
	"math/big"
	"math/rand/v2"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robobatch/robobatch/internal/testdata/repcase"
)

var rows = flag.Int("rows", 100_000, "how many requests TestReference compares for each set of lists")

// refer is section 12 word by word: the slow reference for Verify. lists are those of the crawler.
func refer(lists [][]snapshot, client netip.Addr, at int64, age time.Duration) Answer {
	client = client.WithZone("").Unmap()
	if !client.IsValid() || !refersGlobal(client) {
		return Null
	}
	if len(lists) == 0 {
		return Unpublished
	}
	said := map[Answer]int{}
	for _, list := range lists {
		said[referList(list, client, at, age)]++
	}
	switch {
	case said[Yes] > 0:
		return Yes
	case said[No] == len(lists):
		return No
	}
	return Stale
}

// referList returns the answer of one list.
func referList(list []snapshot, client netip.Addr, at int64, age time.Duration) Answer {
	var before, after int64 = NoTime, NoTime // the times of B and A
	timed := false
	for _, s := range list {
		if s.time == NoTime {
			continue
		}
		timed = true
		if s.time <= at && (before == NoTime || s.time > before) {
			before = s.time
		}
		if s.time > at && (after == NoTime || s.time < after) {
			after = s.time
		}
	}
	if at == NoTime || !timed {
		for _, s := range list {
			if hasAddress(s, client) {
				return Yes
			}
		}
		return No
	}
	yes, no := false, false
	for _, moment := range []int64{before, after} {
		if moment == NoTime {
			continue
		}
		has := false
		for _, s := range list { // all files with that time count
			has = has || s.time == moment && hasAddress(s, client)
		}
		apart := new(big.Int).Sub(big.NewInt(moment), big.NewInt(at))
		apart.Mul(apart.Abs(apart), big.NewInt(1000)) // in nanoseconds
		yes = yes || has && apart.Cmp(big.NewInt(int64(90*24*time.Hour))) <= 0
		no = no || !has && apart.Cmp(big.NewInt(int64(age))) <= 0
	}
	switch {
	case yes:
		return Yes
	case no:
		return No
	}
	return Stale
}

func hasAddress(s snapshot, client netip.Addr) bool {
	for _, p := range s.prefixes {
		if p.Contains(client) {
			return true
		}
	}
	return false
}

// refersGlobal finds the longest prefix of the registries without a table.
func refersGlobal(client netip.Addr) bool {
	bits, global := -1, true
	for _, s := range specialPrefixes {
		if s.prefix.Contains(client) && s.prefix.Bits() > bits {
			bits, global = s.prefix.Bits(), s.reachable
		}
	}
	return global
}

// edges returns the addresses at and next to both ends of a prefix.
func edges(p netip.Prefix) []netip.Addr {
	last := p.Addr().AsSlice()
	for i := p.Bits(); i < len(last)*8; i++ {
		last[i/8] |= 1 << (7 - i%8)
	}
	end, _ := netip.AddrFromSlice(last)
	return []netip.Addr{p.Addr(), end, p.Addr().Prev(), end.Next()}
}

// TestReference compares Verify with the reference, for generated lists and real ones of three dates, for addresses at
// all edges of prefixes and random ones, and for times at all edges of the ages.
func TestReference(t *testing.T) {
	seen := map[Answer]int{}
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		g := gatherer{found: map[string]*foundList{}}
		for i := range 1 + rng.IntN(3) {
			f := &foundList{tokens: []string{"Examplebot"}}
			for range 1 + rng.IntN(5) {
				f.snapshots = append(f.snapshots, randomSnapshot(rng))
			}
			g.found[fmt.Sprint("list", i)] = f
		}
		for answer, n := range compare(t, rng, &g, *rows/20) {
			seen[answer] += n
		}
	}
	for answer := range answers {
		if seen[Answer(answer)] == 0 {
			t.Errorf("no request of %v was answered by %q", seen, Answer(answer))
		}
	}
	compareFiles(t, "testdata")
}

// TestReferenceShared compares them for all real lists.
func TestReferenceShared(t *testing.T) {
	compareFiles(t, filepath.Join(repcase.SharedDir(t), "data", "ranges"))
}

// compareFiles compares them for the lists below a directory.
func compareFiles(t *testing.T, dir string) {
	t.Helper()
	g := gatherer{names: Names(), found: map[string]*foundList{}}
	if g.gather(dir); len(g.errs) > 0 || len(g.found) == 0 {
		t.Fatalf("%d lists, %v", len(g.found), g.errs)
	}
	compare(t, rand.New(rand.NewPCG(1, 2)), &g, *rows)
}

// randomSnapshot returns a few prefixes that are close to each other, so that they nest and repeat.
func randomSnapshot(rng *rand.Rand) snapshot {
	s := snapshot{time: NoTime, name: "list.json"}
	if rng.IntN(8) > 0 {
		s.time = int64(rng.IntN(20)) * (10 * 24 * time.Hour).Microseconds()
	}
	for range 1 + rng.IntN(6) {
		p := netip.PrefixFrom(netip.AddrFrom4([4]byte{66, byte(rng.IntN(2)), byte(rng.IntN(4)), byte(rng.IntN(256))}), 8+rng.IntN(25))
		if rng.IntN(3) == 0 {
			p = netip.PrefixFrom(netip.AddrFrom16([16]byte{0x20, 1, 0x48, 0x60, byte(rng.IntN(2)), byte(rng.IntN(3)), 15: byte(rng.IntN(4))}), 24+rng.IntN(105))
		}
		s.prefixes = append(s.prefixes, p.Masked())
	}
	return s
}

// compare calls Verify and the reference n times, and returns the counts of answers.
func compare(t *testing.T, rng *rand.Rand, g *gatherer, n int) (seen map[Answer]int) {
	t.Helper()
	var clients []netip.Addr
	moments := []int64{NoTime, NoTime + 1, 1<<63 - 1, 0}
	byToken := map[string][][]snapshot{}
	for _, name := range slices.Sorted(maps.Keys(g.found)) {
		f := g.found[name]
		for _, token := range f.tokens {
			token = strings.ToLower(token)
			byToken[token] = append(byToken[token], f.snapshots)
		}
		for _, s := range f.snapshots {
			for _, p := range s.prefixes {
				clients = append(clients, edges(p)...)
			}
			if s.time == NoTime {
				continue
			}
			for _, age := range []time.Duration{0, DefaultAge, trust} {
				for _, delta := range []int64{-1, 0, 1} {
					moments = append(moments, s.time+age.Microseconds()+delta, s.time-age.Microseconds()+delta)
				}
			}
		}
	}
	l := &Lists{speakers: []speaker{{}}, byToken: map[string]Speaker{}, proofs: []string{""}, age: DefaultAge}
	l.build(g)
	tokens := append([]string{"nobody"}, l.tokens()...)
	seen = map[Answer]int{}
	for range n {
		token, client, at := tokens[rng.IntN(len(tokens))], clients[rng.IntN(len(clients))], moments[rng.IntN(len(moments))]
		switch rng.IntN(10) {
		case 0:
			client = netip.AddrFrom4([4]byte{byte(rng.Uint32()), byte(rng.Uint32()), byte(rng.Uint32()), byte(rng.Uint32())})
		case 1:
			client = netip.Addr{}
		case 2:
			if client.Is4() {
				client = netip.AddrFrom16(client.As16())
			}
		}
		want := refer(byToken[token], client, at, DefaultAge)
		got, proof := l.Verify(l.Speaker(token), client, at)
		if got != want {
			t.Fatalf("%s from %s at %d: %v, the reference says %v", token, client, at, got, want)
		}
		if (proof != 0) != (got == Yes) {
			t.Fatalf("%s from %s at %d: %v with the proof %q", token, client, at, got, l.ProofName(proof))
		}
		if proof != 0 {
			checkProof(t, l.ProofName(proof), client)
		}
		seen[got]++
	}
	return seen
}

// checkProof checks that a proof names a prefix that contains the address.
func checkProof(t *testing.T, name string, client netip.Addr) {
	t.Helper()
	var file, prefix string
	if _, err := fmt.Sscan(name, &file, &prefix); err != nil {
		t.Fatalf("proof %q: %v", name, err)
	}
	if p := netip.MustParsePrefix(prefix); !p.Contains(client.Unmap()) {
		t.Fatalf("proof %q for %s", name, client)
	}
}

// tokens returns the tokens that have lists, in lower case and sorted.
func (l *Lists) tokens() (all []string) {
	for token, s := range l.byToken {
		if len(l.speakers[s].lists) > 0 {
			all = append(all, token)
		}
	}
	slices.Sort(all)
	return all
}
