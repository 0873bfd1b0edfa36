//go:build amd64 && !purego

package automaton

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/internal/testdata/guardpage"
)

// needVectors skips a test on processors without the instructions.
func needVectors(tb testing.TB) {
	tb.Helper()
	if !hasVectors {
		tb.Skip("the processor lacks AVX2")
	}
}

// checkVectors compares all vector instructions on a path with their Go counterparts.
func checkVectors(tb testing.TB, a *Automaton, path []byte) {
	tb.Helper()
	checkFind(tb, path)
	if len(path) < shortest || len(a.table) == 0 {
		return
	}
	if got, want := slashesAVX2(&path[0], len(path)), slashesGeneric(path); got != want {
		tb.Fatalf("%q: keys %x begin at a '/', want %x", path, got, want)
	}
	var work, want [2*triedLimit + 1]pending
	best, n := walkBMI2(&a.table[0], &path[0], len(path), &work[0])
	wantBest, wantN, _ := a.table.walkGeneric(path, want[:])
	if best != wantBest || n != wantN || !slices.Equal(work[:n], want[:n]) {
		tb.Fatalf("%q: the walk gives rank %d and %d nodes, want %d and %d", path, best, n, wantBest, wantN)
	}
	if a.search != nil {
		return
	}
	for _, p := range want[:n] {
		group := p.group
		checkGroup(tb, a.table, group, path)
		for a.table[group]&moreGroups != 0 {
			group = a.table.u24(group - 3)
			checkGroup(tb, a.table, group, path)
		}
	}
	best, n, end := siftAVX2(&a.table[0], &path[0], len(path), &work[0])
	wantEnd := wantN + a.table.siftGeneric(path, want[:wantN], wantBest)
	if best != wantBest || n != wantN || end != wantEnd || !slices.Equal(work[n:end], want[n:end]) {
		tb.Fatalf("%q: groups %v remain, want %v", path, work[n:end], want[n:wantEnd])
	}
}

// checkGroup compares the results for a group from each position of a path.
func checkGroup(tb testing.TB, t table, group uint32, path []byte) {
	tb.Helper()
	for pos := range path {
		got := scanAVX2(&t[0], int(group), &path[0], len(path), pos)
		if want := t.scanGeneric(group, path, pos); got != want {
			tb.Fatalf("%q from %d: buckets %b are found, want %b", path, pos, got, want)
		}
		if t[group]&^moreGroups != 0 {
			continue
		}
		var hashes, want [hitsRoom]uint16
		n, has := hitsAVX2(&t[0], int(group), &path[0], len(path), pos, &hashes[0])
		wantN, wantHas := t.hitsGeneric(group, path, pos, &want)
		if n >= maxHits && wantN >= maxHits {
			continue
		}
		if n != wantN || has != wantHas || !slices.Equal(hashes[:n], want[:n]) {
			tb.Fatalf("%q from %d: hashes %x and bits %x, want %x and %x", path, pos, hashes[:n], has, want[:wantN], wantHas)
		}
	}
}

// checkFind compares the positions of windows in a path: windows that it contains, and similar ones.
func checkFind(tb testing.TB, path []byte) {
	tb.Helper()
	if len(path) < blockSize {
		return
	}
	for i := range path[printSize-1:] {
		window := [printSize]byte(path[i:])
		for range 2 {
			if got, want := findAVX2(&path[0], len(path), &window[0]), findGeneric(path, window[:]); got != want {
				tb.Fatalf("%q: %q is found at %d, want %d", path, window, got, want)
			}
			window[i%printSize] ^= 1
		}
	}
}

