package rules

import "github.com/robobatch/robobatch/robots"

// Odd are the oddities of texts by RulingID. It is shorter than some RulingIDs are great, and nil if
// no text is odd.
type Odd []robots.Oddity

// Add notes the oddity of a text, if it is odd.
func (odd *Odd) Add(id RulingID, o robots.Oddity) {
	if !o.IsOdd() {
		return
	}
	if n := int(id) + 1; n > len(*odd) {
		*odd = append(*odd, make(Odd, n-len(*odd))...)
	}
	(*odd)[id] = o
}

// Of returns the oddity of the text in force.
func (odd Odd) Of(id RulingID) robots.Oddity {
	if int(id) < len(odd) {
		return odd[id]
	}
	return robots.NotOdd
}

// Worst is the number of examples an OddCount has.
const Worst = 3

// An OddCount counts responses that were treated as a robots.txt but are not valid, see engine.OddCount.
type OddCount struct {
	Number int64                     // of them
	Rows   int64                     // URLs that they decided
	Kinds  [robots.NumOddities]int64 // by oddity, how many of them
	Worst  [Worst]OddOrigin          // those with the most rows, or else the first; fewer if there are fewer
}

// An OddOrigin is an origin whose robots.txt is not valid, see engine.OddOrigin.
type OddOrigin struct {
	Origin robots.Origin // "" means none
	Odd    robots.Oddity
	Rows   int64
}

// Add counts one.
func (c *OddCount) Add(o OddOrigin) {
	if c.Number < Worst {
		c.Worst[c.Number] = o
	}
	c.Number++
	c.Rows += o.Rows
	c.Kinds[o.Odd]++
}
