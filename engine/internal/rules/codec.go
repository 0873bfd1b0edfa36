package rules

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/robobatch/robobatch/automaton"
	"github.com/robobatch/robobatch/internal/pack"
	"github.com/robobatch/robobatch/internal/wire"
)

// The rules of a Set are a chunk of a pack:
//
//	count      of the rules
//	text       length and bytes: their values, one after the other
//	rules      in the order of precedence: line; twice the size of the value, plus 1 for a rule that allows; offset of
//	           the value in text
//	automaton  length and bytes
//	rivals     1 byte: 1 if there are any; then three automata

// AppendBinary appends the encoding of the rules of an agent that has a group. [DecodeSet] reads
// it.
func (rs *Set) AppendBinary(dst []byte) []byte {
	table := rs.automaton.AppendBinary(nil)
	dst = slices.Grow(dst, len(rs.text)+6*len(rs.rules)+len(table)+32) // usually enough
	dst = binary.AppendUvarint(dst, uint64(len(rs.rules)))
	dst = wire.AppendText(dst, rs.text)
	for _, r := range rs.rules {
		dst = binary.AppendUvarint(dst, uint64(r.line))
		dst = binary.AppendUvarint(dst, uint64(r.size)<<1|uint64(index(r.allow)))
		dst = binary.AppendUvarint(dst, uint64(r.value))
	}
	dst = wire.AppendText(dst, table)
	if rs.rivals == nil {
		return append(dst, 0)
	}
	dst = append(dst, 1)
	for _, a := range []*automaton.Automaton{rs.rivals.literal, rs.rivals.wild[0], rs.rivals.wild[1]} {
		dst = wire.AppendText(dst, a.AppendBinary(nil))
	}
	return dst
}

var errRules = fmt.Errorf("%w (the rules are invalid)", pack.ErrDamaged)

// DecodeSet returns the rules that AppendBinary wrote. It keeps no part of data. The error wraps pack.ErrDamaged.
func DecodeSet(data []byte) (*Set, error) {
	c := wire.NewCursor(data)
	rs := &Set{otherwise: Verdict{NoRule, ReasonDefault, Allowed}}
	count := c.Count()
	rs.text = string(c.Text())
	rs.rules = make([]ruleRef, count)
	for i := range rs.rules {
		line, size, value := c.Uvarint(), c.Uvarint(), c.Uvarint()
		if n := uint64(len(rs.text)); line > math.MaxInt32 || size>>1 > n || value > n-size>>1 {
			return nil, errRules
		}
		rs.rules[i] = ruleRef{uint32(value), uint32(size >> 1), int32(line), size&1 == 1}
	}
	a, err := decodeAutomaton(&c, count)
	if err != nil {
		return nil, err
	}
	rs.automaton = *a
	if c.Byte() == 1 {
		if rs.rivals, err = decodeRivals(&c, count); err != nil {
			return nil, err
		}
	}
	if !c.AtEnd() {
		return nil, errRules
	}
	return rs, nil
}

// decodeAutomaton reads the automaton for that many rules.
func decodeAutomaton(c *wire.Cursor, rules int) (*automaton.Automaton, error) {
	a, err := automaton.FromBytes(slices.Clone(c.Text()), rules)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errRules, err)
	}
	return a, nil
}

// decodeRivals reads the rivals for that many rules.
func decodeRivals(c *wire.Cursor, rules int) (*rivals, error) {
	r := &rivals{}
	for _, a := range []**automaton.Automaton{&r.literal, &r.wild[0], &r.wild[1]} {
		var err error
		if *a, err = decodeAutomaton(c, rules); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// footprint returns the memory that the rules take, in bytes.
func (rs *Set) footprint() int64 {
	n := int(unsafe.Sizeof(*rs)) + rs.automaton.Size() + len(rs.rules)*int(unsafe.Sizeof(ruleRef{})) + len(rs.text)
	return int64(n + rs.rivals.size())
}
