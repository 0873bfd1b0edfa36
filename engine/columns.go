package engine

// A KeptKind is the type of an extra column.
type KeptKind uint8

// The kinds.
const (
	KeptText  KeptKind = iota // Texts
	KeptInt                   // Ints
	KeptTime                  // Ints, microseconds since 1970 UTC
	KeptFloat                 // Floats
	KeptBool                  // Ints, 0 or 1
)

// A Kept is an extra column, which is copied from the input to the output. Present and the slice for its Kind have
// one value per row; the value of a null is zero.
type Kept struct {
	Kind    KeptKind
	Texts   []Span // pieces of Batch.Data
	Ints    []int64
	Floats  []float64
	Present []bool // false for a null
}

func (k *Kept) reset() {
	*k = Kept{Kind: k.Kind, Texts: k.Texts[:0], Ints: k.Ints[:0], Floats: k.Floats[:0], Present: k.Present[:0]}
}

// A Reject is a line that does not match the format of the input.
type Reject struct {
	Line   int64  // 1-based; the first line if the record has several
	Offset int64  // where it begins in the decompressed input
	Raw    Span   // as read, a piece of Batch.Data; NoURL if it was too long
	Reason string // for example "quote"
}

// copyRow copies a row to another, in all columns that the Source fills.
func (b *Batch) copyRow(to, from int) {
	b.URLs[to], b.Lines[to] = b.URLs[from], b.Lines[from]
	copyValue(b.UserAgents, to, from)
	copyValue(b.Clients, to, from)
	copyValue(b.Times, to, from)
	copyValue(b.Raws, to, from)
	copyValue(b.Offsets, to, from)
	for i := range b.Kept {
		k := &b.Kept[i]
		copyValue(k.Texts, to, from)
		copyValue(k.Ints, to, from)
		copyValue(k.Floats, to, from)
		copyValue(k.Present, to, from)
	}
}

// copyValue copies a value within a column, unless the column is empty.
func copyValue[T any](column []T, to, from int) {
	if len(column) > 0 {
		column[to] = column[from]
	}
}

// copyDecided copies a row to another, in all columns that a Store with LogAgents fills.
func (b *Batch) copyDecided(to, from int) {
	copyValue(b.Sites, to, from)
	copyValue(b.Rulings, to, from)
	copyValue(b.Verdicts, to, from)
	copyValue(b.Canonicals, to, from)
	copyValue(b.Preferences, to, from)
	copyValue(b.Listed, to, from)
	copyValue(b.Agents, to, from)
	copyValue(b.Violations, to, from)
	copyValue(b.Verified, to, from)
	copyValue(b.Proofs, to, from)
	copyValue(b.Changes, to, from)
}

// truncateDecided drops the rows from n on, in all columns.
func (b *Batch) truncateDecided(n int) {
	b.Truncate(n)
	b.Sites, b.Rulings, b.Verdicts, b.Canonicals = first(b.Sites, n), first(b.Rulings, n), first(b.Verdicts, n), first(b.Canonicals, n)
	b.Preferences, b.Listed = first(b.Preferences, n), first(b.Listed, n)
	b.Agents, b.Violations, b.Changes = first(b.Agents, n), first(b.Violations, n), first(b.Changes, n)
	b.Verified, b.Proofs = first(b.Verified, n), first(b.Proofs, n)
}

// Truncate drops the rows from n on, in all columns that the Source fills.
func (b *Batch) Truncate(n int) {
	b.URLs, b.Lines = b.URLs[:n], b.Lines[:n]
	b.UserAgents, b.Clients, b.Times = first(b.UserAgents, n), first(b.Clients, n), first(b.Times, n)
	b.Raws, b.Offsets = first(b.Raws, n), first(b.Offsets, n)
	for i := range b.Kept {
		k := &b.Kept[i]
		k.Texts, k.Ints, k.Floats, k.Present = first(k.Texts, n), first(k.Ints, n), first(k.Floats, n), first(k.Present, n)
	}
}

// first returns the first n values of a column, or none if the column is empty.
func first[T any](column []T, n int) []T { return column[:min(n, len(column))] }
