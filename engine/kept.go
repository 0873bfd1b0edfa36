package engine

// A KeptKind is the type of a column of the input that is kept.
type KeptKind uint8

// The kinds.
const (
	KeptText  KeptKind = iota // Texts
	KeptInt                   // Ints
	KeptTime                  // Ints, microseconds since 1970 UTC
	KeptFloat                 // Floats
	KeptBool                  // Ints, 0 or 1
)

// A Kept is a column of the input that is kept beside the verdicts. Of its slices Present and the one of its Kind have a
// value for each row, that of a null being zero.
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

// A Reject is a line that is not of the input's format.
type Reject struct {
	Line   int64  // 1-based, the first one of a record of several lines
	Offset int64  // where it begins in the decompressed input
	Raw    Span   // as read, a piece of Batch.Data; NoURL if it was too long
	Reason string // "quote"
}
