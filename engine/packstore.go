package engine

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/robobatch/robobatch/internal/pack"
	"github.com/robobatch/robobatch/robots"
)

// A PackDialectError says that a pack was compiled for another dialect, or other options of it, than it is opened for.
type PackDialectError struct {
	Compiled, Asked robots.Dialect // without flags that are about URLs only
}

// Error names both and the remedy.
func (e *PackDialectError) Error() string {
	return fmt.Sprintf("it is compiled for another dialect: %s, and %s is asked for: ask for the former, or compile it again",
		dialectText(e.Compiled), dialectText(e.Asked))
}

// A packStore holds the rules of a pack, as far as they were needed. It has a Site for each record, loaded when it is
// first asked for; under a limit of memory there are none, but what is in force for each is remembered in 4 bytes, and
// rules are in a cache. It is safe for concurrent use.
type packStore struct {
	name    string
	file    *pack.Reader
	dialect robots.Dialect
	agents  []robots.Agent
	asOf    time.Time
	times   bool // StoreOptions.RowTimes
	cleans  bool // clean-param lines are wanted
	inForce int

	sites    []atomic.Pointer[Site]       // by SiteID; nil under a limit
	texts    []atomic.Pointer[loadedText] // by number; nil under a limit
	outcomes []atomic.Uint32              // by SiteID, see outcomeCode; nil without a limit
	cache    textCache                    // under a limit; else nil
	limit    int64                        // StoreOptions.MaxMemory; 0 is none
	flight   flight

	fixed   [maxFixed]*Site // by outcomeCode, without Origins
	noGroup *Ruleset

	oneRuleset []uint16 // Site.Firsts where all agents have one Ruleset

	broken  *Site // stands for what could not be loaded
	buffers sync.Pool
	failure atomic.Pointer[error]

	counted []atomic.Uint64 // bit set of the texts that memory counts
	mu      sync.Mutex
	memory  Memory
}

// A loadedText is what a text says to the agents.
type loadedText struct {
	Site   // without its Origin
	number int
}

// IsPack reports whether r, read from the start of a file, begins as a pack does, intact or not.
func IsPack(r io.Reader) bool { return pack.Is(r) }

// OpenPack opens the pack of that name, which must be compiled for opt.Dialect, but for [robots.URLAsIs]. It is ready at
// once: rules are loaded when an origin is first met, and stay in memory. With opt.MaxMemory they are dropped again where
// there are too many: what it leaves besides the index and what a run takes is for rules, half of it for those that are
// dropped and not collected yet. Use [Store.Close]. Errors wrap those of package pack, a
// [*PackDialectError], or are those of package os.
func OpenPack(name string, opt StoreOptions) (*Store, error) {
	file, err := pack.OpenFile(name, opt.MaxMemory <= 0)
	if err != nil {
		return nil, fmt.Errorf("read the rule pack %s: %w", name, err)
	}
	s, err := newPackStore(name, file, opt)
	if err != nil {
		file.Close() //nolint:errcheck // nothing was written
		return nil, fmt.Errorf("read the rule pack %s: %w", name, err)
	}
	return s, nil
}

// OpenPackFile is [OpenPack] of a pack in an open file, which may have no name any more. It is read by system calls, with a limit of
// memory and without. The file is the Store's from then on, unless there is an error: [Store.Close] closes it.
func OpenPackFile(f *os.File, opt StoreOptions) (*Store, error) {
	s, err := openPackFile(f, opt)
	if err != nil {
		return nil, fmt.Errorf("read the rule pack %s: %w", f.Name(), err)
	}
	return s, nil
}

func openPackFile(f *os.File, opt StoreOptions) (*Store, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	file, err := pack.Open(f, info.Size())
	if err != nil {
		return nil, err
	}
	return newPackStore(f.Name(), file, opt)
}

