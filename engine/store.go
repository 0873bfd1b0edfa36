package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/robobatch/robobatch/crawlers/ranges"
	"github.com/robobatch/robobatch/engine/internal/packed"
	"github.com/robobatch/robobatch/engine/internal/rules"
	"github.com/robobatch/robobatch/internal/captures"
	"github.com/robobatch/robobatch/robots"
	"github.com/robobatch/robobatch/sitemap"
)

var (
	// ErrTwoFiles is the error of an origin that has two robots.txt, and nothing says
	// which is newer.
	ErrTwoFiles = captures.ErrTwoFiles
	// ErrAgent is the error of an agent that a Store was not built for.
	ErrAgent = errors.New("the rules were not compiled for this agent")
)

// A PackDialectError says that a pack was compiled for another dialect, or other options of it,
// than it is opened for. Its fields Compiled and Asked are these [robots.Dialect]s.
type PackDialectError = packed.DialectError

// Missing says how to decide for an origin that has no robots.txt in the rules.
type Missing uint8

// The values of Missing.
const (
	MissingAllow    Missing = iota // all is allowed, as if there were none (RFC 9309 section 2.3.1.3)
	MissingDisallow                // nothing is allowed
	MissingUnknown                 // there is no answer
)

// missingAccess is the answer for an origin without robots.txt.
var missingAccess = [...]Access{MissingAllow: Allowed, MissingDisallow: Denied, MissingUnknown: Unknown}

// StoreOptions say how to build or open a Store. The zero value is the dialect rfc9309 for the
// agent "*".
type StoreOptions struct {
	Dialect robots.Dialect // zero, or only URLAsIs, means RFC9309
	Agents  []string       // names of crawlers, cut to their product tokens; empty means "*" alone
	Missing Missing

	// LogAgents, unless it is off, decides each row for the crawler of its User-Agent, or of that
	// name. Agents is then ignored.
	LogAgents LogAgents

	AsOf time.Time // the moment whose rules are in force; zero means the time of the newest response

	// RowTimes decides each row by the rules in force at its time, see Batch.Times and
	// [robots.History.Periods]. AsOf is then ignored. A row without a time is decided by the rules
	// in force at the newest response, and a row before the first response of its origin as if the
	// origin had no robots.txt.
	RowTimes bool

	// Cache is for how long, with RowTimes, a crawler may use a copy of a robots.txt whose response
	// does not say so: until then no fetch that the copy allows is a Violation. 0 means 24 hours;
	// less means that nobody has copies.
	Cache time.Duration

	// Ranges, with LogAgents, say of each row whether it came from its crawler, by the addresses in
	// Batch.Clients. nil asks nobody. A Store does not change them.
	Ranges *ranges.Lists

	// Sitemaps fills Batch.Listed by these URLs, unless it is nil.
	Sitemaps *sitemap.Set

	// Deeds, with LogAgentsStar, fills Batch.Deeds.
	Deeds bool

	Workers int // compiling goroutines; 0 or less means GOMAXPROCS

	// Tokens keeps the product tokens that groups name, for [Store.Tokens].
	Tokens bool

	// Directives are those whose lines are kept in memory, for [Lookup.Note]. With
	// [robots.CleanParamLines] Evaluate fills Batch.Canonicals.
	Directives []robots.Directive

	// Choices keeps by which name the groups of each agent are chosen, for [Lookup.Choice].
	Choices bool

	// MaxMemory is about how many bytes a run may take. Above that, a Store from a pack drops rules
	// and loads them again when a row needs them. 0 or less means no limit. BuildStore ignores it and
	// keeps all rules in memory.
	MaxMemory int64

	// Reserved is the number of bytes of MaxMemory the run takes besides rules and their index, for its batches and its
	// output for instance. 0 means 96 MiB.
	Reserved int64

	namer    *namer          // with LogAgents
	misread  *rules.Misread  // nil if no operator of Agents documents another dialect
	readings *rules.Readings // nil if the operators of Agents have no reading but the dialect
}

// dialectOf returns the dialect: RFC9309 if only options about URLs are set.
func dialectOf(d robots.Dialect) robots.Dialect {
	if d&^packed.URLFlags == 0 {
		return d | robots.RFC9309
	}
	return d
}

// compiled returns the options without gaps, and their meaning for rules.
func (opt StoreOptions) compiled() (StoreOptions, rules.Options) {
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
			newNamer = newByName
		}
		n, names := newNamer(opt.Dialect)
		opt.Agents, opt.namer, r.Named = names, n, n.names
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

// A Store has the rules of many origins, compiled for some agents in one dialect. It is immutable
// and safe for concurrent use. Use [BuildStore], which keeps all rules in memory, or [OpenPack],
// which loads them from a pack when rows need them.
type Store struct {
	rules    rules.Store
	opt      StoreOptions
	bindings []Binding                   // by agent of opt
	namer    *namer                      // nil without LogAgents
	verifier *verifier                   // nil without StoreOptions.Ranges
	without  [rules.NoRobots + 1]Verdict // by RulingID: of a bad URL, and of an origin without robots.txt
	askers   sync.Pool                   // for Verdict

	otherPaths robots.Dialect // a reading of other paths than the dialect's; the dialect if none has any
}

