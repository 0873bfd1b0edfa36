package pipe

import (
	"errors"
	"fmt"

	"github.com/robobatch/robobatch/engine"
)

// ErrAgent is the kind of a fault of a row that names no agent. It comes inside a [*StreamError].
var ErrAgent = errors.New("no name of a crawler")

// agentNames adds the agents of rows to batches, and checks their names.
type agentNames struct {
	check func(string) error
	known map[string]struct{} // names of the stream that were checked; nil is none
}

// mostNames is how many names are remembered: then all are checked anew.
const mostNames = 1 << 14

// fill gives the rows of b, which are the rows of t from one row to another, their agents.
func (n *agentNames) fill(b *engine.Batch, t *texts, from, to int) error {
	var last engine.Span // neighbouring rows of one agent share a text
	for row := from; row < to; row++ {
		text, null, err := t.at(row)
		if err == nil && (row == from || string(text) != string(b.Piece(last))) {
			if err = n.checkName(text, null); err == nil {
				last = engine.Span{Off: uint32(len(b.Data)), Len: uint32(len(text))}
				b.Data = append(b.Data, text...)
			}
		}
		if err != nil {
			return fmt.Errorf("row %d: %w", row+1, err)
		}
		b.UserAgents = append(b.UserAgents, last)
	}
	return nil
}

// checkName checks a name.
func (n *agentNames) checkName(name []byte, null bool) error {
	if _, known := n.known[string(name)]; known {
		return nil
	}
	switch {
	case null:
		return fmt.Errorf("%w: the agent is null: give * for a crawler that no robots.txt names", ErrAgent)
	case len(name) == 0:
		return fmt.Errorf("%w: the agent is empty: give * for a crawler that no robots.txt names", ErrAgent)
	case len(name) > engine.MaxAgentName:
		return fmt.Errorf("%w: the agent has %d bytes, and no name has over %d: give its product token, such as Googlebot, or *", ErrAgent, len(name), engine.MaxAgentName)
	}
	if n.check != nil {
		if err := n.check(string(name)); err != nil {
			return fmt.Errorf("%w: %w", ErrAgent, err)
		}
	}
	if n.known == nil || len(n.known) >= mostNames {
		n.known = map[string]struct{}{}
	}
	n.known[string(name)] = struct{}{}
	return nil
}
