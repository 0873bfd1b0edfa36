package conduct

import (
	"math"

	"github.com/robobatch/robobatch/crawlers/ranges"
	"github.com/robobatch/robobatch/engine"
)

// A Conduct is a crawler's knowledge when it made a disallowed request.
type Conduct uint8

// The values of Conduct.
const (
	Knew       Conduct = iota // its last response to /robots.txt disallowed the request
	Held                      // its last response allowed it, and was not older than copies may be
	Outdated                  // its last response allowed it, but was too old
	Shared                    // it had no response, but another crawler of its operator had one
	NeverAsked                // its operator had no response, in a log that begins early enough to tell
	Unseen                    // unknown, for example because the log begins too late or lacks requests for robots.txt
	NumConducts
)

// String returns the conduct as in output columns: never_asked.
func (c Conduct) String() string {
	return [...]string{"knew", "held", "outdated", "shared", "never_asked", "unseen"}[c]
}

// NoTime is the value of a missing time, and NoDelay that of a missing Crawl-delay.
const (
	NoTime  = engine.NoTime
	NoDelay = noDelay
)

// A Row describes the conduct of a crawler at an origin, or at all origins. Times are in microseconds since 1970 UTC,
// and durations in microseconds.
type Row struct {
	Agent, Operator, Origin string // Operator is "" if unknown; Origin is "" for all origins

	// Requests with the name of the crawler, by sender. All other numbers exclude Impostors.
	Requests, Verified, Impostors, Unpublished, Stale, NoAddress int64

	Robots                   int64 // requests for /robots.txt
	Answers                  int64 // such requests with a time and a response that counts
	FirstAnswer, LastAnswer  int64 // NoTime without Answers
	AnswerMedian, AnswerMost int64 // time between consecutive Answers; meaningful if there are at least two
	AnswerGaps               int64 // number of these gaps

	Disallowed int64 // disallowed requests with a time
	Untimed    int64 // disallowed requests without a time
	Violations int64
	Conducts   [NumConducts]int64 // Disallowed, by the crawler's knowledge

	Delay           int64 // the Crawl-delay of the newest text; NoDelay also for all origins
	Gaps, ShortGaps int64 // gaps between requests (except /robots.txt) under a Crawl-delay, and gaps that are shorter than it
	First, Last     int64 // of all requests; NoTime if none has a time
	Bytes           int64 // MostBytes means this or more
}

// NewRow returns an empty Row.
func NewRow(agent, operator, origin string) *Row {
	return &Row{
		Agent: agent, Operator: operator, Origin: origin,
		FirstAnswer: NoTime, LastAnswer: NoTime, Delay: noDelay, First: NoTime, Last: NoTime,
	}
}

// MostBytes is the limit of sums of bytes.
const MostBytes = math.MaxInt64

// Add adds the counts of another Row, and extends the times and maxima. It does not change AnswerMedian and Delay:
// medians cannot be added, and a delay belongs to one origin.
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
	Verified                ranges.Answer // verification result; Null if not verified
	Rule                    []byte        // the rule that disallows it, as written; "" if no line does
	RuleLine                int64         // 0 if no line does
	Answer                  int64         // time of the crawler's last response that counts; NoTime if there is none
	HadText                 bool          // that response had a text
	Capture                 int64         // start of the period of that text; NoTime if unknown
}

// A Moment is a response that counts, or a disallowed request, with its time.
type Moment struct {
	Agent    string
	At       int64
	IsAnswer bool
	Conduct  Conduct // for a request, like Violated
	Violated bool
}

// A Change is a text that replaced another text or the lack of one, with a crawler's reaction. It is reported only
// for crawlers that fetched the text, or made requests that it disallowed.
type Change struct {
	Agent, Operator, Origin string
	At                      int64 // time of the first capture with it
	Answer                  int64 // when the crawler first fetched it; NoTime if never
	Before, After           int64 // disallowed requests before and after that
}

// A Mismatch is an origin whose responses in the log contradict its text. Either over a tenth of the comparable
// responses have a different size, which shows a different text; or most responses are 404 or 410. Fields of the
// other case are 0.
type Mismatch struct {
	Origin            string
	Answers, Compared int64
	Size, Text        int64 // size of the first such response, and of the text in force
	Denied, Told      int64 // number of 404 or 410 responses, and of these plus responses with a text

	// Hidden is the number of requests with unknown conduct because the log has too few requests for robots.txt, for
	// example if a CDN answers them: less than half of the Busy crawlers have Asked.
	Hidden, Busy, Asked int64

	// Disallowed requests of all crawlers that fetched robots.txt: with unknown conduct because of the responses, and
	// made although the crawler had the text.
	Unseen, Knew int64
}

// IsUnlike reports whether responses contradict the text, rather than being absent from the log.
func (m *Mismatch) IsUnlike() bool { return m.Answers+m.Denied > 0 }

// Disproves reports whether, because of the responses, it is unknown of all crawlers what they knew about the text.
func (m *Mismatch) Disproves() bool { return m.IsUnlike() && m.Knew == 0 }

// A Report receives the findings of a Journal, ordered by origin and crawler. If rows cover all origins, they come at
// the end, ordered by crawler. Arguments are valid until the method returns.
type Report interface {
	Row(*Row) error
	Request(*Request) error // ordered by time for each crawler and origin; only with Options.Requests
	Change(*Change) error   // ordered by time for each crawler and origin
	Mismatch(*Mismatch) error
}
