package engine

// A Span is a piece of Batch.Data: Data[Off : Off+Len].
type Span struct{ Off, Len uint32 }

// NoURL is the span of a row whose line was longer than the input's limit, so that its URL was not kept.
// An empty URL cannot occur: empty lines give no row.
var NoURL = Span{}

// A Batch is some thousand consecutive rows of one input and, once evaluated, their verdicts. It is columnar and
// holds no pointer per row. A Batch is used by one goroutine at a time; the pipeline hands it from the source to a
// worker to the sink and back, and its slices keep their capacity on the way.
type Batch struct {
	// Filled by the Source.

	Input int     // index of the input's name in the names of the Source
	Data  []byte  // the URLs' bytes; belongs to the batch
	URLs  []Span  // URL of each row as read, NoURL for a line that was too long
	Lines []int64 // 1-based line of each row in the decompressed input

	UserAgents []Span  // User-Agent of each row as read, NoURL where there is none; empty if the Source reads none
	Times      []int64 // microseconds since 1970 UTC of each row; math.MinInt64 where unknown; empty if the Source reads none
	Kept       []Kept  // columns of the input that are kept, in the order in which the Source was asked for them

	Raws    []Span   // the line of each row as read, NoURL for one that was too long; empty unless the Source was asked for them
	Offsets []int64  // where it begins in the decompressed input; empty as Raws is
	Refused int      // lines that were refused, and give no row
	Rejects []Reject // these lines, in order; empty as Raws is

	// Filled by Store.Evaluate.

	Sites    []SiteID   // origin of each row; NoSite for a bad URL
	Strays   [][]byte   // normalised origins that the store does not hold, named by SiteIDs with the stray bit
	Rulings  []RulingID // what is in force for each row, see [Lookup.Rule]
	Verdicts []Verdict  // of row i for agent a: Verdicts[i*agents+a], where agents is Store.AgentsPerURL

	// Canonicals are the URLs without the parameters that robots.txt says do not count, for a Store built with
	// StoreOptions.Canonical; empty for others. It is a piece of Data too: the URL itself where nothing was cut, and
	// NoURL for a bad URL.
	Canonicals []Span

	// For a Store with LogAgents, and empty for others: the crawler of each row, as an index of Store.Options, what each
	// of Verdicts means for it, and how many rows were left out, of which nothing else is here any more.
	Agents     []uint16
	Violations []Violation
	Skipped    int

	strayNames []byte  // the memory of Strays
	winners    winners // of a store that drops rules
}

// Len returns the number of rows.
func (b *Batch) Len() int { return len(b.URLs) }

// URL returns the URL of row i as read, or nil if its line was too long. It is valid until the next Reset.
func (b *Batch) URL(i int) []byte { return b.Piece(b.URLs[i]) }

// AddURL adds a row with a copy of that URL, and the number of its line, as the Source of a program may
// do. It fills Data, URLs and Lines alone.
func (b *Batch) AddURL(url []byte, line int64) {
	b.URLs = append(b.URLs, Span{uint32(len(b.Data)), uint32(len(url))})
	b.Data = append(b.Data, url...)
	b.Lines = append(b.Lines, line)
}

// Reset empties the batch and keeps its memory.
func (b *Batch) Reset() {
	for i := range b.Kept {
		b.Kept[i].reset()
	}
	*b = Batch{
		Data: b.Data[:0], URLs: b.URLs[:0], Lines: b.Lines[:0],
		UserAgents: b.UserAgents[:0], Times: b.Times[:0], Kept: b.Kept,
		Raws: b.Raws[:0], Offsets: b.Offsets[:0], Rejects: b.Rejects[:0],
		Sites: b.Sites[:0], Strays: b.Strays[:0], Rulings: b.Rulings[:0], Verdicts: b.Verdicts[:0], Canonicals: b.Canonicals[:0],
		Agents: b.Agents[:0], Violations: b.Violations[:0],
		strayNames: b.strayNames[:0], winners: b.winners.reset(),
	}
}

// Piece returns a piece of Data, nil for NoURL. It is valid until the next Reset.
func (b *Batch) Piece(s Span) []byte {
	if s == NoURL {
		return nil
	}
	return b.Data[s.Off : s.Off+s.Len : s.Off+s.Len]
}

// A Source yields the rows of its inputs in order, in the manner of [bufio.Scanner]: Next resets b, fills it with
// the next rows of one input and reports whether there were any; Err is nil at a clean end. Rows that precede a
// fault are yielded before Next reports false. A batch may have no rows
// if it has Refused lines. What Next wrote to b belongs to b: the Source does not touch it again.
type Source interface {
	Next(b *Batch) bool
	Err() error
	Close() error
}

// A Sink consumes evaluated batches in input order, from one goroutine. It keeps nothing of b after Write returns.
type Sink interface {
	Write(b *Batch) error
	Close() error
}
