package engine

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/robobatch/robobatch/crawlers"
	"github.com/robobatch/robobatch/engine/internal/rules"
	"github.com/robobatch/robobatch/robots"
)

// LogAgents chooses the agents that a Store decides for: either the agents of StoreOptions.Agents or, row by row,
// the crawler that the User-Agent names. That is a crawler of package crawlers or, if the User-Agent names none of
// these, a crawler that a group of the row's own robots.txt names. The values also say what happens to a row whose
// User-Agent is missing or names no crawler.
//
// With LogAgentsByName, the rows have names of crawlers instead of User-Agents. Each row is decided as a Store with
// that name in StoreOptions.Agents would decide it. A row without a name has no answer, with ReasonBadAgent. The
// rows are not requests, so Batch.Violations is empty, and Stats does not count by agent.
type LogAgents uint8

// The values of LogAgents.
const (
	LogAgentsOff    LogAgents = iota // decide each row for all of StoreOptions.Agents
	LogAgentsStar                    // decide such a row for a crawler that only groups for "*" bind
	LogAgentsSkip                    // drop such a row
	LogAgentsByName                  // decide each row for the agent that it names; any name is possible
)

// MaxAgentName is the maximum length of a name with LogAgentsByName, in bytes. A longer name is treated as one that
// no robots.txt has.
const MaxAgentName = rules.MaxToken

// judges reports whether rows are requests of crawlers, which can be violations.
func (l LogAgents) judges() bool { return l == LogAgentsStar || l == LogAgentsSkip }

const (
	// unknownAgent is the agent of a row whose User-Agent names no known crawler.
	unknownAgent = 0

	// pendingAgent plus an index in Evaluator.pending is the agent of a row whose User-Agent names no crawler of
	// the table, but may name one of its robots.txt.
	pendingAgent = 1 << 31
)

// A namer finds the crawlers that the rows of a log name. It is immutable.
type namer struct {
	known    int               // agents of Store.Options; crawlers that only a robots.txt names are numbered from here
	switches map[string]uint32 // agents of tokens under which no crawler of the table makes requests, in lower case
	listed   map[string]struct{}
	dialect  robots.Dialect
	tokens   tokenFilter // of groups of any robots.txt

	// With LogAgentsByName:
	byName bool
	deafs  map[string]uint32 // agents that ignore groups for "*", by agentKey
}

// newNamer returns a namer, which has no tokens yet, and its agents: "*", and then the crawlers in the order of their
// table.
func newNamer(d robots.Dialect) (n *namer, agents []string) {
	n = &namer{switches: map[string]uint32{}, listed: map[string]struct{}{}, dialect: d}
	all := crawlers.Set("all")
	agents = append(make([]string, 0, 1+len(all)), "*")
	for _, c := range all {
		switch token := strings.ToLower(c.Token); {
		case len(c.Names) == 0:
			n.switches[token] = uint32(len(agents))
		case slices.ContainsFunc(c.Names, func(name string) bool { return strings.EqualFold(name, c.Token) }):
			n.listed[token] = struct{}{}
		}
		agents = append(agents, c.Token)
	}
	n.known = len(agents)
	return n, agents
}

// newNamerByName returns a namer for rows with names of agents, and the agents that it always needs: "*", and those
// that ignore groups for "*". All other agents have the rules of the first of their product tokens that a robots.txt
// names, or else the rules of "*". The namer has no tokens yet.
func newNamerByName(d robots.Dialect) (n *namer, agents []string) {
	n = &namer{dialect: d, byName: true, deafs: map[string]uint32{}}
	agents = []string{"*"}
	for _, c := range crawlers.Set("all") {
		agent := robots.NewAgent(c.Token, d)
		if _, known := n.deafs[agentKey(&agent)]; agent.IgnoresStar && !known {
			n.deafs[agentKey(&agent)] = uint32(len(agents))
			agents = append(agents, c.Token)
		}
	}
	n.known = len(agents)
	return n, agents
}

// agentKey returns a key of the tokens that choose the groups of an agent. Agents with the same key and the same
// IgnoresStar have the same rules everywhere.
func agentKey(a *robots.Agent) string {
	var key strings.Builder
	for _, t := range append([]robots.ProductToken{a.Token}, a.Fallbacks...) {
		key.WriteString(strings.ToLower(string(t)) + " ")
	}
	return key.String()
}

// named returns the client for the name of an agent: the number of an agent that ignores groups for "*", or the
// product tokens of any other agent that some robots.txt may name. The words of the result are valid until the next
// call.
func (m *clients) named(name []byte) (c client) {
	agent := robots.NewAgent(string(name), m.dialect)
	if agent.IgnoresStar {
		c.agent = m.deafs[agentKey(&agent)] // all agents that ignore "*" are in the table, which has every known one
		return c
	}
	m.text = m.text[:0]
	for _, t := range append([]robots.ProductToken{agent.Token}, agent.Fallbacks...) {
		token := strings.ToLower(string(t))
		if token != "" && m.tokens.has([]byte(token)) {
			m.text = append(append(m.text, token...), ' ')
		}
	}
	c.words = m.text
	return c
}

