package coverage

import (
	"errors"
	"math"

	"github.com/robobatch/robobatch/aggregate"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/robots"
)

// Options configure a Counter. The zero value counts all agents together, with the default memory.
type Options struct {
	ByAgent  bool
	URLs     int64 // memory for distinct URLs in bytes; more go to a temporary file; 0 means aggregate.DefaultMemory
	Counts   int64 // bytes for counts of rules; 0 means no limit
	Matchers int64 // memory for compiled matchers in bytes; at the limit, all are dropped and built again; 0 means 64 MiB

	TempDir string // directory of the temporary file; "" is the system's default
}

// ErrMemory means that the rules in the log need more memory than Options.Counts.
var ErrMemory = errors.New("too many rules match requests of the log to count them in this memory")

// A Counter is a Sink that counts the requests per rule. Write all batches of a run to it, call Finish, and then
// Report; call CloseTemp at the end. A Counter is not safe for concurrent use.
type Counter struct {
	store  *engine.Store
	opt    Options
	agents int  // verdicts per row
	byRow  bool // each row has its own agent

	rules *aggregate.Rules
	urls  *aggregate.URLs
	memo  []memoEntry

	requests, verdicts, withRules int64
	from, to                      int64
}

// A memoEntry is the outcome of a recent URL.
type memoEntry struct {
	hash uint64
	set  uint32
	what *aggregate.Outcome
}

const memoSize = 1 << 14

// NewCounter returns a Counter for a run. The store must stay open until the last report.
func NewCounter(store *engine.Store, opt Options) *Counter {
	o := store.Options()
	c := &Counter{
		store: store, opt: opt, agents: len(o.Agents), byRow: o.LogAgents != engine.LogAgentsOff,
		rules: aggregate.NewRules(store, aggregate.RulesOptions{ByAgent: opt.ByAgent, Matchers: opt.Matchers}), urls: aggregate.NewURLs(opt.URLs, opt.TempDir),
		memo: make([]memoEntry, memoSize), from: math.MaxInt64, to: math.MinInt64,
	}
	if c.byRow {
		c.agents = 1
	}
	return c
}

// Close does nothing.
func (c *Counter) Close() error { return nil }

// CloseTemp removes the temporary file. It may be called repeatedly.
func (c *Counter) CloseTemp() { c.urls.Close() }

// Finish counts the distinct URLs. Call it after all batches. The error comes from the temporary file.
func (c *Counter) Finish() error {
	err := c.urls.Finish(nil)
	c.rules.CountURLs(c.urls)
	return err
}

// Write counts a batch, see [engine.Batch.ForCrawlers]. It returns ErrMemory if the counts exceed their limit.
func (c *Counter) Write(b *engine.Batch) error {
	b = b.ForCrawlers()
	c.rules.Use(b)
	c.requests += int64(b.Len())
	c.verdicts += int64(len(b.Verdicts))
	var f *aggregate.RuleFile
	for i, id := range b.Rulings {
		if _, stray := b.Sites[i].Stray(); stray || b.Sites[i] == engine.NoSite {
			c.noteTime(b, i)
			continue
		}
		if f == nil || !f.Is(id, b.Sites[i]) {
			f = c.rules.File(id, b.Sites[i])
		}
		f.Requests++
		at := c.noteTime(b, i)
		// Count a row.
		isRuled, hash := false, uint64(0)
		for a, v := range b.Verdicts[i*c.agents:][:c.agents] {
			agent := a
			if c.byRow {
				agent = int(b.Agents[i])
			}
			s, ruled := c.rules.Set(f, agent, v)
			isRuled = isRuled || ruled
			if s == nil {
				continue
			}
			if hash == 0 {
				hash = aggregate.Hash(b.URL(i))
			}
			m := &c.memo[(hash^uint64(s.Number)*0x9e3779b97f4a7c15)>>20%memoSize]
			if m.hash != hash || m.set != s.Number {
				url := b.URL(i)
				prefix := len(url)
				if u, err := robots.SplitURL(url); err == nil {
					prefix = len(u.Prefix)
				}
				*m = memoEntry{hash, s.Number, c.rules.Outcome(url, prefix, f, s, v.Rule)}
			}
			if m.what.Group == 0 {
				m.what.Group = c.urls.NewGroup()
			}
			m.what.Requests++
			if _, err := c.urls.Add(m.what.Group, hash, aggregate.Also{}); err != nil {
				return err
			}
			if at != engine.NoTime {
				m.what.AddTime(at)
			}
		}
		if isRuled {
			c.withRules++
		}
	}
	if c.opt.Counts > 0 && c.rules.Size() > c.opt.Counts {
		return ErrMemory
	}
	return c.store.Err()
}

// noteTime extends the time range of the log by the time of a row, and returns that time; engine.NoTime if the row
// has none.
func (c *Counter) noteTime(b *engine.Batch, row int) int64 {
	if len(b.Times) == 0 || b.Times[row] == engine.NoTime {
		return engine.NoTime
	}
	at := b.Times[row]
	c.from, c.to = min(c.from, at), max(c.to, at)
	return at
}
