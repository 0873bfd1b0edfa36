package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/robobatch/robobatch/automaton"
	"github.com/robobatch/robobatch/crawlers"
	"github.com/robobatch/robobatch/crawlers/ranges"
	"github.com/robobatch/robobatch/engine/internal/packed"
	"github.com/robobatch/robobatch/engine/internal/rules"
	"github.com/robobatch/robobatch/internal/captures"
	"github.com/robobatch/robobatch/robots"
	"github.com/robobatch/robobatch/sitemap"
)

var (
	// ErrTwoFiles is the error if an origin has two robots.txt files and nothing says which is newer.
	ErrTwoFiles = captures.ErrTwoFiles
	// ErrAgent is the error for an agent that the Store was not built for.
	ErrAgent = errors.New("the rules were not compiled for this agent")
)

// A PackDialectError says that a pack is opened for another dialect, or other options of the dialect, than it was
// compiled for. The fields Compiled and Asked are the two [robots.Dialect]s.
type PackDialectError = packed.DialectError

// Missing says how to decide for an origin that has no robots.txt in the rules.
type Missing uint8

// The values of Missing.
const (
	MissingAllow    Missing = iota // everything is allowed, as without a robots.txt (RFC 9309 section 2.3.1.3)
	MissingDisallow                // everything is disallowed
	MissingUnknown                 // there is no answer
)

// missingAccess is the answer for an origin without robots.txt.
var missingAccess = [...]Access{MissingAllow: Allowed, MissingDisallow: Denied, MissingUnknown: Unknown}

// StoreOptions say how to build or open a Store. The zero value means the dialect rfc9309 and the agent "*".
type StoreOptions struct {
	Dialect robots.Dialect // zero, or only URLAsIs, means RFC9309
	Agents  []string       // names of crawlers, cut to their product tokens; empty means only "*"
	Missing Missing

	// LogAgents, unless it is off, decides each row for the crawler that its User-Agent names, or for the agent
	// that the row names. Agents is then ignored.
	LogAgents LogAgents

	AsOf time.Time // the moment whose rules are in force; zero means the time of the newest response

	// RowTimes decides each row by the rules in force at its time, see Batch.Times and [robots.History.Periods].
	// AsOf is then ignored. A row without a time is decided by the rules in force at the newest response. A row
	// before the first response of its origin is decided as if the rules lacked the origin's robots.txt.
	RowTimes bool

	// Cache is, with RowTimes, how long a crawler may use a copy of a robots.txt whose response does not say so.
	// Until then, a fetch that the copy allows is not a Violation. 0 means 24 hours; a negative value means that
	// crawlers use no copies.
	Cache time.Duration

	// Ranges verify, with LogAgents, whether each row came from its crawler, by the addresses in Batch.Clients. nil
	// means no verification. A Store does not change them.
	Ranges *ranges.Lists

	// Sitemaps, unless it is nil, fills Batch.Listed with whether the set contains the URL.
	Sitemaps *sitemap.Set

	// Evidence fills Batch.Evidence; it requires LogAgentsStar.
	Evidence bool

	Workers int // compiling goroutines; 0 or less means GOMAXPROCS

	// Tokens keeps the product tokens that groups name, for [Store.Tokens].
	Tokens bool

	// Directives are the directives whose lines are kept in memory, for [Lookup.Note]. With
	// [robots.CleanParamLines], Evaluate fills Batch.Canonicals.
	Directives []robots.Directive

	// Choices records by which name the groups of each agent are chosen, for [Lookup.Choice].
	Choices bool

	// MaxMemory is the approximate limit for the memory of a run, in bytes. To stay below it, a Store from a pack
	// drops rules, and loads them again when a row needs them. 0 or less means no limit. BuildStore ignores it and
	// keeps all rules in memory.
	MaxMemory int64

	// Reserved is the number of bytes of MaxMemory that the run takes besides rules and their index, for example
	// for its batches and its output. 0 means 96 MiB.
	Reserved int64

	namer    *namer          // with LogAgents
	misread  *rules.Misread  // nil if no operator of Agents documents another dialect
	readings *rules.Readings // nil if the operators of Agents have no other reading
}

// dialectOf returns the dialect, or RFC9309 if only options about URLs are set.
func dialectOf(d robots.Dialect) robots.Dialect {
	if d&^packed.URLFlags == 0 {
		return d | robots.RFC9309
	}
	return d
}

