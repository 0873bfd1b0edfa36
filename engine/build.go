package engine

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"

	"github.com/zeebo/xxh3"
	"golang.org/x/sync/errgroup"

	"github.com/robobatch/robobatch/robots"
)

// ErrTwoFiles is the error of an origin for which there are two robots.txt.
var ErrTwoFiles = errors.New("two robots.txt for one origin: leave one out")

// StoreOptions says how to build a Store. The zero value is the dialect rfc9309 for the agent "*".
type StoreOptions struct {
	Dialect robots.Dialect
	Agents  []string // names of crawlers, cut to their product tokens; empty means "*" alone
	Missing Missing
	Workers int // compiling goroutines; 0 or less means GOMAXPROCS
}

// A textKey tells texts apart. Texts of equal keys are taken for equal: 128 bits make an accident impossible in practice.
type textKey = xxh3.Uint128

// A storeBuilder collects sites while workers compile their texts.
type storeBuilder struct {
	store   *Store
	agents  []robots.Agent
	texts   map[textKey]*compiledText
	keys    []textKey // by site
	workers *errgroup.Group
}

// A compiledText is what became of one distinct text.
type compiledText struct {
	rules  []*Ruleset // by agent
	memory Memory
}

// BuildStore parses and compiles the responses, in parallel, while it reads them. Equal texts are compiled once. An error
// of the responses, two for one origin, or rules too large to compile end it; the error says which file.
func BuildStore(responses iter.Seq2[robots.Response, error], opt StoreOptions) (*Store, error) {
	if len(opt.Agents) == 0 {
		opt.Agents = []string{"*"}
	}
	b := &storeBuilder{
		store: &Store{
			dialect: opt.Dialect,
			names:   slices.Clone(opt.Agents),
			ids:     map[robots.Origin]SiteID{},
			missing: Verdict{NoRule, ReasonNoRobots, missingAccess[opt.Missing]},
		},
		texts:   map[textKey]*compiledText{},
		workers: &errgroup.Group{},
	}
	for _, name := range opt.Agents {
		b.agents = append(b.agents, robots.NewAgent(name, opt.Dialect))
	}
	b.workers.SetLimit(cmp.Or(max(0, opt.Workers), runtime.GOMAXPROCS(0)))
	readErr := b.readAll(responses)
	if err := errors.Join(readErr, b.workers.Wait()); err != nil {
		return nil, err
	}
	b.finish()
	return b.store, nil
}

func (b *storeBuilder) readAll(responses iter.Seq2[robots.Response, error]) error {
	for r, err := range responses {
		if err != nil {
			return fmt.Errorf("read rules: %w", err)
		}
		if _, twice := b.store.ids[r.Origin]; twice {
			return fmt.Errorf("read rules of %s from %s: %w", r.Origin, r.Name, ErrTwoFiles)
		}
		b.add(r)
	}
	return nil
}

// add makes a site, and sets a worker to compile its text unless that is known.
func (b *storeBuilder) add(r robots.Response) {
	s := b.store
	s.ids[r.Origin] = SiteID(len(s.sites))
	key := xxh3.Hash128(r.Body)
	text, known := b.texts[key]
	if !known {
		text = &compiledText{rules: make([]*Ruleset, len(b.agents))}
		b.texts[key] = text
		b.workers.Go(func() error {
			if err := text.compile(r.Body, b.agents, s.dialect); err != nil {
				return fmt.Errorf("compile the rules of %s from %s: %w", r.Origin, r.Name, err)
			}
			return nil
		})
	}
	s.sites = append(s.sites, Site{r.Origin, text.rules})
	b.keys = append(b.keys, key)
}

// compile parses the text and compiles it for each agent.
func (c *compiledText) compile(body []byte, agents []robots.Agent, d robots.Dialect) error {
	f := robots.Parse(body, d)
	for i, agent := range agents {
		rs, err := compileRuleset(f, agent, d)
		if err != nil {
			return err
		}
		c.rules[i] = rs
		c.memory.add(rs)
	}
	return nil
}

// finish adds up what the workers counted, and hashes the rules.
func (b *storeBuilder) finish() {
	s := b.store
	s.memory.Files = len(b.texts)
	for _, text := range b.texts {
		s.memory.merge(text.memory)
	}
	order := make([]int, len(s.sites))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(s.sites[i].Origin, s.sites[j].Origin) })
	h := sha256.New()
	for _, i := range order {
		key := b.keys[i].Bytes()
		h.Write([]byte(s.sites[i].Origin))
		h.Write([]byte{0})
		h.Write(key[:])
	}
	s.hash = hex.EncodeToString(h.Sum(nil))
}

func (m *Memory) add(rs *Ruleset) {
	const ref = 4 + 4 + 4 + 4
	m.Rules += len(rs.rules)
	m.Tables += int64(rs.automaton.Size())
	m.Refs += int64(len(rs.rules) * ref)
	m.Text += int64(len(rs.text))
}

func (m *Memory) merge(o Memory) {
	m.Rules += o.Rules
	m.Tables += o.Tables
	m.Refs += o.Refs
	m.Text += o.Text
}
