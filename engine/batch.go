package engine

import (
	"github.com/robobatch/robobatch/crawlers/ranges"
	"github.com/robobatch/robobatch/engine/internal/rules"
	"github.com/robobatch/robobatch/internal/preference"
	"github.com/robobatch/robobatch/robots"
)

// A Span is a piece of Batch.Data: Data[Off : Off+Len].
type Span struct{ Off, Len uint32 }

// NoURL is the span of a row without a URL, because its line was longer than the limit of the input. No other row
// has an empty URL: empty lines produce no row.
var NoURL = Span{}

// NoTime is the time of a row whose time is unknown.
const NoTime = ranges.NoTime

// A Batch holds a few thousand consecutive rows of one input and, once evaluated, their verdicts. It is columnar
// and has no pointer per row. Only one goroutine uses it at a time: it passes from the source to a worker, to the
// sink and back, and its slices keep their capacity.
type Batch struct {
	// Filled by the Source.

	Input int     // index of the input's name in the names of the Source
	Data  []byte  // the URLs' bytes; belongs to the batch
	URLs  []Span  // URL of each row as read, NoURL for a line that was too long
	Lines []int64 // 1-based line of each row in the decompressed input

	// One per row; empty if the Source does not read the column:
	UserAgents []Span  // as read, or NoURL; with LogAgentsByName the names of agents, NoURL if it is not a name
	Clients    []Span  // client addresses as read, NoURL if absent
	Times      []int64 // microseconds since 1970 UTC, NoTime if unknown

	Kept []Kept // extra columns, in the order in which the Source was asked for them

	Refused int // rejected lines, which produce no row

	// Empty unless the Source was asked for them:
	Raws    []Span   // the raw line of each row, NoURL if it was too long
	Offsets []int64  // where that line begins in the decompressed input
	Rejects []Reject // the rejected lines, in order

	// Filled by Store.Evaluate.

	Sites    []SiteID   // origin of each row; NoSite for a bad URL
	Strays   [][]byte   // normalised origins that the store does not know, see [SiteID.Stray]
	Rulings  []RulingID // the ruling in force for each row, see [Lookup.Rule]
	Verdicts []Verdict  // row i, agent a: Verdicts[i*agents+a]; with LogAgents, agents is 1

	// Canonicals are the URLs without the query parameters that robots.txt declares irrelevant (Clean-param). A URL
	// that loses none is unchanged; a bad URL is NoURL. Filled only if StoreOptions.Directives contains
	// robots.CleanParamLines.
	Canonicals []Span

	// Preferences are indexed as Verdicts are. Filled only if StoreOptions.Directives contains one of
	// robots.PreferenceLines.
	Preferences []Preference

	// Listed says for each row whether the sitemaps list its URL. Filled only with StoreOptions.Sitemaps.
	Listed []Listed

	// Filled only with StoreOptions.LogAgents:
	Agents     []uint32    // the crawler of each row, see [Lookup.AgentName]
	Violations []Violation // whether each row is a violation by its crawler; empty with LogAgentsByName
	Skipped    int         // rows that were dropped; no other number counts them

	// Disputes are the verdicts that disallow a URL although another reading of the robots.txt allows it, in the
	// order of Verdicts. Agents that are not crawlers, such as "*", have no disputes.
	Disputes []Dispute

	// Verified says whether each row came from the crawler that it names, and Proofs which list or host proves it.
	// A row that names no crawler is ranges.Null. Filled only with StoreOptions.Ranges.
	Verified []ranges.Answer
	Proofs   []ranges.Proof

	// Evidence has the crawlers' requests for robots.txt and their disallowed requests, in the order of the rows.
	// PeriodBits is the memory of Evidence.DisallowedIn. Filled only with StoreOptions.Evidence.
	Evidence   []Evidence
	PeriodBits []byte

	// Timeless counts, with StoreOptions.RowTimes, the verdicts that disallow a URL by a robots.txt with an unknown
	// effective date: its only timestamp is a file modification time, or it has none. With LogAgents it counts only
	// verdicts that would otherwise be violations.
	Timeless int

	// Unfetched counts, with LogAgents, the verdicts that would be violations if the crawler itself had failed to
	// fetch robots.txt.
	Unfetched int

	// With StoreOptions.Ranges: the rows whose result, verified or impostor, may not have been true at the time of
	// the request, because the row has no time (UntimedRows) or a list has none (UntimedLists).
	UntimedRows, UntimedLists int

	// Filled only with Options.Old:
	Old     *Batch   // the same rows decided by the old store; it shares the columns that the Source filled
	Changes []Change // row i, agent a: Changes[i*agents+a]

	strayNames []byte  // the memory of Strays
	winners    winners // see the type
	streaks    streaks // see the type
	crawlers   counted // see ForCrawlers
	senders    []ranges.Requests
}