// TestVectors compares vector instructions with their Go counterparts, on paths at the end and the start of readable
// memory, of every length and alignment.
func TestVectors(t *testing.T) {
	needVectors(t)
	before, behind := guardpage.New(t)
	rng := rand.New(rand.NewPCG(11, 9309))
	rounds := 60
	if testing.Short() {
		rounds = 8
	}
	for range rounds {
		rules := vectorRules(rng, 1+rng.IntN(200))
		a := &Automaton{}
		if _, err := a.compileWith(rules, limits{grouped: rng.IntN(groupSize + 1), tried: triedLimit}); err != nil {
			t.Fatal(err)
		}
		text := bytes.Repeat(vectorPath(rng, rules), 12)
		for n := shortest; n <= min(160, len(text)); n++ {
			at := rng.IntN(len(text) - n + 1)
			for _, page := range [][]byte{before[:n], behind[len(behind)-n:], before[n&63:][:n]} {
				copy(page, text[at:])
				page[0] = '/'
				checkVectors(t, a, page)
			}
		}
	}
}

// TestVectorsAligned compares them on paths of each length up to slightly more than four blocks, at each of 64
// consecutive addresses, with an index and with groups.
func TestVectorsAligned(t *testing.T) {
	needVectors(t)
	_, behind := guardpage.New(t)
	rng := rand.New(rand.NewPCG(13, 9309))
	rules := vectorRules(rng, 150)
	text := bytes.Repeat(vectorPath(rng, rules), 12)
	step := 1
	if testing.Short() {
		step = 7
	}
	for _, grouped := range []int{0, groupedLimit, groupSize * groupSize} {
		a := &Automaton{}
		if _, err := a.compileWith(rules, limits{grouped: grouped, tried: triedLimit}); err != nil {
			t.Fatal(err)
		}
		for n := shortest; n <= 4*blockSize+2; n++ {
			for align := n % step; align < 64; align += step {
				path := behind[len(behind)-n-align:][:n]
				copy(path, text[(n*64+align)%(len(text)-n):])
				path[0] = '/'
				checkVectors(t, a, path)
			}
		}
	}
}

// TestVectorsTable compares them with tables at the end of readable memory.
func TestVectorsTable(t *testing.T) {
	needVectors(t)
	_, behind := guardpage.New(t)
	rng := rand.New(rand.NewPCG(12, 9309))
	for range 300 {
		rules := vectorRules(rng, 1)
		a := &Automaton{}
		if _, err := a.compileWith(rules, limits{grouped: rng.IntN(2), tried: triedLimit}); err != nil {
			t.Fatal(err)
		}
		if len(a.table) == 0 || len(a.table) > len(behind) {
			continue
		}
		a.table = append(behind[len(behind)-len(a.table):][:0], a.table...)
		for range 20 {
			checkVectors(t, a, vectorPath(rng, rules))
		}
	}
}

func FuzzVectors(f *testing.F) {
	needVectors(f)
	f.Add("/*a\n/*b$\n/c*d", "/abcdefghijklmnopqrstuvwxyz/abcdefghijklmnopqrstuvwxyz/abcdefghijklmnopqrstuvwxyz")
	f.Add("/*?q=\n/*.js$\n/*.css$", "/shop/index.css")
	f.Add("/*ab\n/*wxyz1\n/*wxyz2\n/*wxyz3\n/*1wxyz\n/*2wxyz\n/*3wxyz\n/*4wxyz\n/*5wxyz\n/*6wxyz\n/*abcdefgh$\n/*bcdefghi$\n/*/a/b/c\n/*/c/b/a\n", "/wxyz3/a/b/c/abcdefgh")
	f.Add(strings.Repeat("/*xyz\n/*x\n/y*zz\n", 30), "/xyzxyzxyz")
	f.Fuzz(func(t *testing.T, text, path string) {
		var rules []Rule
		for pattern := range strings.SplitSeq(text, "\n") {
			rules = append(rules, Rule{Pattern: pattern})
		}
		for _, grouped := range []int{0, groupSize} {
			a := &Automaton{}
			if _, err := a.compileWith(rules, limits{grouped: grouped, tried: triedLimit}); err == nil {
				checkVectors(t, a, []byte(path))
			}
		}
	})
}
