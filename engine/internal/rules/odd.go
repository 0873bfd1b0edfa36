package rules

import "github.com/robobatch/robobatch/robots"

// Odd holds the oddities of texts by RulingID. It may be too short for some RulingIDs, whose texts are not odd. It
// is nil if no text is odd.
type Odd []robots.Oddity

// Add records the oddity of a text, if it is odd.
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

// Worst is the maximum number of examples in an OddCount.
const Worst = 3

// An OddCount counts responses that were treated as a robots.txt but are not valid, see engine.OddCount.
type OddCount struct {
	Number int64                     // number of such responses
	Rows   int64                     // URLs that they decided
	Kinds  [robots.NumOddities]int64 // number of such responses by oddity
	Worst  [Worst]OddOrigin          // those with the most rows, or else the first
}

// An OddOrigin is an origin whose robots.txt is not valid, see engine.OddOrigin.
type OddOrigin struct {
	Origin robots.Origin // "" if unused
	Odd    robots.Oddity
	Rows   int64
}

// Add counts an odd origin.
func (c *OddCount) Add(o OddOrigin) {
	if c.Number < Worst {
		c.Worst[c.Number] = o
	}
	c.Number++
	c.Rows += o.Rows
	c.Kinds[o.Odd]++
}
