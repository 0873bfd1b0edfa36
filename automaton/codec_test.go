package automaton

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// A codecSet has rules, and the way in which they are compiled.
type codecSet struct {
	rules []Rule
	limits
}

func (c *codecSet) encode(tb testing.TB) (*Automaton, []byte) {
	tb.Helper()
	a := &Automaton{}
	_, err := a.compileWith(c.rules, c.limits)
	if err != nil {
		tb.Fatal(err)
	}
	return a, a.AppendBinary(nil)
}

// codecSets have rules in all forms: none, plain, in a group, in an index, in lists.
func codecSets() []codecSet {
	var sets []codecSet
	for _, rules := range [][]Rule{
		nil,
		{{Pattern: "/"}},
		{{Pattern: "/core/"}, {Pattern: "/core/*.css$", Allow: true}, {Pattern: "/core/*.js", Allow: true}, {Pattern: "/*?q="}},
		{{Pattern: "/" + strings.Repeat("x", 600)}, {Pattern: "/x$", Allow: true}},
	} {
		sets = append(sets, codecSet{rules, chosen})
	}
	var many, crowd []Rule
	for i := range 13 { // a range of children with gaps
		many = append(many, Rule{Pattern: "/e" + string(rune('a'+2*i)) + "x"})
	}
	for i := range 40 {
		many = append(many, Rule{Pattern: fmt.Sprintf("/*a%d*b%d$", i, i%7), Allow: i%2 == 0}, Rule{Pattern: fmt.Sprintf("/d%d/*c", i)})
		crowd = append(crowd, Rule{Pattern: fmt.Sprintf("/*a%d*shop/", i)}, Rule{Pattern: fmt.Sprintf("/*a%d*shop/$", i), Allow: true})
	}
	for i := range 5 { // many segments
		crowd = append(crowd, Rule{Pattern: fmt.Sprintf("/*a%d*/*h*o*p%d", i, i)}, Rule{Pattern: fmt.Sprintf("/za*%d*/*a*b%d$", i, i)})
	}
	return append(sets, codecSet{many, chosen}, codecSet{crowd, chosen}, codecSet{crowd, limits{tried: triedLimit}}, codecSet{many, limits{}}, codecSet{crowd, limits{}})
}

// codecPaths are paths that match many rules of codecSets.
func codecPaths() [][]byte {
	paths := [][]byte{nil, []byte("/"), []byte("/core/a.css"), []byte("/core/a.js?q=1"), []byte("/x"), []byte("/" + strings.Repeat("x", 700))}
	for i := range 26 {
		paths = append(paths, []byte("/e"+string(rune('a'+i))+"x"))
	}
	for i := range 12 {
		paths = append(paths, fmt.Appendf(nil, "/d%d/c/a%d/a1/a2b%dshop/shop/a3/shop/", i, i, i%7), fmt.Appendf(nil, "/za%d/b%d", i, i%7))
	}
	return paths
}

// TestFromBytes checks that a decoded automaton has the same results as the encoded one.
func TestFromBytes(t *testing.T) {
	for i, set := range codecSets() {
		rules := set.rules
		a, data := set.encode(t)
		if !bytes.Equal(a.AppendBinary([]byte("x"))[1:], data) {
			t.Errorf("set %d: appended, it differs", i)
		}
		b, err := FromBytes(data, len(rules))
		if err != nil {
			t.Fatalf("set %d: %v", i, err)
		}
		if !bytes.Equal(b.AppendBinary(nil), data) || a.Size() != b.Size() {
			t.Errorf("set %d: written again, the automaton differs", i)
		}
		var s, u Scratch
		for _, path := range codecPaths() {
			if got, want := b.Match(path, &u), a.Match(path, &s); got != want {
				t.Errorf("set %d: %q gives rank %d, want %d", i, path, got, want)
			}
		}
		if len(rules) > 0 {
			if _, err := FromBytes(data, len(rules)-1); !errors.Is(err, ErrEncoding) {
				t.Errorf("set %d: error %v for one rule less", i, err)
			}
		}
		for n := range min(len(data), 2000) {
			if _, err := FromBytes(data[:n], len(rules)); !errors.Is(err, ErrEncoding) {
				t.Fatalf("set %d: error %v for its first %d bytes", i, err, n)
			}
		}
	}
}