// usageToken is the beginning of tokens of groups that say what may be done with pages. No crawler has such a name.
const usageToken = "__usage_"

// minLetters is the minimum number of letters of a robots.txt token that can name the client of a row.
const minLetters = 3

// canName reports whether a token in a robots.txt, or from a word of a header, can name the client of a row. Tokens
// by which the table already finds the crawler are not needed.
func (n *namer) canName(token robots.ProductToken) bool {
	if n.byName {
		return true
	}
	letters := 0
	for i := range len(token) {
		if b := token[i] | 0x20; 'a' <= b && b <= 'z' {
			letters++
		}
	}
	if letters < minLetters || crawlers.IsClientWord([]byte(token)) {
		return false
	}
	lower := strings.ToLower(string(token))
	_, listed := n.listed[lower]
	return !listed && !strings.HasPrefix(lower, usageToken)
}

// A tokenFilter excludes most texts that are not product tokens of any robots.txt. With it, the headers of nearly
// all clients have no word that must be looked up in each robots.txt. The zero filter contains no token.
type tokenFilter struct {
	bits []uint64 // 128 KiB; nil means no tokens
	all  bool     // tokens are missing, so every text may be one
}

// newTokenFilter returns a filter with the tokens for which names returns true. If the tokens are not complete, every
// text may be a token.
func newTokenFilter(tokens []robots.ProductToken, complete bool, names func(robots.ProductToken) bool) (f tokenFilter) {
	f.all = !complete
	for _, t := range tokens {
		if names(t) {
			hash := xxh3.HashString(strings.ToLower(string(t)))
			if f.bits == nil {
				f.bits = make([]uint64, 1<<14)
			}
			f.bits[hash>>6%(1<<14)] |= 1 << (hash % 64)
		}
	}
	return f
}

// union returns the union of two filters. The result has its own memory.
func (f tokenFilter) union(g tokenFilter) tokenFilter {
	if f.bits == nil {
		f.bits, g.bits = g.bits, nil
	}
	f.all, f.bits = f.all || g.all, slices.Clone(f.bits)
	for i, word := range g.bits {
		f.bits[i] |= word
	}
	return f
}

// has reports whether a text may be a token.
func (f *tokenFilter) has(token []byte) bool {
	hash := xxh3.Hash(token)
	return f.all || f.bits != nil && f.bits[hash>>6%(1<<14)]>>(hash%64)&1 == 1
}

// A client is the result of looking up a User-Agent: a crawler of the table, or the words that may be tokens of a
// robots.txt.
type client struct {
	agent  uint32 // unknownAgent if it is not a crawler of the table
	words  []byte // product tokens in lower case, in their order, each followed by a space
	header string // the User-Agent, if the client is remembered
}

// Limits for the User-Agents that an Evaluator remembers before it starts again. A day's log of a busy site has a
// few thousand distinct ones; at a hundred bytes each they take half a megabyte. Longer ones are usually fakes, and
// are not remembered.
const (
	maxKnownAgents = 4096
	maxKnownHeader = 1 << 10
)

// clients remembers the results for User-Agents, because logs repeat them. It is for one goroutine.
type clients struct {
	*namer
	tokens tokenFilter // used instead of namer's
	known  map[string]client
	recent [256]client // some of the clients in known
	words  [][]byte
	text   []byte
}

func newClients(n *namer) *clients {
	return &clients{namer: n, tokens: n.tokens, known: map[string]client{}}
}

// clientOf returns the client of a User-Agent or, with byName, of the name of an agent. It looks at the recent clients
// first. The result is valid until the next call.
func (m *clients) clientOf(userAgent []byte) *client {
	n := len(userAgent)
	if n < 32 || n > maxKnownHeader {
		m.recent[0] = m.findClient(userAgent)
		return &m.recent[0]
	}
	// A map would hash the whole header. This hash reads only the parts in which the headers of browsers and
	// crawlers differ most, and saves a tenth of the time of a run with a column of agents.
	end := userAgent[n-24:]
	place := binary.LittleEndian.Uint64(end) ^ bits.RotateLeft64(binary.LittleEndian.Uint64(end[16:]), 32)
	place = (place + binary.LittleEndian.Uint64(userAgent[n/3:])*0x9E3779B97F4A7C15) * 0x9E3779B97F4A7C15
	c := &m.recent[place>>56]
	if c.header != string(userAgent) {
		*c = m.findClient(userAgent)
	}
	return c
}

// findClient looks up a User-Agent or, with byName, the name of an agent, and remembers the client unless its header is
// longer than maxKnownHeader. The words of the result are valid until the next call.
func (m *clients) findClient(userAgent []byte) client {
	if c, known := m.known[string(userAgent)]; known {
		return c
	}
	var index int
	switch {
	case m.byName:
		return m.keepClient(userAgent, m.named(userAgent))
	case m.tokens.bits == nil && !m.tokens.all:
		index = crawlers.IdentifyIndex(userAgent)
	default:
		index, m.words = crawlers.IdentifyWords(m.words[:0], userAgent)
		m.text = m.text[:0]
		for _, word := range m.words {
			start := len(m.text)
			for _, b := range word[:m.dialect.TokenLen(word)] {
				if 'A' <= b && b <= 'Z' {
					b |= 0x20
				}
				m.text = append(m.text, b)
			}
			if token := m.text[start:]; m.tokens.has(token) && m.canName(robots.ProductToken(token)) {
				m.text = append(m.text, ' ')
			} else {
				m.text = m.text[:start]
			}
		}
	}
	return m.keepClient(userAgent, client{agent: uint32(1 + index), words: m.text}) // -1 becomes unknownAgent
}