// newStore returns a Store of rules, with the verdicts of rows without rules.
func newStore(r rules.Store, opt StoreOptions) *Store {
	s := &Store{otherPaths: opt.readings.OtherPaths(opt.Dialect), rules: r, opt: opt, bindings: bindingsOf(opt.Agents), namer: opt.namer, verifier: newVerifier(&opt)}
	if s.namer != nil {
		tokens, complete := r.Tokens()
		s.namer.tokens = newTokenFilter(tokens, complete, s.namer.names)
	}
	s.without[rules.NoRuling] = Verdict{NoRule, ReasonBadURL, Unknown}
	s.without[rules.NoRobots] = Verdict{NoRule, ReasonNoRobots, missingAccess[opt.Missing]}
	s.askers.New = func() any { return &asker{eval: s.NewEvaluator(), lookup: s.NewLookup()} }
	return s
}

// BuildStore returns a Store of responses. It parses and compiles them, in parallel, while it reads them, and then
// finds out which of them is in force for each origin, see [robots.History.Outcome]. Equal texts are compiled once, and
// no body stays in memory. An error of the responses, ErrTwoFiles, an invalid Origin (a [*robots.OriginError]), or
// rules too large to compile end it; the error names the file.
func BuildStore(responses iter.Seq2[robots.Response, error], opt StoreOptions) (*Store, error) {
	opt, forRules := opt.compiled()
	r, err := rules.Build(normalOrigins(responses), forRules)
	if err != nil {
		return nil, err
	}
	return newStore(r, opt), nil
}

// normalOrigins yields the responses with their Origins in normal form. Under another form of the
// same origin, rules would decide nothing, without any error.
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
					r.Origin, err = parseOrigin(r.Origin, r.Name)
				}
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

// parseOrigin returns the normal form of the Origin of a response, which was read from the file of
// that name.
func parseOrigin(o robots.Origin, name string) (robots.Origin, error) {
	o, err := robots.ParseOrigin(string(o))
	if err != nil {
		err = fmt.Errorf("read rules from %q: %w", name, err)
	}
	return o, err
}

// OpenPack opens the pack of that name, which must be compiled for opt.Dialect, except for
// [robots.URLAsIs]. The Store is ready at once: it loads the rules of an origin when a row first
// needs them. Without opt.MaxMemory they stay in memory. With it, the index and a run take their
// part of the memory, and five eighths of the rest are for rules in use: the others are for dropped
// ones that are not collected yet. Call [Store.Close] at the end. Loading can fail during a run: see
// [Store.Err]. An error is a [*PackDialectError], one of the operating system, or says how the pack
// is damaged.
func OpenPack(name string, opt StoreOptions) (*Store, error) {
	opt, forRules := opt.compiled()
	r, err := packed.Open(name, packed.Options{Options: forRules, MaxMemory: opt.MaxMemory, Reserved: opt.Reserved})
	if err != nil {
		return nil, err
	}
	return newStore(r, opt), nil
}

// IndexMemory returns how many bytes of MaxMemory the index of the pack of that name takes, before
// any rules are loaded. It reads the header of the pack only. It fails as [OpenPack] does.
func IndexMemory(name string) (int64, error) {
	n, err := packed.IndexMemory(name)
	if err != nil {
		err = fmt.Errorf("read the rule pack %s: %w", name, err)
	}
	return n, err
}

// MinRules is the least room for rules that a run needs, in bytes, beside the index of their pack
// and the Reserved bytes. With less it takes more than MaxMemory.
const MinRules = packed.MinRoom

// OpenPackFile is [OpenPack] of a pack in an open file, which may have no name any more. It is read
// by system calls, with a memory limit and without. The Store owns the file unless there is an
// error: [Store.Close] closes it.
func OpenPackFile(f *os.File, opt StoreOptions) (*Store, error) {
	opt, forRules := opt.compiled()
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
	TempDir string         // for data that does not fit in memory; "" is the usual place

	// Notes returns the notes of the pack on its rules, for instance of damage: at most 1 MiB of
	// any bytes, see [Store.Notes]. It is called when all responses were read; nil is none.
	Notes func() []byte
}

// PackStats count the content of a pack.
type PackStats struct {
	Origins   int   // whose robots.txt was fetched, successfully or not
	Responses int   // all of them
	Texts     int   // distinct ones
	Rulesets  int   // distinct ones, compiled
	Bytes     int64 // of the pack

	// Odd counts the texts that are not robots.txt, as far as bytes tell. Its Worst are the first.
	Odd OddCount
}

// An OddCount counts robots.txt files that are not valid: pages, or bytes that are not text. Its fields are the Number
// of them, the Rows whose URLs they decided, their number by [robots.Oddity] as Kinds, and the Worst three.
type OddCount = rules.OddCount