func newPackStore(name string, file *pack.Reader, opt StoreOptions) (*Store, error) {
	if len(opt.Agents) == 0 {
		opt.Agents = []string{"*"}
	}
	if opt.LogAgents != LogAgentsOff {
		opt.Agents = logAgentNames()
	}
	summary := file.Summary()
	if compiled := robots.Dialect(summary.Dialect); compiled != opt.Dialect&^urlFlags {
		return nil, &PackDialectError{Compiled: compiled, Asked: opt.Dialect &^ urlFlags}
	}
	p := &packStore{
		name: name, file: file, dialect: opt.Dialect, asOf: opt.AsOf, times: opt.RowTimes, cleans: opt.Canonical,
		noGroup: &Ruleset{otherwise: Verdict{NoRule, ReasonNoGroup, Allowed}},
		counted: make([]atomic.Uint64, (file.Texts()+63)/64),
	}
	for _, agent := range opt.Agents {
		p.agents = append(p.agents, robots.NewAgent(agent, opt.Dialect))
	}
	p.broken = &Site{Rules: slices.Repeat([]*Ruleset{{otherwise: Verdict{NoRule, ReasonNoRobots, Unknown}}}, len(p.agents))}
	p.oneRuleset = make([]uint16, len(p.agents))
	p.broken.Firsts = p.oneRuleset
	for _, effect := range []robots.Effect{robots.AllowAll, robots.DisallowAll} {
		for cause := range robots.Cause(1 << causeBits) {
			o := packOutcome{Outcome: robots.Outcome{Effect: effect, Cause: cause}}
			p.fixed[o.code()] = &Site{Rules: slices.Repeat([]*Ruleset{fixedRuleset(o.Outcome)}, len(p.agents)), Firsts: p.oneRuleset}
		}
	}
	p.buffers.New = func() any { return &loadBuffer{resolver: newResolver(file, p.dialect)} }
	s := &Store{
		dialect: opt.Dialect, names: slices.Clone(opt.Agents), pack: p,
		missing: Verdict{NoRule, ReasonNoRobots, missingAccess[opt.Missing]},

		logAgents: opt.LogAgents,
	}
	hash := summary.Hash
	p.inForce = int(summary.InForce)
	switch {
	case p.times && file.Sites()+maxFixed+file.Texts() > int(noRecord&^strayBit):
		return nil, fmt.Errorf("%d origins and %d texts are more than rows can be decided for by their times: split the rules", file.Sites(), file.Texts())
	case p.times:
		s.times = &timeStore{newest: robots.Microseconds(summary.Newest)}
		inForce, sum, err := scanPackTimes(file, p.dialect)
		if err != nil {
			return nil, err
		}
		p.inForce, hash = inForce, sum
	case p.asOf.IsZero() || p.asOf.Equal(summary.Newest):
		p.asOf = summary.Newest
	default:
		inForce, sum, err := scanPack(context.Background(), file, p.dialect, p.asOf)
		if err != nil {
			return nil, err
		}
		p.inForce, hash = int(inForce), sum
	}
	s.hash = hex.EncodeToString(hash[:])
	return s, p.allocate(opt.MaxMemory)
}

// dialectText names a dialect and its options.
func dialectText(d robots.Dialect) string {
	var options []string
	for _, o := range []struct {
		flag robots.Dialect
		name string
	}{
		{robots.WideTokens, "wide tokens"},
		{robots.EmptyAllowIgnored, "empty Allow ignored"},
		{robots.BlankEndsSection, "blank lines end sections"},
	} {
		if d.Has(o.flag) {
			options = append(options, o.name)
		}
	}
	if len(options) == 0 {
		return d.String()
	}
	return d.String() + " with " + strings.Join(options, " and ")
}

// allocate makes room for what will be loaded.
func (p *packStore) allocate(limit int64) (err error) {
	if limit <= 0 {
		p.sites = make([]atomic.Pointer[Site], p.file.Sites())
		p.texts = make([]atomic.Pointer[loadedText], p.file.Texts())
		return nil
	}
	p.limit = limit
	p.outcomes = make([]atomic.Uint32, p.file.Sites())
	limit -= runMemory + p.file.IndexSize() + 4*int64(p.file.Sites())
	p.cache, err = newTextCache(max(limit/2, minCache), int64(p.file.Texts())) // the other half is dropped texts that are not collected yet
	return err
}

// fail notes the first error.
func (p *packStore) fail(err error) {
	err = fmt.Errorf("read the rule pack %s: %w", p.name, err)
	p.failure.CompareAndSwap(nil, &err)
}

func (p *packStore) err() error {
	if err := p.failure.Load(); err != nil {
		return *err
	}
	return nil
}

func (p *packStore) close() error {
	if p.cache != nil {
		p.cache.Close()
	}
	return p.file.Close()
}

func (p *packStore) loadedMemory() Memory {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.memory
}
