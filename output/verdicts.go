package output

import (
	"errors"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/output/internal/columnar"
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
// each URL: columns to add to the columns that a table has. They are as in a [Writer]: for
// one agent, or one a row, as in the layout [Long], for several as in [Wide]. Verdicts are not safe
// for concurrent use. Several agents may have a row each instead, as in Long.
type Verdicts struct {
	lookup *engine.Lookup
	chunk  *columnar.Chunk
}

// NewVerdicts returns Verdicts of store without rows, with the columns of these names, and in their
// order. No names mean the ones of [Layout.DefaultColumns] that there are. The errors are from
// [ParseVerdictColumns], and about columns that the store was not built for. With long, several agents have a
// row each.
func NewVerdicts(store *engine.Store, names []string, long bool) (*Verdicts, error) {
	if _, err := columnar.Pick(names, VerdictColumns()); err != nil {
		return nil, err
	}
	if err := columnar.NeedsOf(names...).Check(store.Options()); err != nil {
		return nil, err
	}
	opt, agents := Options{Format: ArrowStream, Columns: names}, store.Options().Agents
	rows := 1 // of a URL
	if len(agents) > 1 && store.Options().LogAgents == engine.LogAgentsOff {
		if opt.Layout = Wide; long {
			opt.Layout, rows = Long, len(agents)
		}
	}
	if len(names) == 0 {
		opt.Columns = opt.Layout.VerdictDefaults()
	}
	l, err := columnar.NewSchema(opt.shape(), agents)
	if err != nil {
		return nil, err
	}
	cat := store.NewLookup()
	numbers := columnar.NewNumbering(cat, nil, agents, l)
	return &Verdicts{lookup: cat, chunk: columnar.NewChunk(l, rows, numbers, columnar.Limits{})}, nil
}

// Fields returns the columns.
func (v *Verdicts) Fields() (all []VerdictField) {
	for i, f := range v.chunk.ArrowFields() {
		field := VerdictField{Field: f}
		if v.chunk.Names.Dicts[i] != nil {
			field.Dictionary = f.Name
		}
		all = append(all, field)
	}
	return all
}

// Add adds the rows of an evaluated batch. It is an error if one column has more than 2 GiB of
// text; after that the Verdicts are of no use until Reset.
func (v *Verdicts) Add(b *engine.Batch) error {
	if b.Len() == 0 {
		return nil
	}
	v.lookup.Use(b)
	v.chunk.Append(b, 0, b.Len())
	for i, d := range v.chunk.Names.Dicts {
		t, ok := v.chunk.Columns[i].(*columnar.TextColumn)
		if ok && len(t.Bytes) > math.MaxInt32 || d != nil && len(d.Text) > math.MaxInt32 {
			return fmt.Errorf("column %s: %w", v.chunk.Schema.Fields[i].Name, errTooMuchText)
		}
	}
	return nil
}

// Columns returns the rows that were added since the last Reset, by [Verdicts.Fields]. The arrays
// share memory with v and are valid until then.
func (v *Verdicts) Columns() []arrow.Array { return v.chunk.Arrays(columnar.CopiedTexts) }

// Reset forgets all rows and keeps the memory.
func (v *Verdicts) Reset() {
	v.chunk.Reset()
	v.chunk.Names.Reset()
}
