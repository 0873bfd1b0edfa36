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

// LogAgents chooses the agents that a Store decides for: the agents of StoreOptions.Agents, or, row by row, for the
// crawler that the User-Agent names: a crawler of package crawlers or, if it names no such crawler, one that a group of
// the row's own robots.txt names. Then it also decides about a row without a User-Agent, or with one that names no
// crawler.
//
// With LogAgentsByName the rows have names of crawlers instead of User-Agents: each is decided as a
// Store of StoreOptions.Agents with that name would decide it, and one without a name has no answer, for
// ReasonBadAgent. Nobody fetched anything, so there are
// no Batch.Violations, and Stats does not count by agent.
type LogAgents uint8

// The values of LogAgents.
const (
	LogAgentsOff    LogAgents = iota // decide each row for all of StoreOptions.Agents
	LogAgentsStar                    // decide it for a crawler that only groups for "*" bind
	LogAgentsSkip                    // leave the row out
	LogAgentsByName                  // decide it for the agent of that name; any name may come
)

// MaxAgentName is the number of bytes a name may have with LogAgentsByName. A longer one counts as one that no
// robots.txt names.
const MaxAgentName = rules.MaxToken

// judges reports whether rows are requests of crawlers, which may be violations.
func (l LogAgents) judges() bool { return l == LogAgentsStar || l == LogAgentsSkip }

const (
	// unknownAgent is the agent of a row whose User-Agent names no known crawler.
	unknownAgent = 0

	// pendingAgent and above is the agent of a row whose User-Agent names no crawler of the table, and
	// may name one of its robots.txt: this, and its place in Evaluator.pending.
	pendingAgent = 1 << 31
)

// A namer finds the crawlers of a log that a Store decides for. It is immutable.
type namer struct {
	known    int               // agents of Store.Options; those that a robots.txt names have numbers from there on
	switches map[string]uint32 // the agents of tokens that no crawler of the table fetches by, in lower case
	listed   map[string]struct{}
	dialect  robots.Dialect
	tokens   tokenFilter // of groups of any robots.txt

	// With LogAgentsByName:
	byName bool
	deafs  map[string]uint32 // agents that ignore groups for "*", by agentKey
}

// newNamer returns the namer, and the agents: "*", and the crawlers in the order of their table.
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

