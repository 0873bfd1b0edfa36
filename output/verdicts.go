package output

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/robobatch/robobatch/engine"
)

// errTooMuchText is returned when the verdicts of a batch have more text than a column of Arrow's
// type string can hold.
var errTooMuchText = errors.New("more than 2 GiB of text for one column: send smaller batches")

// A VerdictField describes a column of [Verdicts].
type VerdictField struct {
	arrow.Field
	// Dictionary names the dictionary of the column. Columns of equal names share one; "" is none.
	Dictionary string
}

// Verdicts makes Arrow columns of the verdicts of one row after another, with exactly one row for
// each URL: what stands beside columns that a table has already. They are those of a [Writer]: for
// one agent as in the layout [Long], for several as in [Wide]. Verdicts are not safe for concurrent
// use.
type Verdicts struct {
	lookup *engine.Lookup
	chunk  *chunk
}

// NewVerdicts returns Verdicts of store without rows, with the columns of these names, and in their
// order. No names mean those of [Layout.DefaultColumns] that there are. The errors are those of
// [ParseVerdictColumns], and errCanonical.
func NewVerdicts(store *engine.Store, names []string) (*Verdicts, error) {
	if _, err := pick(names, VerdictColumns()); err != nil {
		return nil, err
	}
	if slices.Contains(names, CanonicalURL) && !store.Options().Canonical {
		return nil, errCanonical
	}
	opt, agents := Options{Format: ArrowStream, Columns: names}, store.Options().Agents
	if len(agents) > 1 {
		opt.Layout = Wide
	}
	if len(names) == 0 {
		opt.Columns = slices.DeleteFunc(opt.Layout.DefaultColumns(), func(name string) bool { return !lookup(name).beside })
	}
	l, err := newLayout(opt, agents)
	if err != nil {
		return nil, err
	}
	cat := store.NewLookup()
	numbers := newNumbering(cat, nil, agents, l)
	return &Verdicts{lookup: cat, chunk: newChunk(l, 1, numbers, limits{})}, nil
}

// Fields returns the columns.
func (v *Verdicts) Fields() (all []VerdictField) {
	for i, f := range v.chunk.arrowFields() {
		field := VerdictField{Field: f}
		if v.chunk.names.dicts[i] != nil {
			field.Dictionary = f.Name
		}
		all = append(all, field)
	}
	return all
}

// Add adds the rows of an evaluated batch. It is an error if one column has more than 2 GiB of
// text; after that the Verdicts are of no use until Reset.
func (v *Verdicts) Add(b *engine.Batch) error {
	v.lookup.Use(b)
	v.chunk.append(b, 0, b.Len())
	for i, d := range v.chunk.names.dicts {
		t, ok := v.chunk.columns[i].(*textColumn)
		if ok && len(t.Bytes) > math.MaxInt32 || d != nil && len(d.text) > math.MaxInt32 {
			return fmt.Errorf("column %s: %w", v.chunk.layout.fields[i].Name, errTooMuchText)
		}
	}
	return nil
}

// Columns returns the rows that were added since the last Reset, by [Verdicts.Fields]. The arrays
// share memory with v and are valid until then.
func (v *Verdicts) Columns() []arrow.Array { return v.chunk.arrays(copiedTexts) }

// Reset forgets all rows and keeps the memory.
func (v *Verdicts) Reset() {
	v.chunk.reset()
	v.chunk.names.reset()
}