// withDefaults returns a copy of the options with defaults filled in, and the options for package rules. Both are for
// one Store, because they share what it collects.
func (opt StoreOptions) withDefaults() (StoreOptions, rules.Options) {
	opt.Dialect = dialectOf(opt.Dialect)
	if opt.Agents = slices.Clone(opt.Agents); len(opt.Agents) == 0 {
		opt.Agents = []string{"*"}
	}
	r := rules.Options{
		Dialect: opt.Dialect, Moment: rules.Moment{At: opt.AsOf, Rows: opt.RowTimes}, Directives: opt.Directives, Workers: opt.Workers, Choices: opt.Choices,
	}
	if opt.LogAgents != LogAgentsOff {
		newNamer := newNamer
		if opt.LogAgents == LogAgentsByName {
			newNamer = newNamerByName
		}
		n, names := newNamer(opt.Dialect)
		opt.Agents, opt.namer, r.Named = names, n, n.canName
	}
	for _, name := range opt.Agents {
		r.Agents = append(r.Agents, robots.NewAgent(name, opt.Dialect))
	}
	r.Misread = rules.NewMisread(opt.Agents, opt.Dialect)
	opt.misread = r.Misread
	if opt.LogAgents != LogAgentsByName {
		r.Readings = rules.NewReadings(opt.Agents, opt.LogAgents != LogAgentsOff, opt.Dialect)
		opt.readings = r.Readings
	}
	if opt.Tokens || r.Named != nil {
		r.Tokens = new(rules.Tokens)
	}
	return opt, r
}

// A Store has the rules of many origins, compiled for some agents in one dialect. It is immutable and safe for
// concurrent use. [BuildStore] keeps all rules in memory; [OpenPack] loads them from a pack when rows need them.
type Store struct {
	rules    rules.Store
	opt      StoreOptions
	bindings []Binding                   // by agent of opt
	namer    *namer                      // nil without LogAgents
	verifier *verifier                   // nil without StoreOptions.Ranges
	without  [rules.NoRobots + 1]Verdict // by RulingID: verdicts of a bad URL, and of an origin without robots.txt
	askers   sync.Pool                   // for Verdict

	otherPaths robots.Dialect // a reading with another normal form of paths, or the dialect if there is none
}

// newStore returns a Store of rules. opt is a result of withDefaults. The namer of opt gets its tokens.
func newStore(r rules.Store, opt StoreOptions) *Store {
	s := &Store{otherPaths: opt.readings.OtherPaths(opt.Dialect), rules: r, opt: opt, bindings: make([]Binding, len(opt.Agents)), namer: opt.namer, verifier: newVerifier(&opt)}
	for i, name := range opt.Agents {
		token, _, _ := strings.Cut(name, "/")
		switch c, known := crawlers.Lookup(token); {
		case known && c.Unbound:
			s.bindings[i] = Exempt
		case known && !c.Unstated:
			s.bindings[i] = Bound
		}
	}
	if s.namer != nil {
		tokens, complete := r.Tokens()
		s.namer.tokens = newTokenFilter(tokens, complete, s.namer.canName)
	}
	s.without[rules.NoRuling] = Verdict{NoRule, ReasonBadURL, Unknown}
	s.without[rules.NoRobots] = Verdict{NoRule, ReasonNoRobots, missingAccess[opt.Missing]}
	s.askers.New = func() any { return &asker{eval: s.NewEvaluator(), lookup: s.NewLookup()} }
	return s
}

// BuildStore returns a Store of responses. It parses and compiles them in parallel while it reads them, and then
// determines which of them is in force for each origin, see [robots.History.Outcome]. Equal texts are compiled
// once, and no body stays in memory. It stops at an error of the responses, ErrTwoFiles, an invalid Origin (a
// [*robots.OriginError]), or rules that are too large to compile; the error names the file.
func BuildStore(responses iter.Seq2[robots.Response, error], opt StoreOptions) (*Store, error) {
	opt, forRules := opt.withDefaults()
	r, err := rules.Build(normalOrigins(responses), forRules)
	if err != nil {
		return nil, err
	}
	return newStore(r, opt), nil
}