// newByName returns the namer of rows that have names of agents, and the agents that it cannot do
// without: "*", and those that ignore groups for it. All others have the rules of the first of their
// product tokens that a robots.txt names, or else the rules of "*".
func newByName(d robots.Dialect) (n *namer, agents []string) {
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

// agentKey returns a key that only agents share that have the same rules everywhere.
func agentKey(a *robots.Agent) string {
	var key strings.Builder
	for _, t := range append([]robots.ProductToken{a.Token}, a.Fallbacks...) {
		key.WriteString(strings.ToLower(string(t)) + " ")
	}
	return key.String()
}

// named returns the client of a name of an agent.
func (m *clients) named(name []byte) (c client) {
	agent := robots.NewAgent(string(name), m.dialect)
	if agent.IgnoresStar {
		c.agent = m.deafs[agentKey(&agent)] // all of them are in the table, where each one is known
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

// usageToken begins the tokens of groups that say what may be done with pages: no crawler has such a name.
const usageToken = "__usage_"

// minLetters is the least number of letters of a token in a robots.txt that names the client of a
// row.
const minLetters = 3

// names reports whether a token in a robots.txt, or of a word in a header, may name the client of a
// row. The token of a crawler whose header has it need not: the table names that crawler first.
func (n *namer) names(token robots.ProductToken) bool {
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

// A tokenFilter says of most texts that they are not product tokens of any robots.txt. So the headers of
// nearly all clients have no word to look for in each. The zero filter has none.
type tokenFilter struct {
	bits []uint64 // 128 KiB; nil means no token
	all  bool     // there may be others
}

// newTokenFilter returns the filter of the tokens that may name a client.
func newTokenFilter(tokens []robots.ProductToken, complete bool, names func(robots.ProductToken) bool) (f tokenFilter) {
	f.all = !complete
	for _, t := range tokens {
		if names(t) {
			f.addHash(xxh3.HashString(strings.ToLower(string(t))))
		}
	}
	return f
}

// addHash adds the hash of a token.
func (f *tokenFilter) addHash(hash uint64) {
	if f.bits == nil {
		f.bits = make([]uint64, 1<<14)
	}
	f.bits[hash>>6%(1<<14)] |= 1 << (hash % 64)
}

// or returns the filter of the tokens of both.
func (f tokenFilter) or(g tokenFilter) tokenFilter {
	if f.bits == nil {
		f.bits, g.bits = g.bits, nil
	}
	f.all, f.bits = f.all || g.all, slices.Clone(f.bits)
	for i, word := range g.bits {
		f.bits[i] |= word
	}
	return f
}

// none reports whether there is no token at all.
func (f *tokenFilter) none() bool { return f.bits == nil && !f.all }

// has reports whether a text may be a token.
func (f *tokenFilter) has(token []byte) bool {
	hash := xxh3.Hash(token)
	return f.all || f.bits != nil && f.bits[hash>>6%(1<<14)]>>(hash%64)&1 == 1
}

// A client is who a User-Agent names: a crawler of the table, or those words of it that may be tokens of
// a robots.txt.
type client struct {
	agent  uint32 // unknownAgent if it is none of the table
	words  []byte // product tokens in lower case, in their order, each followed by a blank
	header string // the User-Agent, if it is remembered
}

// The User-Agents that an Evaluator remembers, before it starts again. A day's log of a busy site has some
// thousand distinct ones, and with a hundred bytes each they take half a megabyte. Longer ones are made
// up, and are looked at each time.
const (
	maxKnownAgents = 4096
	maxKnownHeader = 1 << 10
)

// clients remembers who User-Agents name, as logs repeat them. It is for one goroutine.
type clients struct {
	*namer
	tokens tokenFilter // instead of namer's
	known  map[string]client
	recent [256]client // some of known
	words  [][]byte
	text   []byte
}

func newClients(n *namer) *clients {
	return &clients{namer: n, tokens: n.tokens, known: map[string]client{}}
}

// of returns who a User-Agent names. It is valid until the next call.
func (m *clients) of(userAgent []byte) *client {
	n := len(userAgent)
	if n < 32 || n > maxKnownHeader {
		m.recent[0] = m.find(userAgent)
		return &m.recent[0]
	}
	// The hash of a map reads all of a header, this one the parts in which the headers of browsers and crawlers differ most: it saves a tenth of
	// the time of a run with a column of agents.
	end := userAgent[n-24:]
	place := binary.LittleEndian.Uint64(end) ^ bits.RotateLeft64(binary.LittleEndian.Uint64(end[16:]), 32)
	place = (place + binary.LittleEndian.Uint64(userAgent[n/3:])*0x9E3779B97F4A7C15) * 0x9E3779B97F4A7C15
	c := &m.recent[place>>56]
	if c.header != string(userAgent) {
		*c = m.find(userAgent)
	}
	return c
}

// find returns who a User-Agent names, and remembers it. It is valid until the next call.
func (m *clients) find(userAgent []byte) client {
	if c, known := m.known[string(userAgent)]; known {
		return c
	}
	var index int
	switch {
	case m.byName:
		return m.keepClient(userAgent, m.named(userAgent))
	case m.tokens.none():
		index = crawlers.IdentifyIndex(userAgent)
	default:
		index, m.words = crawlers.IdentifyWords(m.words[:0], userAgent)
		m.text = m.appendTokens(m.text[:0])
	}
	return m.keepClient(userAgent, client{agent: uint32(1 + index), words: m.text}) // -1 becomes unknownAgent
}

// keepClient remembers who a User-Agent names, and returns that.
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

// appendTokens appends the tokens of m.words.
func (m *clients) appendTokens(dst []byte) []byte {
	for _, word := range m.words {
		start := len(dst)
		for _, b := range word[:m.dialect.TokenLen(word)] {
			if 'A' <= b && b <= 'Z' {
				b |= 0x20
			}
			dst = append(dst, b)
		}
		if token := dst[start:]; !m.tokens.has(token) || !m.names(robots.ProductToken(token)) {
			dst = dst[:start]
		} else {
			dst = append(dst, ' ')
		}
	}
	return dst
}

// A pendingRow is a row whose robots.txt may name its crawler.
type pendingRow struct {
	row   int
	words []byte // of its client
}

// identify fills b.Agents, and drops the rows that are to be skipped and surely have no crawler.
func (e *Evaluator) identify(b *Batch) {
	if e.clients == nil {
		e.clients = newClients(e.store.namer)
	}
	e.pending, e.words = e.pending[:0], e.words[:0]
	for i := range b.URLs {
		agent := uint32(unknownAgent)
		if len(b.UserAgents) > 0 && b.UserAgents[i] != NoURL {
			s := b.UserAgents[i]
			c := e.clients.of(b.Data[s.Off : s.Off+s.Len])
			if agent = c.agent; len(c.words) > 0 {
				agent = pendingAgent | uint32(len(e.pending))
				words := c.words
				if s.Len > maxKnownHeader { // words that are not remembered
					e.words = append(e.words, words...)
					words = e.words[len(e.words)-len(words):]
				}
				e.pending = append(e.pending, pendingRow{i, words})
			}
		}
		b.Agents = append(b.Agents, agent)
	}
	if e.store.opt.LogAgents == LogAgentsSkip {
		e.store.dropUnknown(b)
		for row, agent := range b.Agents {
			if agent >= pendingAgent {
				e.pending[agent-pendingAgent].row = row
			}
		}
	}
}

// leaveNameless takes the rulings of rows that name no agent, and reports whether there are such: no rules decide them, as
// those of bad URLs.
func (b *Batch) leaveNameless() (found bool) {
	for i, name := range b.UserAgents {
		if name == NoURL {
			b.Rulings[i], found = rules.NoRuling, true
		}
	}
	return found
}

// resolve finds the agent of a row that is pending, by the ruling in force for it.
func (e *Evaluator) resolve(pending uint32, id RulingID) uint32 {
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

// dropUnknown removes the rows of unknown agents if they are to be skipped. Where an old store has
// decided them, too, it must know none of them either.
func (s *Store) dropUnknown(b *Batch) {
	if s.opt.LogAgents != LogAgentsSkip {
		return
	}
	var old *Batch
	if b.Old != nil && len(b.Old.Agents) == len(b.Agents) {
		old = b.Old
	}
	n, dispute := 0, 0
	for i, agent := range b.Agents {
		if agent == unknownAgent && (old == nil || old.Agents[i] == unknownAgent) {
			continue
		}
		for ; dispute < len(b.Disputes) && int(b.Disputes[dispute].Row) == i; dispute++ {
			b.Disputes[dispute].Row = uint32(n)
		}
		if n < i {
			b.copyRow(n, i)
			b.copyDecided(n, i)
			if old != nil {
				old.copyDecided(n, i)
			}
		}
		n++
	}
	b.Skipped += len(b.Agents) - n
	b.truncateDecided(n)
	if old != nil {
		old.truncateDecided(n)
	}
}

// agent returns the agent of the verdict number a of a row.
func (b *Batch) agent(row, a int) int {
	if len(b.Agents) > 0 {
		return int(b.Agents[row])
	}
	return a
}

// isKnown reports whether an agent is one of Store.Options.
func (s *Store) isKnown(agent int) bool { return agent < len(s.opt.Agents) }

// robotsAgent returns an agent, of Store.Options or one that the text of r names, as package robots
// looks for its groups.
func (s *Store) robotsAgent(agent int, r *rules.Ruling) robots.Agent {
	if s.isKnown(agent) {
		return robots.NewAgent(s.opt.Agents[agent], s.opt.Dialect)
	}
	return robots.Agent{Token: robots.ProductToken(r.NameOf(agent))}
}

// set returns the rules of an agent.
func (e *Evaluator) set(id RulingID, agent int) *rules.Set {
	if e.store.isKnown(agent) {
		return e.reader.Ruling(id).Sets[agent]
	}
	return e.reader.Set(id, agent)
}
