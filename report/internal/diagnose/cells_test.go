package diagnose

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
)

// A request is a row of a log of the tests.
type request struct {
	origin, path string
	agent        uint16
	status, at   int64 // at is in seconds
	size         int64
	client       uint32
}

// add counts requests.
func add(t *testing.T, c *Counts, all []request) {
	t.Helper()
	for _, r := range all {
		var err error
		switch r.path {
		case txtName:
			err = c.AddTxt([]byte(r.origin), r.agent, r.status, r.size, r.client, r.at*1e6+999)
		default:
			err = c.AddPage(&Request{Origin: []byte(r.origin), Path: []byte(r.path), Agent: r.agent, Status: r.status, Client: r.client, At: r.at*1e6 + 999, Named: true})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestCounts holds that the cells are those of a plain count, whatever the memory and the order of the rows.
func TestCounts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	paths := []string{"/", "", "/a", "/a/", "/a/b", "/a/b/c", "/a/b/c/d", "/a-b/x", "/a/style.css?v=1", "/robots.txt", "/x?color=red&size=2", "/a/b/?color=m#f"}
	directories := []string{"/", "/", "/", "/a/", "/a/", "/a/b/", "/a/b/", "/a-b/", "/a/", "/robots.txt", "/", "/a/b/"}
	var all []request
	want := map[string]int{}
	for range 20_000 {
		n := rng.IntN(len(paths))
		r := request{[]string{"https://a.example", "https://b.example:8443"}[rng.IntN(2)], paths[n], uint16(rng.IntN(3)), []int64{200, 404, 503, 0}[rng.IntN(4)], rng.Int64N(40*3600) - 20*3600, rng.Int64N(3), uint32(rng.IntN(2))}
		all = append(all, r)
		hour := (r.at + 20*3600) / 3600
		if r.path == txtName {
			want[fmt.Sprint(r.origin, directories[n], r.at, r.agent, r.status, r.size, r.client, false)]++
			continue
		}
		part := uint32(0)
		if r.status == 503 {
			part = 1 + r.client
		}
		want[fmt.Sprint(r.origin, directories[n], hour-20, r.agent, r.status, 0, part, n == 8)]++
		names := map[int][]string{8: {"v"}, 10: {"color", "size"}, 11: {"color"}}[n]
		for _, name := range names {
			want[fmt.Sprint(r.origin, "/?"+name, hour-20, r.agent, r.status, 0, 0, false)]++
		}
	}
	var first []string
	for _, memory := range []int64{0, 1 << 30} {
		for range 2 {
			rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
			dir := t.TempDir()
			c := New(memory, dir)
			add(t, c, all)
			if spills := c.spill.Runs() > 0; spills != (memory == 0) {
				t.Errorf("spilled: %v with %d bytes", spills, memory)
			}
			var order []string
			got := map[string]int{}
			if err := c.eachCell(func(r *record) {
				got[fmt.Sprint(string(r.text), r.key.slot, r.key.agent, r.key.status&^(isAsset|isImage), r.key.size, r.key.client, r.key.status&isAsset != 0)] += int(r.cell.n)
				order = append(order, fmt.Sprint(string(r.text), r.key.slot, r.key.agent, r.key.status, r.key.size, r.key.client, r.cell))
			}); err != nil {
				t.Fatal(err)
			}
			if !maps.Equal(got, want) {
				t.Fatalf("%d cells, want %d", len(got), len(want))
			}
			if first == nil {
				first = order
			} else if !slices.Equal(order, first) {
				t.Error("another order, or other first and last rows")
			}
			c.Close()
			if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
				t.Errorf("left %v, %v", left, err)
			}
		}
	}
}

// TestSegments compares the segments with those of all ways to choose them.
func TestSegments(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		scores := make([]float64, 1+rng.IntN(12))
		for i := range scores {
			scores[i] = float64(rng.IntN(9) - 5)
		}
		if got, want := segments(len(scores), func(i int) float64 { return scores[i] }), slowSegments(scores, 0, len(scores)); !slices.Equal(got, want) {
			t.Fatalf("segments of %v are %v, want %v", scores, got, want)
		}
	}
}

// slowSegments returns the segments of scores in a range by their definition: the best one, the shortest of equals, and
// those to its left and right.
func slowSegments(scores []float64, from, to int) []segment {
	best, most := segment{}, 0.0
	for a := from; a < to; a++ {
		sum := 0.0
		for b := a; b < to; b++ {
			if sum += scores[b]; sum > most || sum == most && best.length() > b+1-a {
				best, most = segment{a, b + 1}, sum
			}
		}
	}
	if most == 0 {
		return nil
	}
	return slices.Concat(slowSegments(scores, from, best.from), []segment{best}, slowSegments(scores, best.to, to))
}
