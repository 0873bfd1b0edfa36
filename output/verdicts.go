package output

import (
	"errors"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/output/internal/columnar"
)

// errTooMuchText is returned if a column has more text than Arrow's type string can hold.
var errTooMuchText = errors.New("more than 2 GiB of text for one column: send smaller batches")

// A VerdictField describes a column of [Verdicts].
type VerdictField struct {
	arrow.Field
	// Dictionary is the name of the column's dictionary, which columns may share; "" if it has none.
	Dictionary string
}

// Verdicts collects verdicts as Arrow columns, which a caller can add to those of its own table. The columns are the
// same as in a [Writer]: with one agent, or one agent per row, in the layout [Long]; with several agents in the
// layout [Wide], or in Long if NewVerdicts was told so. Verdicts are not safe for concurrent use.
type Verdicts struct {
	lookup *engine.Lookup
	chunk  *columnar.Chunk
}

// NewVerdicts returns empty Verdicts of store with the named columns, in that order. No names mean those of
// [Layout.DefaultColumns] that Verdicts support. With long, each of several agents has its own row. The errors are
// from [ParseVerdictColumns], and about columns that the store was not built for.
func NewVerdicts(store *engine.Store, names []string, long bool) (*Verdicts, error) {
	if _, err := columnar.Pick(names, VerdictColumns()); err != nil {
		return nil, err
	}
	if err := columnar.NeedsOf(names...).Check(store.Options()); err != nil {
		return nil, err
	}
	opt, agents := Options{Format: ArrowStream, Columns: names}, store.Options().Agents
	rows := 1 // per URL
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

// Fields returns the Arrow field of each column, with the name of its dictionary.
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

// Add adds the rows of an evaluated batch, and does not keep it. It returns an error if one column has more than 2 GiB
// of text; then the Verdicts cannot be used until Reset.
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

// Columns returns the rows added since the last Reset, one array for each of [Verdicts.Fields]. The arrays share
// memory with v and are valid until the next Reset.
func (v *Verdicts) Columns() []arrow.Array { return v.chunk.Arrays(columnar.CopiedTexts) }

// Reset removes all rows, and keeps the memory for the next ones.
func (v *Verdicts) Reset() {
	v.chunk.Reset()
	v.chunk.Names.Reset()
}
