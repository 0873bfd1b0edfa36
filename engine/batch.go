package engine

import "github.com/robobatch/robobatch/crawlers/ranges"

// A Span is a piece of Batch.Data: Data[Off : Off+Len].
type Span struct{ Off, Len uint32 }

// NoURL is the span of a row without a URL, because its line was longer than the limit of the
// input. No other row has an empty URL: empty lines give no row.
var NoURL = Span{}

// NoTime is the time of a row without one.
const NoTime = ranges.NoTime

// A Batch has some thousand consecutive rows of one input and, once evaluated, their verdicts. It
// is columnar and has no pointer for each row. One goroutine uses it at a time: it goes from the
// source to a worker, to the sink and back, and its slices keep their capacity.
type Batch struct {
	// Filled by the Source.

	Input int     // index of the input's name in the names of the Source
	Data  []byte  // the URLs' bytes; belongs to the batch
	URLs  []Span  // URL of each row as read, NoURL for a line that was too long
	Lines []int64 // 1-based line of each row in the decompressed input

	// By row, and empty if the Source reads none:
	UserAgents []Span  // as read, NoURL where there is none; names of agents with LogAgentsByName, NoURL where that is no name
	Clients    []Span  // the addresses of clients as read, NoURL where there is none
	Times      []int64 // microseconds since 1970 UTC, NoTime where unknown

	Kept []Kept // extra columns, in the order that the Source was asked for

	Refused int // lines that were refused, and give no row

	// Empty unless the Source was asked for them:
	Raws    []Span   // the raw line of each row, NoURL for one that was too long
	Offsets []int64  // where that line begins in the decompressed input
	Rejects []Reject // the Refused lines, in order

	// Filled by Store.Evaluate.

	Sites    []SiteID   // origin of each row; NoSite for a bad URL
	Strays   [][]byte   // normalised origins that the store does not know, see [SiteID.Stray]
	Rulings  []RulingID // the ruling in force for each row, see [Lookup.Rule]
	Verdicts []Verdict  // of row i for agent a: Verdicts[i*agents+a]; agents is 1 with LogAgents

	// Canonicals are the URLs without the parameters that robots.txt says do not count: the URL
	// itself where nothing is cut, NoURL for a bad URL. Only StoreOptions.Directives with
	// robots.CleanParamLines fills them.
	Canonicals []Span

	// Preferences are of row i for agent a, as Verdicts are. Only StoreOptions.Directives with
	// one of robots.PreferenceLines fills them.
	Preferences []Preference

	// Listed says of each row whether sitemaps have its URL. Only StoreOptions.Sitemaps fills it.
	Listed []Listed

	// Only StoreOptions.LogAgents fills these:
	Agents     []uint32    // the crawler of each row, see [Lookup.AgentName]
	Violations []Violation // the meaning of each row's verdict for its crawler; not with LogAgentsByName
	Skipped    int         // rows that were omitted; nothing else counts them

	// Disputes are the verdicts that forbid a URL which another reading of the robots.txt allows, in the order of
	// Verdicts. Agents that are not crawlers, such as "*", have none.
	Disputes []Dispute

	// Only StoreOptions.Ranges fills these: whether each row came from its crawler, and the proof
	// where it did. Rows that no crawler is named in are ranges.Null.
	Verified []ranges.Answer
	Proofs   []ranges.Proof

	// Only StoreOptions.Deeds fills these: requests of crawlers for robots.txt, and against it, in the
	// order of the rows, and the memory of Deed.Past.
	Deeds []Deed
	Pasts []byte

	// Timeless counts, with StoreOptions.RowTimes, the verdicts that forbid a URL by a robots.txt with
	// an unknown effective date: its time is the time of a file, or unknown. With
	// LogAgents it counts the ones that would accuse a crawler otherwise.
	Timeless int

	// Unfetched counts, with LogAgents, the verdicts that would accuse a crawler, if the fetch of
	// robots.txt had failed for itself.
	Unfetched int

	// With StoreOptions.Ranges: how many rows are verified, or are an impostor's, though it is unknown whether
	// that was so at their time: because they have none, or because a list has none.
	UntimedRows, UntimedLists int

	// Only Options.Old fills these:
	Old     *Batch   // the same rows as the old store decides them; they share the fields of the Source
	Changes []Change // of row i for agent a: Changes[i*agents+a]

	strayNames []byte  // the memory of Strays
	winners    winners // see there
	streaks    streaks // see there
	crawlers   counted // see ForCrawlers
	senders    []ranges.Requests
}

// Len returns the number of rows.
func (b *Batch) Len() int { return len(b.URLs) }

// URL returns the URL of row i as read, or nil if its line was too long. It is valid until the next
// Reset.
func (b *Batch) URL(i int) []byte { return b.Piece(b.URLs[i]) }

// AddURL adds a row with a copy of that URL, and the number of its line, as the Source of a program may do. It fills
// only Data, URLs and Lines.
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
	if b.Old != nil {
		b.Old.release()
	}
	*b = Batch{
		Data: b.Data[:0], URLs: b.URLs[:0], Lines: b.Lines[:0],
		UserAgents: b.UserAgents[:0], Clients: b.Clients[:0], Times: b.Times[:0], Kept: b.Kept,
		Raws: b.Raws[:0], Offsets: b.Offsets[:0], Rejects: b.Rejects[:0],
		Sites: b.Sites[:0], Strays: b.Strays[:0], Rulings: b.Rulings[:0], Verdicts: b.Verdicts[:0], Canonicals: b.Canonicals[:0],
		Preferences: b.Preferences[:0], Listed: b.Listed[:0],
		Agents: b.Agents[:0], Violations: b.Violations[:0], Verified: b.Verified[:0], Proofs: b.Proofs[:0], Old: b.Old, Changes: b.Changes[:0],
		Deeds: b.Deeds[:0], Pasts: b.Pasts[:0], Disputes: b.Disputes[:0],
		strayNames: b.strayNames[:0], winners: b.winners.reset(), streaks: b.streaks.reset(), crawlers: b.crawlers.reset(),
		senders: b.senders[:0],
	}
}

// Piece returns a piece of Data, nil for NoURL. It is valid until the next Reset.
func (b *Batch) Piece(s Span) []byte {
	if s == NoURL {
		return nil
	}
	return b.Data[s.Off : s.Off+s.Len : s.Off+s.Len]
}

// A Source yields the rows of its inputs in order, like a [bufio.Scanner]. Next resets b, fills it
// with the next rows of one input, and reports whether there were any; it yields the rows before a
// fault before it reports false. A batch without rows may have Refused lines. Err is nil at a clean
// end. b owns all data in it: the Source does not touch it again.
type Source interface {
	Next(b *Batch) bool
	Err() error
	Close() error
}

// A Sink takes evaluated batches in the order of the input, in one goroutine. It keeps nothing of b
// when Write returns.
type Sink interface {
	Write(b *Batch) error
	Close() error
}