// TestFromBytesDamaged changes each byte, or every seventh with -short: what FromBytes accepts must match without a
// panic, and terminate.
func TestFromBytesDamaged(t *testing.T) {
	step := 1
	if testing.Short() {
		step = 7
	}
	for _, set := range codecSets() {
		_, data := set.encode(t)
		for i := 0; i < len(data); i += step {
			for _, b := range []byte{0, 1, 0xff, data[i] + 1, data[i] ^ 0x40} {
				damaged := bytes.Clone(data)
				damaged[i] = b
				checkHostile(t, damaged, len(set.rules))
			}
		}
	}
}

// checkHostile checks that bytes are rejected, or decode to an automaton whose ranks are valid.
func checkHostile(t *testing.T, data []byte, rules int) {
	t.Helper()
	a, err := FromBytes(data, rules)
	if err != nil {
		return
	}
	var s Scratch
	for _, path := range codecPaths() {
		for range 2 { // the second time with the state of the first
			if r := a.Match(path, &s); r != NoMatch && (r.Position() < 0 || r.Position() >= rules) {
				t.Fatalf("rank %d of %d rules", r, rules)
			}
		}
	}
}

// TestFromBytesEntry checks that the entries of an index must be within its patterns.
func TestFromBytesEntry(t *testing.T) {
	rules := manyRules(100, func(i int) string { return fmt.Sprintf("/*abc%02d", i) })
	a, _, err := Compile(rules)
	if err != nil {
		t.Fatal(err)
	}
	var nodes [2]pending
	if _, n, _ := a.table.walkGeneric([]byte("/x"), nodes[:]); n != 1 || a.table[nodes[0].group] != 0 {
		t.Fatal("the rules have no index")
	}
	x := a.table.indexAt(nodes[0].group)
	for e := range x.count {
		number := x.entries + entrySize*e + 8
		kept := a.table[number]
		a.table[number] = byte(x.count)
		if _, err := FromBytes(a.AppendBinary(nil), len(rules)); !errors.Is(err, ErrEncoding) {
			t.Errorf("error %v for entry %d, of pattern %d of %d", err, e, x.count, x.count)
		}
		a.table[number] = kept
	}
}

// TestFromBytesTooMany checks that no path can pass more nodes with floating segments, or groups, than a Scratch has
// room for.
func TestFromBytesTooMany(t *testing.T) {
	for name, pattern := range map[string]func(i int) string{
		"nodes":  func(i int) string { return "/" + strings.Repeat("a", i) + "*x" },
		"groups": func(i int) string { return fmt.Sprintf("/*%04d", i) },
	} {
		size := map[string]int{"nodes": 1, "groups": groupSize}[name]
		for _, n := range []int{triedLimit, triedLimit + 1} {
			rules := manyRules(n*size, pattern)
			a := &Automaton{}
			if _, err := a.compileWith(rules, limits{grouped: len(rules), tried: len(rules)}); err != nil || a.search != nil {
				t.Fatal("the rules are not tried", err)
			}
			if _, err := FromBytes(a.AppendBinary(nil), len(rules)); (err == nil) != (n <= triedLimit) {
				t.Errorf("%d %s: error %v", n, name, err)
			}
		}
	}
}

func FuzzFromBytes(f *testing.F) {
	for _, set := range codecSets() {
		_, data := set.encode(f)
		f.Add(data, len(set.rules))
	}
	f.Fuzz(checkHostile)
}

func BenchmarkFromBytes(b *testing.B) {
	for i, set := range codecSets() {
		_, data := set.encode(b)
		b.Run(fmt.Sprintf("set=%d", i), func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := FromBytes(data, len(set.rules)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
