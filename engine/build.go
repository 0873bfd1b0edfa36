package engine

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"iter"
	"runtime"
	"slices"
	"time"

	"github.com/robobatch/robobatch/internal/captures"
	"github.com/robobatch/robobatch/robots"
)

// ErrTwoFiles is the error of an origin for which there are two robots.txt, and nothing says which is newer.
var ErrTwoFiles = captures.ErrTwoFiles

// StoreOptions says how to build or open a Store. The zero value is the dialect rfc9309 for the agent "*".
type StoreOptions struct {
	Dialect robots.Dialect
	Agents  []string // names of crawlers, cut to their product tokens; empty means "*" alone
	Missing Missing

	// LogAgents, unless it is off, has each row decided for the crawler of its User-Agent; Agents does not count.
	LogAgents LogAgents

	AsOf time.Time // the moment whose rules are in force; zero means that of the newest response

	// RowTimes has each row decided by what was in force at its time, Batch.Times, see [robots.History.Periods]: that of
	// AsOf if AsOf were that time, which does not count itself. Rows without a time are decided by what was in force at the
	// newest response, and rows before the first one of their origin as those of an origin without robots.txt.
	RowTimes bool

	Workers int // compiling goroutines; 0 or less means GOMAXPROCS

	// Canonical keeps the clean-param lines, so that Evaluate fills Batch.Canonicals. Texts that have such lines are
	// then kept in memory.
	Canonical bool

	// MaxMemory is how many bytes a run may take, about, before rules of a pack are dropped, to be loaded again when they
	// are needed; 0 or less is no limit. BuildStore keeps all, whatever it is. See [OpenPack].
	MaxMemory int64
}

// A storeBuilder collects responses while workers compile their texts.
type storeBuilder struct {
	store    *Store
	agents   []robots.Agent
	history  *robots.History
	undated  captures.Undated
	texts    map[captures.Key]*compiledText
	captures []*compiledText // by number in history; nil for a response without rules
	cleans   bool            // clean-param lines are wanted
	fixed    map[robots.Outcome][]*Ruleset
	workers  compilers
}

// A compiledText is what became of one distinct text.
type compiledText struct {
	key    captures.Key
	rules  []*Ruleset // by agent
	firsts []uint16   // see Site
	memory Memory
	used   bool               // by a site
	ruling SiteID             // that site, with StoreOptions.RowTimes
	clean  robots.CleanParams // if they are wanted
}

// BuildStore parses and compiles the responses, in parallel, while it reads them, and then settles which of them is in
// force for each origin, see [robots.History.Outcome]. Equal texts are compiled once; the bodies are not kept. An error
// of the responses, two of unknown time for one origin, or rules too large to compile end it; the error says which file.
func BuildStore(responses iter.Seq2[robots.Response, error], opt StoreOptions) (*Store, error) {
	if len(opt.Agents) == 0 {
		opt.Agents = []string{"*"}
	}
	if opt.LogAgents != LogAgentsOff {
		opt.Agents = logAgentNames()
	}
	b := &storeBuilder{
		store: &Store{
			dialect: opt.Dialect,
			names:   slices.Clone(opt.Agents),
			ids:     map[robots.Origin]SiteID{},
			missing: Verdict{NoRule, ReasonNoRobots, missingAccess[opt.Missing]},

			logAgents: opt.LogAgents,
		},
		history: robots.NewHistory(opt.Dialect),
		undated: captures.Undated{},
		texts:   map[captures.Key]*compiledText{},
		fixed:   map[robots.Outcome][]*Ruleset{},
		cleans:  opt.Canonical,
	}
	for _, name := range opt.Agents {
		b.agents = append(b.agents, robots.NewAgent(name, opt.Dialect))
	}
	b.workers.start(cmp.Or(max(0, opt.Workers), runtime.GOMAXPROCS(0)), b.compile)
	readErr := b.readAll(responses)
	if err := errors.Join(readErr, b.workers.wait()); err != nil {
		return nil, err
	}
	if opt.RowTimes {
		b.settleTimes()
	} else {
		b.settle(opt.AsOf)
	}
	b.store.setCommon()
	return b.store, nil
}

func (b *storeBuilder) readAll(responses iter.Seq2[robots.Response, error]) error {
	for r, err := range responses {
		if err != nil {
			return fmt.Errorf("read rules: %w", err)
		}
		if err := b.undated.Add(&r); err != nil {
			return err
		}
		b.add(r)
	}
	return nil
}