// An OddOrigin is an Origin whose robots.txt is not valid, with the reason (Odd) and the number of its Rows.
type OddOrigin = rules.OddOrigin

// WritePack compiles the responses, in parallel, for any agent and any moment, and writes them as a
// pack, which [OpenPack] reads. The bytes of the pack depend on the responses and their order, and
// on the notes, and on nothing else. Memory grows by some 60 bytes for each distinct text and rule set, and by 16 for
// each origin. The errors are from [BuildStore], and from the files.
func WritePack(ctx context.Context, file PackFile, responses iter.Seq2[robots.Response, error], opt PackOptions) (PackStats, error) {
	stats, err := packed.Write(ctx, file, normalOrigins(responses), packed.WriteOptions{
		Dialect: dialectOf(opt.Dialect), Workers: opt.Workers, TempDir: opt.TempDir, Notes: opt.Notes,
	})
	return PackStats(stats), err
}

// Memory is the size of compiled rules, equal texts counted once, in bytes.
type Memory struct {
	Files  int   // distinct texts
	Rules  int   // patterns in force, from the groups that the agents select
	Tables int64 // the automata
	Refs   int64 // line, length and place of each rule's text, for the columns rule_line and rule
	Text   int64 // that text: the rules' values as written
}

// NumSites returns the number of origins that were fetched at any time. Their SiteIDs are 0 to
// NumSites-1.
func (s *Store) NumSites() int { return s.rules.NumSites() }

// Knows reports whether the origin, in normal form, is a site: whether it was fetched at any time.
func (s *Store) Knows(o robots.Origin) bool {
	_, _, known := s.rules.Reader(unknownUsers).Find([]byte(o))
	return known
}

// Tokens returns the product tokens that groups of any robots.txt name, one spelling of each in the
// order of their lower case, and whether they are all: there may be too many. StoreOptions.Tokens
// keeps them; a pack has them in any case. After an error of [Store.Err] there are none.
func (s *Store) Tokens() (tokens []robots.ProductToken, complete bool) { return s.rules.Tokens() }

// MissesPolicies reports whether the program that compiled the pack did not know the groups of [robots.PolicyLines],
// which are among StoreOptions.Directives, and some are there: they say nothing then.
func (s *Store) MissesPolicies() bool {
	if !slices.Contains(s.opt.Directives, robots.PolicyLines) {
		return false
	}
	tokens, _ := s.rules.Tokens()
	return slices.ContainsFunc(tokens, robots.ProductToken.IsPolicy)
}

// InForce returns the number of origins that have rules, or an outcome instead of rules, at the
// moment in question; with StoreOptions.RowTimes at any moment.
func (s *Store) InForce() int { return s.rules.InForce() }

// Err returns the first error of loading from a pack, nil if there is none. After an error, nothing
// that the Store and its Evaluators say of origins is of use.
func (s *Store) Err() error { return s.rules.Err() }

// Close closes the pack of the Store, if any. The Store must not be used any more.
func (s *Store) Close() error { return s.rules.Close() }

// Notes returns a pack's notes on its rules, see [PackOptions]; nil if there is no pack. The caller
// must not change it.
func (s *Store) Notes() []byte {
	if pack, ok := s.rules.(interface{ Notes() []byte }); ok {
		return pack.Notes()
	}
	return nil
}

// Options returns the Store's options: the dialect, the agents and so on, with nothing omitted. The slice must not be
// changed.
func (s *Store) Options() StoreOptions { return s.opt }

// agentsPerURL returns the number of verdicts of each URL: one for each agent, or one with
// LogAgents.
func (s *Store) agentsPerURL() int {
	if s.opt.LogAgents != LogAgentsOff {
		return 1
	}
	return len(s.opt.Agents)
}

// RulesHash returns a hash of the origins and of the texts of their robots.txt that are in force,
// or of the outcomes instead of them, in hexadecimal. It does not depend on where they were read
// from, nor on their order.
func (s *Store) RulesHash() string { return s.rules.Hash() }

// Memory returns the size of the compiled rules; of a pack, all that were loaded so far, each once.
func (s *Store) Memory() Memory { return Memory(s.rules.Memory()) }

// EnoughMemory returns the MaxMemory under which no rules would have been dropped and loaded again so far. It is 0 if
// that took no time worth mentioning.
func (s *Store) EnoughMemory() int64 { return s.rules.Enough() }

// An asker has the memory of Verdict.
type asker struct {
	batch  Batch
	eval   *Evaluator
	lookup *Lookup
}

// Verdict decides one URL for one of the agents in Options. With LogAgents, agent is the User-Agent
// of a request. With RowTimes the answer is from the newest response. A bad URL is not an error, but
// has the reason bad_url. The error wraps ErrAgent, or is the error of [Store.Err]. Use [Run] or an
// [Evaluator] for many URLs: they take a tenth of the time for each.
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
		a.lookup.answerPreference(&answer, b, n)
	}
	return answer, s.Err()
}
