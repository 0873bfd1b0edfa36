package packed

import (
	"encoding/binary"
	"fmt"

	"github.com/robobatch/robobatch/engine/internal/rules"
	"github.com/robobatch/robobatch/internal/pack"
	"github.com/robobatch/robobatch/internal/wire"
	"github.com/robobatch/robobatch/robots"
)

// Two chunks have facts about all texts that would otherwise be known only after loading them:
//
//	odd     for each odd text its number, minus the number of the previous odd text, and its oddity: 1 byte
//	tokens  1 byte: 1 if the list is complete; count of the product tokens, and each token
//
// A pack without odd texts or tokens lacks the chunk. If the product tokens of a pack include one for a use of
// pages, the pack is by an older program that did not know policy groups: it has no rules of [robots.PolicyLines],
// and is otherwise the same.

// writeMarks writes the chunks odd and tokens, unless they are empty, and sets w.marks. All texts must have been
// written.
func (w *writer) writeMarks() (err error) {
	var odd, tokens []byte
	last := 0
	for id, o := range w.odd {
		if number, ok := rules.RulingID(id).Text(); ok && o.IsOdd() {
			odd = binary.AppendUvarint(odd, uint64(number-last))
			odd = append(odd, byte(o))
			last = number
		}
	}
	all, complete := w.tokens.List()
	if len(all) > 0 {
		tokens = append(tokens, map[bool]byte{true: 1}[complete])
		tokens = binary.AppendUvarint(tokens, uint64(len(all)))
		for _, t := range all {
			tokens = wire.AppendText(tokens, t)
		}
	}
	for i, chunk := range [...][]byte{odd, tokens} {
		if len(chunk) == 0 {
			continue
		}
		if w.marks[i], err = w.out.AddChunk(chunk); err != nil {
			return err
		}
	}
	return nil
}

// errMarks is the error of an invalid chunk of marks whose checksum is correct.
var errMarks = fmt.Errorf("%w (invalid marks of texts)", pack.ErrDamaged)

// readOdd reads the chunk odd. It returns nil if the pack has none. The error is errMarks if its content is invalid.
func readOdd(file *pack.Reader) (odd rules.Odd, err error) {
	ref := file.Summary().Odd
	if ref.Size == 0 {
		return nil, nil
	}
	chunk, err := file.Chunk(nil, ref)
	if err != nil {
		return nil, err
	}
	number, most := uint64(0), uint64(file.Texts())
	for c := wire.NewCursor(chunk); !c.AtEnd(); {
		delta, o := c.Uvarint(), robots.Oddity(c.Byte())
		if number += delta; c.Bad() || delta >= most || number >= most || int(o) >= robots.NumOddities {
			return nil, errMarks
		}
		odd.Add(rules.TextID(int(number)), o)
	}
	return odd, nil
}

// Tokens reads the chunk tokens. Without it, there are no tokens, and the list is complete. After an error it returns
// none, and false.
func (l *loader) Tokens() (all []robots.ProductToken, complete bool) {
	ref := l.file.Summary().Tokens
	if ref.Size == 0 {
		return nil, true
	}
	chunk, err := l.file.Chunk(nil, ref)
	if err != nil {
		l.fail(err)
		return nil, false
	}
	c := wire.NewCursor(chunk)
	complete = c.Byte() == 1
	all = make([]robots.ProductToken, c.Count())
	for i := range all {
		all[i] = robots.ProductToken(c.Text())
	}
	if !c.AtEnd() {
		l.fail(errMarks)
		return nil, false
	}
	return all, complete
}
