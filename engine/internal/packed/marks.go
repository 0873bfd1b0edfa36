package packed

import (
	"encoding/binary"
	"fmt"

	"github.com/robobatch/robobatch/engine/internal/rules"
	"github.com/robobatch/robobatch/internal/pack"
	"github.com/robobatch/robobatch/internal/wire"
	"github.com/robobatch/robobatch/robots"
)

// Two chunks have facts about all texts that else are only known after loading:
//
//	odd     of each odd text its number, less the number before it, and its oddity: 1 byte
//	tokens  1 byte: 1 if they are all; count of the product tokens, and each
//
// A pack without any has no such chunk. A pack whose product tokens include one for a use of pages is by a program that did
// not know policy groups yet: it has no rules of [robots.PolicyLines], and else the bytes are the same.

// writeMarks writes these chunks, when all texts are written.
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

// errMarks is the error of a chunk of marks that is invalid despite a correct checksum.
var errMarks = fmt.Errorf("%w (its marks of texts are invalid)", pack.ErrDamaged)

// readOdd reads which texts are odd.
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

// Tokens reads the product tokens. After an error there are none.
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
