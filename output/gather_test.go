package output

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
)

// lengthen has rows take origin and verdict of the row before, so that runs have that many rows on
// average.
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
	lengths, batches := []int{1, 2, 5, 20, 500}, []int{7, 900, 8192}
	if testing.Short() {
		lengths, batches = []int{1, 5, 500}, []int{900}
	}
	for _, rows := range lengths {
		for _, batch := range batches {
			for _, columns := range columnSets {
				t.Run(fmt.Sprintf("rows=%d/batch=%d/columns=%s", rows, batch, columns), func(t *testing.T) {
					t.Parallel()
					tab := tableSpec{urls: 35_000, agents: 1, sites: 300, batch: batch, dirty: true}.make()
					tab.lengthen(rand.New(rand.NewPCG(7, 8)), rows)
					opt := Options{Format: Parquet, Columns: columns, RowGroup: 34_000}
					got := tab.bytes(t, opt)
					for i, b := range tab.batches {
						if i%3 < 2 { // one batch of three may go on by runs
							b.Agents = make([]uint32, b.Len()) // rows of an agent each are never gathered by runs
						}
					}
					if mixed := tab.bytes(t, opt); !bytes.Equal(got, mixed) {
						t.Errorf("%d bytes by runs, other %d in part by row", len(got), len(mixed))
					}
					for _, b := range tab.batches {
						b.Agents = make([]uint32, b.Len())
					}
					if byRow := tab.bytes(t, opt); !bytes.Equal(got, byRow) {
						t.Errorf("%d bytes by runs, other %d by row", len(got), len(byRow))
					}
				})
			}
		}
	}
}
