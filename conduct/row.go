package conduct

import (
	"math"

	"github.com/robobatch/robobatch/crawlers/ranges"
	"github.com/robobatch/robobatch/engine"
)

// A Conduct is a crawler's knowledge when it made a request that the text in force forbids.
type Conduct uint8

// The values of Conduct.
const (
	Knew       Conduct = iota // its last answer to /robots.txt forbade the request
	Held                      // that allowed it, and was no older than copies may be
	Outdated                  // that allowed it, and was older
	Shared                    // it had none, but another crawler of its operator had
	NeverAsked                // none of them had, in a log that begins early enough to tell, and shows requests of robots.txt
	Unseen                    // none of them had, and they may have asked before the log begins, or where it does not show that; or by its last answer the site had another text, or none
	NumConducts
)

// String returns the conduct as columns spell it: never_asked.
func (c Conduct) String() string {
	return [...]string{"knew", "held", "outdated", "shared", "never_asked", "unseen"}[c]
}

// NoTime is a moment that there was not, and NoDelay a Crawl-delay that there is not.
const (
	NoTime  = engine.NoTime
	NoDelay = noDelay
)

// A Row is the acts of a crawler at an origin, or at all of them. Times are microseconds since 1970 UTC, and spans of time
// microseconds.
type Row struct {
	Agent, Operator, Origin string // Operator is "" if unknown; Origin is "" for all origins

	// Requests that used the name of the crawler, by who sent them. All other numbers leave Impostors out.
	Requests, Verified, Impostors, Unpublished, Stale, NoAddress int64

	Robots                   int64 // requests of /robots.txt
	Answers                  int64 // such requests with a time and an answer that counts
	FirstAnswer, LastAnswer  int64 // NoTime without Answers
	AnswerMedian, AnswerMost int64 // between neighbouring Answers; of use from two on
	AnswerGaps               int64 // how many of these there are

	Disallowed int64 // requests that the text in force forbids, but those without a time
	Untimed    int64 // those
	Violations int64
	Conducts   [NumConducts]int64 // Disallowed, by the crawler's knowledge

	Delay           int64 // the Crawl-delay of the newest text; NoDelay for all origins, too
	Gaps, ShortGaps int64 // between neighbouring requests but those of /robots.txt, where the text of the later one has a Crawl-delay; and those shorter than that
	First, Last     int64 // of all requests; NoTime if none has a time
	Bytes           int64 // MostBytes also stands for more
}

// NewRow returns the Row of no request.
func NewRow(agent, operator, origin string) *Row {
	return &Row{
		Agent: agent, Operator: operator, Origin: origin,
		FirstAnswer: NoTime, LastAnswer: NoTime, Delay: noDelay, First: NoTime, Last: NoTime,
	}
}

// MostBytes is where sums of bytes end.
const MostBytes = math.MaxInt64

// Add adds the counts of another Row. Medians cannot be added, and a delay belongs to one origin.
func (r *Row) Add(o *Row) {
	r.Requests += o.Requests
	r.Verified += o.Verified
	r.Impostors += o.Impostors
	r.Unpublished += o.Unpublished
	r.Stale += o.Stale
	r.NoAddress += o.NoAddress
	r.Robots += o.Robots
	r.Answers += o.Answers
	r.AnswerGaps += o.AnswerGaps
	r.Disallowed += o.Disallowed
	r.Untimed += o.Untimed
	r.Violations += o.Violations
	r.Gaps += o.Gaps
	r.ShortGaps += o.ShortGaps
	r.Bytes = addBytes(r.Bytes, o.Bytes)
	for c, n := range o.Conducts {
		r.Conducts[c] += n
	}
	r.AnswerMost = max(r.AnswerMost, o.AnswerMost)
	r.FirstAnswer, r.LastAnswer = earlier(r.FirstAnswer, o.FirstAnswer), max(r.LastAnswer, o.LastAnswer)
	r.First, r.Last = earlier(r.First, o.First), max(r.Last, o.Last)
}

// A Request is a disallowed request.
type Request struct {
	Agent, Operator, Origin string
	At                      int64
	Conduct                 Conduct
	Violated                bool
	URL                     []byte        // as read, as the next two
	Client, UserAgent       []byte        // nil if the log has no User-Agent
	Status                  int64         // of the answer; 0 if the log has no status
	Verified                ranges.Answer // whether it came from the crawler; Null if nobody looked
	Rule                    []byte        // that forbids it, as written; "" if no line does
	RuleLine                int64         // 0 if no line does
	Answer                  int64         // when the crawler last had an answer that counts; NoTime is never
	HadText                 bool          // that gave a text
	Capture                 int64         // start of the period of that text; NoTime if unknown
}

// A Moment is an answer that counts, or a request that the text in force forbids.
type Moment struct {
	Agent    string
	At       int64
	IsAnswer bool
	Conduct  Conduct // of a request, as Violated
	Violated bool
}

// A Change is a text that took the place of another, or of none, and a crawler's answer to it. Only crawlers
// that fetched it, or that it forbade a request, have one.
type Change struct {
	Agent, Operator, Origin string
	At                      int64 // when the first capture saw it
	Answer                  int64 // when the crawler first had it; NoTime is never
	Before, After           int64 // requests that it forbids, before and after that
}

// A Misfit is an origin whose answers in the log contradict its text. Over a tenth of those that can be compared have other
// bytes, so that they gave another text; or most say that there is none, by 404 or 410. Fields of the other kind are 0.
type Misfit struct {
	Origin            string
	Answers, Compared int64
	Size, Text        int64 // bytes of the first such answer, and of the text in force
	Denied, Told      int64 // answers that say that there is none, of these and those that gave a text

	// Hidden are requests that are unseen because the log shows too few requests of robots.txt, as where a CDN answers them:
	// of that many Busy crawlers, less than half have Asked.
	Hidden, Busy, Asked int64

	// Requests that the text forbids, of all crawlers that asked: those unseen for what their answers gave, and those made
	// against a text that they had.
	Unseen, Knew int64
}

// IsUnlike reports whether the answers contradict the text: not where the log only lacks them.
func (m *Misfit) IsUnlike() bool { return m.Answers+m.Denied > 0 }

// Disproves reports whether the answers leave nothing that is known about what crawlers knew of the text.
func (m *Misfit) Disproves() bool { return m.IsUnlike() && m.Knew == 0 }

// A Report receives the findings of a Journal, in order of origins and crawlers; if rows are of all origins, in order of
// crawlers, at the end. Its arguments are valid until it returns.
type Report interface {
	Row(*Row) error
	Request(*Request) error // in order of time for each crawler and origin; only with Options.Requests
	Change(*Change) error   // the same
	Misfit(*Misfit) error
}