// add notes a response, and sets a worker to compile its text unless that is known.
func (b *storeBuilder) add(r robots.Response) {
	b.history.Add(r)
	d := b.store.dialect
	if !d.HasRules(&r) {
		b.captures = append(b.captures, nil)
		return
	}
	key := captures.KeyOf(r.Body)
	text, known := b.texts[key]
	if !known {
		text = &compiledText{key: key}
		b.texts[key] = text
		b.workers.add(compileJob{text, r})
	}
	b.captures = append(b.captures, text)
}

// compile compiles the text of a response.
func (b *storeBuilder) compile(j compileJob) error {
	d := b.store.dialect
	if err := j.text.compile(j.response.Body, b.agents, d); err != nil {
		return fmt.Errorf("compile the rules of %s from %s: %w", j.response.Origin, j.response.Name, err)
	}
	if b.cleans {
		j.text.clean = cleanParams(j.response.Body, d)
	}
	return nil
}

// compile parses the text and compiles it for each agent.
func (c *compiledText) compile(body []byte, agents []robots.Agent, d robots.Dialect) (err error) {
	if c.rules, err = compileRulesets(robots.Parse(body, d), agents, d); err != nil {
		return err
	}
	c.firsts = firstAgents(c.rules)
	for i, rs := range c.rules {
		if int(c.firsts[i]) == i {
			c.memory.add(rs)
		}
	}
	return nil
}

// settle makes the sites, each with the rules that are in force at the moment, adds up what they take, and hashes them.
func (b *storeBuilder) settle(asOf time.Time) {
	s := b.store
	origins := b.history.Origins()
	hashes := make([]siteHash, 0, len(origins))
	if b.cleans {
		s.cleans = []robots.CleanParams{} // not nil
	}
	for _, o := range origins {
		outcome := b.history.Outcome(o, asOf)
		h := siteHash{origin: o, effect: outcome.Effect, cause: outcome.Cause}
		var (
			rules  []*Ruleset
			firsts []uint16
			clean  robots.CleanParams
		)
		switch outcome.Effect {
		case robots.NoRecord:
			continue
		case robots.UseRules:
			text := b.captures[outcome.Capture]
			rules, firsts, clean, h.text = text.rules, text.firsts, text.clean, text.key
			b.use(text)
		case robots.AllowAll, robots.DisallowAll:
			rules, firsts = b.fixedRules(outcome), make([]uint16, len(b.agents))
		}
		s.ids[o] = SiteID(len(s.sites))
		s.sites = append(s.sites, Site{Origin: o, Rules: rules, Firsts: firsts})
		if b.cleans {
			s.cleans = append(s.cleans, clean)
		}
		hashes = append(hashes, h)
	}
	s.hash = hashSites(hashes)
}

// use counts what a text takes that decides for some origin.
func (b *storeBuilder) use(text *compiledText) {
	if !text.used {
		text.used = true
		b.store.memory.Files++
		b.store.memory.merge(text.memory)
	}
}

// fixedRules returns rules that give the same verdict on every URL.
func (b *storeBuilder) fixedRules(o robots.Outcome) []*Ruleset {
	o.Capture = 0 // of no matter
	rules, known := b.fixed[o]
	if !known {
		rules = slices.Repeat([]*Ruleset{fixedRuleset(o)}, len(b.agents))
		b.fixed[o] = rules
	}
	return rules
}

// A siteHash is what [Store.RulesHash] depends on.
type siteHash struct {
	origin robots.Origin
	effect robots.Effect
	cause  robots.Cause
	text   captures.Key // zero unless rules of a text decide

	dated bool  // with StoreOptions.RowTimes: one of several of the origin, in their order
	from  int64 // microseconds since 1970
}

// hashSites hashes the sites in the order of their origins. It changes the order of the slice.
func hashSites(sites []siteHash) string {
	slices.SortStableFunc(sites, func(a, b siteHash) int { return cmp.Compare(a.origin, b.origin) })
	h := sha256.New()
	for _, s := range sites {
		s.write(h)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// write hashes the site.
func (s *siteHash) write(h hash.Hash) {
	h.Write([]byte(s.origin))
	h.Write([]byte{0, byte(s.effect), byte(s.cause)})
	h.Write(s.text[:])
	if s.dated {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(s.from)))
	}
}

func (m *Memory) add(rs *Ruleset) {
	const ref = 4 + 4 + 4 + 4
	m.Rules += len(rs.rules)
	m.Tables += int64(rs.automaton.Size() + rs.rivals.size())
	m.Refs += int64(len(rs.rules) * ref)
	m.Text += int64(len(rs.text))
}

func (m *Memory) merge(o Memory) {
	m.Rules += o.Rules
	m.Tables += o.Tables
	m.Refs += o.Refs
	m.Text += o.Text
}
