package output

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/robobatch/robobatch/engine"
)

// ErrTooMuchText is returned when the verdicts of a batch have more text than a column of Arrow's type string can hold.
var ErrTooMuchText = errors.New("more than 2 GiB of text for one column: send smaller batches")

// verdictColumns are the columns that do not depend on where a row comes from.
var verdictColumns = []column{colOrigin, colAllowed, colReason, colRuleLine, colRule, colCanonical}

// VerdictColumns returns the names of the columns that [Verdicts] can have: those that do not depend on where a row comes
// from.
func VerdictColumns() []string {
	names := make([]string, len(verdictColumns))
	for i, col := range verdictColumns {
		names[i] = fields[col].name
	}
	return names
}

// A VerdictColumnError is a column that [Verdicts] cannot have.
type VerdictColumnError struct{ ColumnError }

// Error names the column, what is wrong, and the columns there are.
func (e *VerdictColumnError) Error() string {
	return e.choose(VerdictColumns())
}

// Unwrap returns the [ColumnError].
func (e *VerdictColumnError) Unwrap() error { return &e.ColumnError }

// ParseVerdictColumns is [ParseColumns] for the columns of [Verdicts], but that the empty list is nil. The error joins a
// [VerdictColumnError] for every fault.
func ParseVerdictColumns(list string) ([]string, error) {
	if strings.TrimSpace(list) == "" {
		return nil, nil
	}
	names := splitNames(list)
	return names, checkVerdictColumns(names)
}

func checkVerdictColumns(names []string) error {
	var errs []error
	for i, name := range names {
		switch {
		case !slices.Contains(VerdictColumns(), name):
			errs = append(errs, &VerdictColumnError{ColumnError{Name: name, Reason: "unknown"}})
		case slices.Contains(names[:i], name):
			errs = append(errs, &VerdictColumnError{ColumnError{Name: name, Reason: "named twice"}})
		}
	}
	return errors.Join(errs...)
}

// defaultVerdictColumns returns those of the layout that Verdicts can have.
func defaultVerdictColumns(l Layout) []string {
	return slices.DeleteFunc(l.DefaultColumns(), func(name string) bool { return !slices.Contains(VerdictColumns(), name) })
}

// A VerdictField describes a column of [Verdicts].
type VerdictField struct {
	arrow.Field
	// Dictionary names the dictionary of the column. Columns of equal names share one; "" is none.
	Dictionary string
}

// Verdicts makes Arrow columns of the verdicts of one row after another, with exactly one row for each URL: what stands
// beside columns that a table has already. They are those of a [Writer]: for one agent as in the layout [Long], for
// several as in [Wide]. Verdicts are not safe for concurrent use.
type Verdicts struct {
	layout
	lookup  *engine.Lookup
	columns *columns
}

// NewVerdicts returns Verdicts of store without rows, with the columns of these names, and in their order. No names mean those
// of [Layout.DefaultColumns] that there are. The errors are those of [ParseVerdictColumns], and ErrCanonical.
func NewVerdicts(store *engine.Store, names []string) (*Verdicts, error) {
	if err := checkVerdictColumns(names); err != nil {
		return nil, err
	}
	if slices.Contains(names, CanonicalURL) && !store.HasCanonical() {
		return nil, ErrCanonical
	}
	opt, agents := Options{Format: ArrowStream, Columns: names}, store.AgentNames()
	if len(agents) > 1 {
		opt.Layout = Wide
	}
	if len(names) == 0 {
		opt.Columns = defaultVerdictColumns(opt.Layout)
	}
	l, err := newLayout(opt, agents)
	if err != nil {
		return nil, err
	}
	cat := newStoreCatalog(store)
	numbers := newNumbering(cat, nil, agents, l)
	return &Verdicts{layout: l, lookup: cat.lookup, columns: newColumns(l, 1, numbers, limits{})}, nil
}

// Fields returns the columns.
func (v *Verdicts) Fields() (all []VerdictField) {
	for _, f := range v.fields() {
		field := VerdictField{Field: arrow.Field{Name: f.name, Type: f.arrowType(), Nullable: f.nullable}}
		if f.kind == kindDictionary {
			field.Dictionary = f.name
		}
		all = append(all, field)
	}
	return all
}

// Add adds the rows of an evaluated batch. The error is [ErrTooMuchText], after which the Verdicts are of no use until
// Reset.
func (v *Verdicts) Add(b *engine.Batch) error {
	v.lookup.Use(b)
	v.columns.append(b, 0, b.Len())
	for _, col := range v.picked {
		if len(v.columns.texts[col.base()].text) > math.MaxInt32 || len(v.columns.names.dict(col).text) > math.MaxInt32 {
			return fmt.Errorf("column %s: %w", v.field(col).name, ErrTooMuchText)
		}
	}
	return nil
}

// Columns returns the rows that were added since the last Reset, by [Verdicts.Fields]. The arrays share memory with v and
// are valid until then.
func (v *Verdicts) Columns() []arrow.Array {
	all := make([]arrow.Array, len(v.picked))
	for i, col := range v.picked {
		all[i] = v.columns.arrowColumn(col, true)
	}
	return all
}

// Reset forgets all rows and keeps the memory.
func (v *Verdicts) Reset() {
	v.columns.reset()
	v.columns.names.reset()
}