// keepClient remembers a client with copies of its words and its User-Agent, and returns it. It returns c unchanged if
// the User-Agent is longer than maxKnownHeader. If it has maxKnownAgents clients, it forgets all of them first.
func (m *clients) keepClient(userAgent []byte, c client) client {
	if len(userAgent) > maxKnownHeader {
		return c
	}
	if len(m.known) >= maxKnownAgents {
		clear(m.known)
	}
	c.words, c.header = bytes.Clone(c.words), string(userAgent)
	m.known[c.header] = c
	return c
}

// A pendingRow is a row whose robots.txt may name its crawler.
type pendingRow struct {
	row   int
	words []byte // of its client; tokens
}

// identify fills b.Agents, and drops rows that are to be skipped and certainly have no crawler. If a robots.txt may
// name the crawler of a row, its agent is pendingAgent plus an index in e.pending, until resolvePending is called.
func (e *Evaluator) identify(b *Batch) {
	if e.clients == nil {
		e.clients = newClients(e.store.namer)
	}
	e.pending, e.words = e.pending[:0], e.words[:0]
	for i := range b.URLs {
		agent := uint32(unknownAgent)
		if len(b.UserAgents) > 0 && b.UserAgents[i] != NoURL {
			s := b.UserAgents[i]
			c := e.clients.clientOf(b.Data[s.Off : s.Off+s.Len])
			if agent = c.agent; len(c.words) > 0 {
				agent = pendingAgent | uint32(len(e.pending))
				words := c.words
				if s.Len > maxKnownHeader { // the client is not remembered, so its words must be copied
					e.words = append(e.words, words...)
					words = e.words[len(e.words)-len(words):]
				}
				e.pending = append(e.pending, pendingRow{i, words})
			}
		}
		b.Agents = append(b.Agents, agent)
	}
	if e.store.opt.LogAgents == LogAgentsSkip {
		e.dropUnknown(b)
		for row, agent := range b.Agents {
			if agent >= pendingAgent {
				e.pending[agent-pendingAgent].row = row
			}
		}
	}
}

// resolvePending returns the agent of a pending row under the ruling in force for it: the first of the row's words that
// the text names. pending is the row's value in b.Agents. The result is unknownAgent if no text is in force, or if it
// names none of them.
func (e *Evaluator) resolvePending(pending uint32, id RulingID) uint32 {
	if _, text := id.Text(); !text {
		return unknownAgent
	}
	r := e.reader.Ruling(id)
	for rest := e.pending[pending-pendingAgent].words; len(rest) > 0; {
		n := bytes.IndexByte(rest, ' ')
		if agent, ok := r.FindNamed(rest[:n]); ok {
			if own, ok := e.store.namer.switches[string(rest[:n])]; ok {
				return own
			}
			return uint32(agent)
		}
		rest = rest[n+1:]
	}
	return unknownAgent
}

// dropUnknown removes the rows of unknown agents if they are to be skipped, and counts them in b.Skipped. If an old
// store has also decided the rows, the agent must be unknown there, too.
func (e *Evaluator) dropUnknown(b *Batch) {
	if e.store.opt.LogAgents != LogAgentsSkip {
		return
	}
	var old *Batch
	if b.Old != nil && len(b.Old.Agents) == len(b.Agents) {
		old = b.Old
	}
	e.kept = e.kept[:0]
	dispute := 0
	for i, agent := range b.Agents {
		if agent == unknownAgent && (old == nil || old.Agents[i] == unknownAgent) {
			continue
		}
		for ; dispute < len(b.Disputes) && int(b.Disputes[dispute].Row) == i; dispute++ {
			b.Disputes[dispute].Row = uint32(len(e.kept))
		}
		e.kept = append(e.kept, uint32(i))
	}
	b.Skipped += len(b.Agents) - len(e.kept)
	keep := func(c column) { c.keep(e.kept) }
	b.sourceColumns(keep)
	b.decidedColumns(keep)
	if old != nil {
		old.decidedColumns(keep)
		old.Truncate(len(e.kept)) // it shares the source's columns
	}
}

// agent returns the agent of verdict a of a row.
func (b *Batch) agent(row, a int) int {
	if len(b.Agents) > 0 {
		return int(b.Agents[row])
	}
	return a
}

// isKnown reports whether an agent is one of Store.Options.
func (s *Store) isKnown(agent int) bool { return agent < len(s.opt.Agents) }

// set returns the rules of an agent.
func (e *Evaluator) set(id RulingID, agent int) *rules.Set {
	if e.store.isKnown(agent) {
		return e.reader.Ruling(id).Sets[agent]
	}
	return e.reader.Set(id, agent)
}
