package engine

import (
	"github.com/zeebo/xxh3"

	"github.com/robobatch/robobatch/crawlers"
	"github.com/robobatch/robobatch/crawlers/ranges"
)

// A verifier knows which lists are about the crawlers of a Store. It is immutable.
type verifier struct {
	lists     *ranges.Lists
	speakers  []ranges.Speaker // by agent of StoreOptions
	operators []uint32         // by agent of StoreOptions: a number for each operator
}

// newVerifier returns the verifier of a Store with these options, or nil without StoreOptions.Ranges.
func newVerifier(opt *StoreOptions) *verifier {
	if opt.Ranges == nil || !opt.LogAgents.judges() {
		return nil
	}
	v := &verifier{lists: opt.Ranges}
	numbers := map[string]uint32{}
	for _, name := range opt.Agents {
		operator := name
		if c, known := crawlers.Lookup(name); known && c.Operator != "" {
			operator = c.Operator
		}
		if _, known := numbers[operator]; !known {
			numbers[operator] = uint32(len(numbers))
		}
		v.speakers, v.operators = append(v.speakers, opt.Ranges.Speaker(name)), append(v.operators, numbers[operator])
	}
	return v
}

// strangers is the bit that is set in the operator numbers of crawlers that only a robots.txt names. Each of them
// counts as an operator of its own.
const strangers = 1 << 31

// speakerOf returns the address lists for the agent of a row, and the number of its operator.
func (e *Evaluator) speakerOf(b *Batch, row int) (ranges.Speaker, uint32) {
	v, agent := e.store.verifier, int(b.Agents[row])
	if e.store.isKnown(agent) {
		return v.speakers[agent], v.operators[agent]
	}
	name := e.reader.Ruling(b.Rulings[row]).NameOf(agent)
	return v.lists.Speaker(name), strangers | uint32(xxh3.HashString(name))
}

// verify fills b.Verified and b.Proofs, with StoreOptions.Ranges. It also counts the requests of crawlers by address in
// b.senders, and the results that may depend on an unknown time. old is the Evaluator of b.Old, or nil.
func (e *Evaluator) verify(b *Batch, old *Evaluator) {
	v := e.store.verifier
	if v == nil {
		return
	}
	b.Verified, b.Proofs = grown(b.Verified, b.Len()), grown(b.Proofs, b.Len())
	for i := range b.Verified {
		b.Verified[i], b.Proofs[i] = ranges.Null, 0
		agent, by := b.crawlerOf(i)
		if agent == unknownAgent {
			continue
		}
		decider := e
		if by != b {
			decider = old
		}
		speaker, operator := decider.speakerOf(by, i)
		client := ranges.ParseClient(b.client(i))
		b.addSender(&client, operator)
		at := b.time(i)
		answer, proof := v.lists.VerifyClient(speaker, &client, at)
		b.Verified[i], b.Proofs[i] = answer, proof
		switch {
		case answer != ranges.Yes && answer != ranges.No:
		case v.lists.Untimed(speaker):
			b.UntimedLists++
		case at == NoTime:
			b.UntimedRows++
		}
	}
}

// client returns the client address of a row as read.
func (b *Batch) client(row int) []byte {
	if len(b.Clients) == 0 {
		return nil
	}
	return b.Piece(b.Clients[row])
}

// addSender counts a crawler's request by its client address. It extends the last element of b.senders if that has the
// same network and operator.
func (b *Batch) addSender(client *ranges.Client, operator uint32) {
	n := len(b.senders)
	if n == 0 || b.senders[n-1].Network != client.Network || b.senders[n-1].Operator != operator {
		b.senders = append(b.senders, ranges.Requests{Network: client.Network, Operator: operator})
		n++
	}
	b.senders[n-1].Count++
	if client.Local {
		b.senders[n-1].Local++
	}
	if client.Anonymised {
		b.senders[n-1].Anonymised++
	}
	if client.Text {
		b.senders[n-1].Texts++
	}
	if client.Named {
		b.senders[n-1].Named++
	}
}

// isImpostor reports whether a row did not come from the crawler that decided names. decided has the rows of b, but
// another robots.txt, which may name another crawler than the one that b.Verified is about.
func (e *Evaluator) isImpostor(b, decided *Batch, row int) bool {
	if len(b.Verified) == 0 {
		return false
	}
	if decided == b || decided.Agents[row] == b.Agents[row] && e.store.isKnown(int(b.Agents[row])) {
		return b.Verified[row] == ranges.No
	}
	speaker, _ := e.speakerOf(decided, row)
	client := ranges.ParseClient(b.client(row))
	answer, _ := e.store.verifier.lists.VerifyClient(speaker, &client, b.time(row))
	return answer == ranges.No
}

// lacksAddress reports whether lists are loaded but the row has no client address, so that the crawler cannot be
// verified. A private address, or any other that is not on the internet, is an address.
func (e *Evaluator) lacksAddress(b *Batch, row int) bool {
	v := e.store.verifier
	return v != nil && v.lists.Len() > 0 && !ranges.ParseAddress(b.client(row)).IsValid()
}