// Len returns the number of rows.
func (b *Batch) Len() int { return len(b.URLs) }

// URL returns the URL of row i as read, or nil if its line was too long. It is valid until the next
// Reset.
func (b *Batch) URL(i int) []byte { return b.Piece(b.URLs[i]) }

// AddURL adds a row with a copy of the URL and the number of its line, for programs with their own Source. It fills
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
		Evidence: b.Evidence[:0], PeriodBits: b.PeriodBits[:0], Disputes: b.Disputes[:0],
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

// A Source yields the rows of its inputs in order, like a [bufio.Scanner]. Next resets b, fills it with the next
// rows of one input, and reports whether there were any. If reading fails, Next still yields the rows before the
// fault, and then reports false. A batch without rows may have rejected lines. Err is nil at a clean end. b owns
// its data: the Source does not touch them again.
type Source interface {
	Next(b *Batch) bool
	Err() error
	Close() error
}

// A Sink receives evaluated batches in the order of the input, in one goroutine. It must not keep any part of b
// after Write returns.
type Sink interface {
	Write(b *Batch) error
	Close() error
}

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

// A column has one value per row of a batch, or none if the batch does not have the column.
type column interface {
	keep(rows []uint32) // drops all rows except the given ones, which must be ascending
	truncate(n int)     // drops the rows from n on
}

type columnOf[T any] []T

func (c *columnOf[T]) keep(rows []uint32) {
	if len(*c) > 0 {
		for n, i := range rows {
			(*c)[n] = (*c)[i]
		}
	}
	c.truncate(len(rows))
}

func (c *columnOf[T]) truncate(n int) { *c = (*c)[:min(n, len(*c))] }

// sourceColumns calls do with each column that the Source fills, including those of Kept. Rejects are not a column:
// they have no rows.
func (b *Batch) sourceColumns(do func(column)) {
	for _, c := range [...]column{
		(*columnOf[Span])(&b.URLs), (*columnOf[int64])(&b.Lines), (*columnOf[Span])(&b.UserAgents), (*columnOf[Span])(&b.Clients),
		(*columnOf[int64])(&b.Times), (*columnOf[Span])(&b.Raws), (*columnOf[int64])(&b.Offsets),
	} {
		do(c)
	}
	for i := range b.Kept {
		k := &b.Kept[i]
		do((*columnOf[Span])(&k.Texts))
		do((*columnOf[int64])(&k.Ints))
		do((*columnOf[float64])(&k.Floats))
		do((*columnOf[bool])(&k.Present))
	}
}

// decidedColumns calls do with each column that evaluation fills. The Store must have LogAgents: then a row has one
// verdict. Disputes and Evidence are not columns.
func (b *Batch) decidedColumns(do func(column)) {
	for _, c := range [...]column{
		(*columnOf[SiteID])(&b.Sites), (*columnOf[RulingID])(&b.Rulings), (*columnOf[Verdict])(&b.Verdicts), (*columnOf[Span])(&b.Canonicals),
		(*columnOf[Preference])(&b.Preferences), (*columnOf[Listed])(&b.Listed), (*columnOf[uint32])(&b.Agents),
		(*columnOf[Violation])(&b.Violations), (*columnOf[ranges.Answer])(&b.Verified), (*columnOf[ranges.Proof])(&b.Proofs),
		(*columnOf[Change])(&b.Changes),
	} {
		do(c)
	}
}

// Truncate drops the rows from n on, in all columns that the Source fills.
func (b *Batch) Truncate(n int) { b.sourceColumns(func(c column) { c.truncate(n) }) }