// normalOrigins yields the responses with normalised Origins. Rules under another spelling of an origin would silently
// decide nothing. Most Origins are normalised already: if so, no text is allocated. For all others,
// [robots.ParseOrigin] normalises, or says what is wrong.
func normalOrigins(responses iter.Seq2[robots.Response, error]) iter.Seq2[robots.Response, error] {
	return func(yield func(robots.Response, error) bool) {
		var text, normal []byte
		for r, err := range responses {
			if err == nil {
				text = append(text[:0], r.Origin...)
				if u, _ := robots.SplitURL(text); len(u.Path) == 0 {
					normal, _ = robots.AppendOrigin(normal[:0], u)
				}
				if string(normal) != string(r.Origin) || r.Origin == "" {
					if r.Origin, err = robots.ParseOrigin(string(r.Origin)); err != nil {
						err = fmt.Errorf("read rules from %q: %w", r.Name, err)
					}
				}
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

// OpenPack opens the named pack, which must be compiled for opt.Dialect, except for [robots.URLAsIs]. The Store is
// ready at once: it loads the rules of an origin when a row first needs them. Without opt.MaxMemory, loaded rules
// stay in memory. With it, the index and the run take their share; five eighths of the rest are for rules in use,
// and three eighths for dropped rules that are not yet garbage-collected. Call [Store.Close] at the end. Loading
// can fail during a run: see [Store.Err]. The error is a [*PackDialectError], comes from the operating system, or
// says how the pack is damaged.
func OpenPack(name string, opt StoreOptions) (*Store, error) {
	opt, forRules := opt.withDefaults()
	r, err := packed.Open(name, packed.Options{Options: forRules, MaxMemory: opt.MaxMemory, Reserved: opt.Reserved})
	if err != nil {
		return nil, err
	}
	return newStore(r, opt), nil
}

// IndexMemory returns how many bytes of MaxMemory the index of the named pack takes before any rules are loaded. It
// reads only the header of the pack. Its errors are those of [OpenPack].
func IndexMemory(name string) (int64, error) {
	n, err := packed.IndexMemory(name)
	if err != nil {
		err = fmt.Errorf("read the rule pack %s: %w", name, err)
	}
	return n, err
}

// MinRules is the minimum memory for rules that a run needs besides the index of the pack and the Reserved bytes.
// With less, the run exceeds MaxMemory.
const MinRules = packed.MinRoom

// OpenPackFile is like [OpenPack], for a pack in an open file, which may be unlinked. It is always read with system
// calls, even without a memory limit. Unless there is an error, the Store owns the file, and [Store.Close] closes
// it.
func OpenPackFile(f *os.File, opt StoreOptions) (*Store, error) {
	opt, forRules := opt.withDefaults()
	r, err := packed.OpenFile(f, packed.Options{Options: forRules, MaxMemory: opt.MaxMemory, Reserved: opt.Reserved})
	if err != nil {
		return nil, err
	}
	return newStore(r, opt), nil
}

// A PackFile is the destination of a pack, such as an empty *os.File that can be read.
type PackFile interface {
	io.Writer
	io.WriterAt
	io.ReaderAt
}

// PackOptions say how to write a pack. The zero value is the dialect rfc9309.
type PackOptions struct {
	Dialect robots.Dialect // zero means RFC9309
	Workers int            // compiling goroutines; 0 or less means GOMAXPROCS
	TempDir string         // for data that does not fit in memory; "" means the default

	// Notes returns the notes that the pack stores about its rules, for example about damage: at most 1 MiB of any
	// bytes, see [Store.Notes]. It is called after all responses have been read; nil means no notes.
	Notes func() []byte
}

// PackStats count the content of a pack.
type PackStats struct {
	Origins   int   // whose robots.txt was fetched, successfully or not
	Responses int   // Responses int
	Texts     int   // distinct texts
	Rulesets  int   // distinct compiled rule sets
	Bytes     int64 // of the pack

	// Odd counts the texts that are not valid robots.txt, judged by their bytes. Its Worst are the first ones.
	Odd OddCount
}

// An OddCount counts robots.txt files that are not valid: HTML pages, or bytes that are not text. Number is their
// number, Rows the URLs that they decided, Kinds their number by [robots.Oddity], and Worst up to three examples.
type OddCount = rules.OddCount

// An OddOrigin is an Origin whose robots.txt is not valid, with the reason (Odd) and the number of its Rows.
type OddOrigin = rules.OddOrigin

// WritePack compiles the responses in parallel, for any agent and any moment, and writes them as a pack, which
// [OpenPack] reads. The bytes of the pack depend only on the responses, their order, and the notes. It uses about
// 60 bytes of memory per distinct text and rule set, and 16 per origin. The errors are those of [BuildStore] and of
// writing files.
func WritePack(ctx context.Context, file PackFile, responses iter.Seq2[robots.Response, error], opt PackOptions) (PackStats, error) {
	stats, err := packed.Write(ctx, file, normalOrigins(responses), packed.WriteOptions{
		Dialect: dialectOf(opt.Dialect), Workers: opt.Workers, TempDir: opt.TempDir, Notes: opt.Notes,
	})
	return PackStats(stats), err
}

// Memory is the size of compiled rules in bytes; equal texts are counted once.
type Memory struct {
	Files  int   // distinct texts
	Rules  int   // patterns in the groups that the agents select
	Tables int64 // bytes of the automata
	Refs   int64 // bytes of line, length and place of each rule's text, for the columns rule_line and rule
	Text   int64 // bytes of that text: the rules' values as written
}

// NumSites returns the number of origins that were fetched at any time. Their SiteIDs are 0 to NumSites-1.
func (s *Store) NumSites() int { return s.rules.NumSites() }

// Knows reports whether the normalised origin is a site, that is, whether it was fetched at any time.
func (s *Store) Knows(o robots.Origin) bool {
	_, _, known := s.rules.Reader(unknownUsers).Find([]byte(o))
	return known
}

// Tokens returns the product tokens that groups of any robots.txt name, each in one spelling, in the order of their
// lower case. complete is false if there were too many to keep. A Store from BuildStore has them only with
// StoreOptions.Tokens; a pack always has them. After an error of [Store.Err] it returns none.
func (s *Store) Tokens() (tokens []robots.ProductToken, complete bool) { return s.rules.Tokens() }

// MissesPolicies reports whether StoreOptions.Directives asks for [robots.PolicyLines] and the pack has policy
// groups, but was compiled by a program that did not know them. These lines then have no effect.
func (s *Store) MissesPolicies() bool {
	if !slices.Contains(s.opt.Directives, robots.PolicyLines) {
		return false
	}
	tokens, _ := s.rules.Tokens()
	return slices.ContainsFunc(tokens, robots.ProductToken.IsPolicy)
}

// InForce returns the number of origins with rules, or with an outcome instead of rules, at the moment of the store
// or, with StoreOptions.RowTimes, at any moment.
func (s *Store) InForce() int { return s.rules.InForce() }

// Err returns the first error of loading from a pack, or nil. After an error, no result of the Store and its
// Evaluators is valid.
func (s *Store) Err() error { return s.rules.Err() }

// Close closes the pack of the Store, if it has one. The Store must not be used after that.
func (s *Store) Close() error { return s.rules.Close() }

// Notes returns the notes of a pack, see [PackOptions], or nil without a pack. The caller must not change them.
func (s *Store) Notes() []byte {
	if pack, ok := s.rules.(interface{ Notes() []byte }); ok {
		return pack.Notes()
	}
	return nil
}

// Options returns the Store's options with defaults filled in: the dialect, the agents and so on. The caller must
// not change the slices.
func (s *Store) Options() StoreOptions { return s.opt }

// agentsPerURL returns the number of verdicts per URL: one per agent, or one with LogAgents.
func (s *Store) agentsPerURL() int {
	if s.opt.LogAgents != LogAgentsOff {
		return 1
	}
	return len(s.opt.Agents)
}

// RulesHash returns a hash, in hexadecimal, of the origins with the texts or outcomes that are in force. It does
// not depend on the files that they were read from, nor on their order.
func (s *Store) RulesHash() string { return s.rules.Hash() }

// Memory returns the size of the compiled rules. For a pack, it counts all rules loaded so far, each once.
func (s *Store) Memory() Memory { return Memory(s.rules.Memory()) }

// EnoughMemory returns the MaxMemory that would have avoided all dropping and repeated loading of rules so far. It
// is 0 if that took little time.
func (s *Store) EnoughMemory() int64 { return s.rules.Enough() }

// An asker holds the memory of Verdict.
type asker struct {
	batch  Batch
	eval   *Evaluator
	lookup *Lookup
}

// Verdict decides one URL for one of the agents in Options. With LogAgents, agent is the User-Agent of a request.
// With RowTimes, the rules are those of the newest response. A bad URL is not an error but has the reason bad_url.
// The error wraps ErrAgent, or is that of [Store.Err]. For many URLs, [Run] or an [Evaluator] takes a tenth of the
// time per URL.
func (s *Store) Verdict(url, agent string) (Answer, error) {
	n := slices.Index(s.opt.Agents, agent)
	if s.opt.LogAgents == LogAgentsOff && n < 0 {
		return Answer{}, fmt.Errorf("%w: %s", ErrAgent, agent)
	}
	a := s.askers.Get().(*asker)
	defer s.askers.Put(a)
	b := &a.batch
	b.Reset()
	b.Data = append(append(b.Data, url...), agent...)
	b.URLs, b.Lines = append(b.URLs, Span{0, uint32(len(url))}), append(b.Lines, 1)
	if s.opt.LogAgents != LogAgentsOff {
		b.UserAgents, n = append(b.UserAgents, Span{uint32(len(url)), uint32(len(agent))}), 0
	}
	if a.eval.Evaluate(b); b.Len() == 0 {
		return Answer{}, fmt.Errorf("%w: %s", ErrAgent, agent)
	}
	v := b.Verdicts[n]
	answer := Answer{Access: v.Access, Reason: v.Reason}
	for i := range b.Disputes {
		if d := &b.Disputes[i]; int(d.Verdict) == n {
			answer.Readings = d.By
		}
	}
	if v.Rule != NoRule || len(b.Preferences) > 0 {
		a.lookup.Use(b)
	}
	if v.Rule != NoRule {
		answer.Rule = a.lookup.Rule(b.Rulings[0], b.agent(0, n), v.Rule)
	}
	if len(b.Preferences) > 0 {
		p, id := b.Preferences[n], b.Rulings[0]
		answer.Preferences = robots.Answers{Said: p.Said, How: a.lookup.HowUsed(id, b.agent(0, n), p)}
		if slices.Contains(s.opt.Directives, robots.LicenseLines) {
			answer.License, _ = a.lookup.Note(id, b.agent(0, n), robots.LicenseLines)
		}
	}
	return answer, s.Err()
}

// A Choice says by which name the groups of an agent are chosen. String returns "name" for the agent's own product
// token, "family" for another token that it answers to, "*", or "none" if no group binds it.
type Choice = rules.Choice

// The values of Choice.
const (
	NoChoice   = rules.NoChoice
	ByToken    = rules.ByToken
	ByFallback = rules.ByFallback
	ByStar     = rules.ByStar
)

// InForce appends the ruling in force for a site at each moment, in microseconds since 1970 UTC. [NoTime] means the
// time of the newest capture. Without [StoreOptions].RowTimes, all moments mean the store's own moment.
func (m *Lookup) InForce(dst []RulingID, site SiteID, moments []int64) []RulingID {
	_, id, _ := m.reader.Find([]byte(m.reader.Origin(uint32(site))))
	var periods []rules.Period
	if id == rules.Dated {
		periods = m.reader.Periods(uint32(site))
	}
	for _, at := range moments {
		if periods != nil {
			if at == NoTime {
				at = m.reader.Newest(uint32(site))
			}
			id = periods[rules.Index(periods, at)].ID
		}
		dst = append(dst, id)
	}
	return dst
}

// Span returns, with [StoreOptions].RowTimes, the time of the first ruling in force for a site and the time of its
// newest capture. ok is false if no capture has a time.
func (m *Lookup) Span(site SiteID) (first, last int64, ok bool) {
	periods := m.reader.Periods(uint32(site))
	if len(periods) < 2 {
		return 0, 0, false
	}
	return periods[1].From, m.reader.Newest(uint32(site)), true
}

// Answer returns the answer for an agent of [Store.Options] on a normalised path. It ignores other readings.
func (m *Lookup) Answer(id RulingID, agent int, path []byte) (a Answer) {
	if id <= rules.NoRobots {
		v := m.store.without[id]
		return Answer{Access: v.Access, Reason: v.Reason}
	}
	if m.scratch == nil {
		m.scratch = new(automaton.Scratch)
	}
	set := m.set(id, agent)
	v := set.Decide(path, m.scratch)
	a.Access, a.Reason, a.Rule = v.Access, v.Reason, set.Rule(v.Rule)
	if m.store.opt.Dialect.AlwaysAllowed(path) {
		a = Answer{Access: Allowed, Reason: ReasonRobotsTxt}
	}
	r := m.reader.Ruling(id)
	if said := r.Preferences(agent); said != nil {
		var p Preference
		if said.Decide(&p, path, m.scratch); a.Access != Allowed {
			p.Unfetch()
		}
		a.Preferences = robots.Answers{Said: p.Said, How: said.How(p)}
	}
	a.License, _ = m.Note(id, agent, robots.LicenseLines)
	return a
}

// Choice returns by which name the groups of an agent of [Store.Options] are chosen, with [StoreOptions].Choices.
// It is zero if no text is in force.
func (m *Lookup) Choice(id RulingID, agent int) (c Choice) {
	if id > rules.NoRobots {
		if r := m.reader.Ruling(id); agent < len(r.Choices) {
			c = r.Choices[agent]
		}
	}
	return c
}

// Odd returns why the text in force is not a valid robots.txt, or [robots.NotOdd] if it is valid or no text is in
// force.
func (m *Lookup) Odd(id RulingID) robots.Oddity { return m.store.rules.Odd().Of(id) }
