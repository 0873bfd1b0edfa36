package output

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// lengthen has rows take origin and verdict of the row before, so that runs have that many rows on average.
func (t *table) lengthen(rng *rand.Rand, rows int) {
	for _, b := range t.batches {
		for i := 1; i < b.Len(); i++ {
			if rng.IntN(rows) > 0 {
				b.Sites[i], b.Rulings[i], b.Verdicts[i] = b.Sites[i-1], b.Rulings[i-1], b.Verdicts[i-1]
			}
		}
	}
}

// Whether a chunk was gathered by runs or by row is not to be seen in the file.
func TestRunsSameBytes(t *testing.T) {
	columnSets := [][]string{nil, {"rule"}, {"allowed", "input"}, {"rule_line", "origin"}, {"agent", "reason", "line"}}
	for _, rows := range []int{1, 2, 5, 20, 500} {
		for _, batch := range []int{7, 900, 8192} {
			for _, columns := range columnSets {
				t.Run(fmt.Sprintf("rows=%d/batch=%d/columns=%s", rows, batch, columns), func(t *testing.T) {
					tab := tableSpec{urls: 35_000, agents: 1, sites: 300, batch: batch, dirty: true}.make()
					tab.lengthen(rand.New(rand.NewPCG(7, 8)), rows)
					opt := Options{Format: Parquet, Columns: columns, RowGroup: 34_000}
					got := tab.bytes(t, opt)
					for i, b := range tab.batches {
						if i%3 < 2 { // one batch of three may go on by runs
							b.Agents = make([]uint16, b.Len()) // rows of an agent each are never gathered by runs
						}
					}
					if mixed := tab.bytes(t, opt); !bytes.Equal(got, mixed) {
						t.Errorf("%d bytes by runs, other %d in part by row", len(got), len(mixed))
					}
					for _, b := range tab.batches {
						b.Agents = make([]uint16, b.Len())
					}
					if byRow := tab.bytes(t, opt); !bytes.Equal(got, byRow) {
						t.Errorf("%d bytes by runs, other %d by row", len(got), len(byRow))
					}
				})
			}
		}
	}
}

// The encodings by runs make what those by row make of the same values.
func TestRunEncodings(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for range 3000 {
		width, longest := 1+rng.IntN(20), 1+rng.IntN(40)
		var runs []run
		var values []int32
		var bits []int16
		for range rng.IntN(30) {
			r := run{rng.Int32N(1 << width), 1 + rng.IntN(longest)}
			if n := len(runs); n > 0 && runs[n-1].value == r.value {
				continue
			}
			runs = append(runs, r)
			values = append(values, slices.Repeat([]int32{r.value}, r.rows)...)
		}
		e := &pageEncoder{}
		if got, want := e.appendHybridRuns(nil, runs, width), appendHybrid(nil, values, width); !bytes.Equal(got, want) {
			t.Fatalf("width %d, runs %v: %x, by value %x", width, runs, got, want)
		}
		for i := range runs {
			runs[i].value &= 1
			bits = append(bits, slices.Repeat([]int16{int16(runs[i].value)}, runs[i].rows)...)
		}
		if got, want := appendBitRuns(nil, runs), packBits(nil, bits); !bytes.Equal(got, want) {
			t.Fatalf("bits %v: %x, by value %x", runs, got, want)
		}
	}
}

func TestSpreadValues(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for range 1000 {
		var values, want, lengths []int32
		for i := range rng.Int32N(20) {
			n := 1 + rng.Int32N(5)
			values, lengths = append(values, i), append(lengths, n)
			want = append(want, slices.Repeat([]int32{i}, int(n))...)
		}
		if got := spreadValues(values, lengths); !slices.Equal(got, want) {
			t.Fatalf("runs of %d give %d, want %d", lengths, got, want)
		}
	}
}
