package engine

import "github.com/robobatch/robobatch/crawlers"

// LogAgents says for which agents a Store decides: for those of StoreOptions.Agents, or, row by
// row, for the crawler that the User-Agent names. Then it says what happens to a row without a
// User-Agent, or with one that names no crawler that package crawlers knows.
type LogAgents uint8

// The values of LogAgents.
const (
	LogAgentsOff  LogAgents = iota // decide each row for all of StoreOptions.Agents
	LogAgentsStar                  // decide it for a crawler that only groups for "*" bind
	LogAgentsSkip                  // leave the row out
)

// unknownAgent is the agent of a row whose User-Agent names no known crawler.
const unknownAgent = 0

// logAgentNames returns the agents of a Store with LogAgents: "*", and the crawlers in the order of
// their table.
func logAgentNames() []string {
	all := crawlers.Set("all")
	names := make([]string, 1, 1+len(all))
	names[0] = "*"
	for _, c := range all {
		names = append(names, c.Token)
	}
	return names
}

// maxKnownAgents is how many User-Agents an Evaluator remembers before it starts anew. A day's log
// of a busy site has some thousand distinct ones, and with a hundred bytes each they take half a
// megabyte.
const maxKnownAgents = 4096

// agentMemory remembers which agents User-Agents name, as logs repeat them.
type agentMemory map[string]uint16

// of returns the agent that a User-Agent names.
func (m agentMemory) of(userAgent []byte) uint16 {
	if agent, known := m[string(userAgent)]; known {
		return agent
	}
	if len(m) >= maxKnownAgents {
		clear(m)
	}
	agent := uint16(1 + crawlers.IdentifyIndex(userAgent)) // -1 becomes unknownAgent
	m[string(userAgent)] = agent
	return agent
}

// identify fills b.Agents, and drops the rows that are to be skipped.
func (e *Evaluator) identify(b *Batch) {
	if e.known == nil {
		e.known = agentMemory{}
	}
	for i := range b.URLs {
		agent := uint16(unknownAgent)
		if len(b.UserAgents) > 0 && b.UserAgents[i] != NoURL {
			s := b.UserAgents[i]
			agent = e.known.of(b.Data[s.Off : s.Off+s.Len])
		}
		b.Agents = append(b.Agents, agent)
	}
	if e.store.opt.LogAgents == LogAgentsSkip {
		b.dropUnknown()
	}
}

// dropUnknown removes the rows of unknown agents.
func (b *Batch) dropUnknown() {
	n := 0
	for i, agent := range b.Agents {
		if agent == unknownAgent {
			continue
		}
		b.Agents[n] = agent
		b.copyRow(n, i)
		n++
	}
	b.Skipped = len(b.Agents) - n
	b.Agents = b.Agents[:n]
	b.Truncate(n)
}

// agent returns the agent of the verdict number a of a row.
func (b *Batch) agent(row, a int) int {
	if len(b.Agents) > 0 {
		return int(b.Agents[row])
	}
	return a
}