// A SiteID identifies an origin. From 0 to [Store.NumSites]-1, it is an origin that the Store knows. If the stray bit
// is set, the origin has no rules, and the rest is an index of [Batch.Strays].
type SiteID uint32

const (
	strayBit SiteID = 1 << 31
	// NoSite is the SiteID of a URL that has no valid origin.
	NoSite SiteID = 1<<32 - 1
)

// Stray reports whether the origin has no rules in the store, and returns its index in [Batch.Strays].
func (id SiteID) Stray() (int, bool) { return int(id &^ strayBit), id != NoSite && id&strayBit != 0 }

// A RulingID identifies the ruling in force for a row: rules, or the outcome of a fetch instead of rules. Sites
// with the same text have the same RulingID, and the RulingID of a site changes in the course of time. Use
// [Lookup.Rule] and [Lookup.FirstAgent] with it.
type RulingID = rules.RulingID

// An Access is the answer. The zero value is Unknown. String returns "unknown", "denied" or
// "allowed".
type Access = rules.Access

// The values of Access.
const (
	Unknown = rules.Unknown // no answer: a bad URL, or an origin without rules under MissingUnknown
	Denied  = rules.Denied  // the crawler may not fetch the URL
	Allowed = rules.Allowed // the crawler may fetch the URL
)

// A Verdict is the answer for one URL and one agent, and why.
type Verdict struct {
	Rule   int32 // number of the winning rule, for [Lookup.Rule]; NoRule if none won
	Reason Reason
	Access Access
}

// NoRule is the Rule of a verdict that was not decided by a rule.
const NoRule = rules.NoRule

// A Reason says how a verdict was decided. String returns it as the output column "reason" spells it.
type Reason = rules.Reason

// The values of Reason.
const (
	ReasonRule               = rules.ReasonRule               // a rule matched
	ReasonDefault            = rules.ReasonDefault            // no rule of the agent matched
	ReasonNoGroup            = rules.ReasonNoGroup            // no group binds the agent
	ReasonNoRobots           = rules.ReasonNoRobots           // the rules lack its robots.txt
	ReasonRobotsTxt          = rules.ReasonRobotsTxt          // the URL is /robots.txt (RFC 9309, 2.2.2)
	ReasonStatus4xx          = rules.ReasonStatus4xx          // fetching robots.txt: client error
	ReasonUnreachable        = rules.ReasonUnreachable        // the same: server or network error
	ReasonUnreachableExpired = rules.ReasonUnreachableExpired // the same, for over 30 days
	ReasonRedirectLimit      = rules.ReasonRedirectLimit      // too many redirects
	ReasonTooLarge           = rules.ReasonTooLarge           // robots.txt is too large for the dialect
	ReasonUndefined          = rules.ReasonUndefined          // the documentation leaves it undefined
	ReasonBadURL             = rules.ReasonBadURL             // the URL has no valid origin
	ReasonBadAgent           = rules.ReasonBadAgent           // with LogAgentsByName: the row names no agent
	NumReasons               = rules.NumReasons
)

// An Answer is the verdict on one URL for one agent, with the rule that won.
type Answer struct {
	Access Access
	Reason Reason
	Rule   robots.Rule // its Line, Value and Allow; zero if no rule won

	// Readings are the answers by other readings, if the URL is disallowed and one of them allows it, see
	// [Dispute].
	Readings [MaxReadings]ReadBy

	// Preferences are the uses of the page that are allowed; zero unless [StoreOptions].Directives contains
	// preference lines.
	Preferences robots.Answers
	License     robots.Note
}

// A Preference is the answer of a robots.txt about how an agent may use a page, by source. How is the number of a
// text for [Lookup.HowUsed]. A Preference never changes a verdict.
type Preference = preference.Answer

// TextKey returns the first half of the SHA-256 of the text in force, so that a caller with the texts can find the
// one that decided. ok is false if the outcome of a fetch decides, or if the store has failed.
func (s *Store) TextKey(id RulingID) (key [16]byte, ok bool) {
	text, ok := id.Text()
	if !ok {
		return key, false
	}
	key = s.rules.Key(text)
	return key, s.Err() == nil
}
