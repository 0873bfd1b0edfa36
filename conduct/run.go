package conduct

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/robobatch/robobatch/internal/extsort"
	"github.com/robobatch/robobatch/internal/prefix"
	"github.com/robobatch/robobatch/internal/wire"
)

// runBlock is about how many bytes a block of a run has, and pieceSize about how many a piece has.
const (
	runBlock  = 64 << 10
	pieceSize = 16 << 10
)

// A runWriter is a reader that writes all it receives as the blocks of a run.
type runWriter struct {
	run   *extsort.Run
	block []byte
	last  []byte // origin, in this block

	name  string // of the origin in hand
	agent string
	from  int64
	state state
	piece []byte
	head  []byte // scratch
}

// writeItem writes an item.
func (w *runWriter) writeItem(kind itemKind, agent string, at int64, payload []byte) error {
	shared := prefix.Shared(w.last, []byte(w.name))
	w.last = append(w.last[:shared], w.name[shared:]...)
	b := binary.AppendUvarint(w.block, uint64(shared))
	b = wire.AppendText(b, w.name[shared:])
	b = wire.AppendText(append(b, byte(kind)), agent)
	w.block = wire.AppendText(binary.AppendVarint(b, at), payload)
	if len(w.block) >= runBlock {
		return w.flush()
	}
	return nil
}

// flush writes the block.
func (w *runWriter) flush() error {
	if len(w.block) == 0 {
		return nil
	}
	err := w.run.Write(w.block)
	w.block, w.last = w.block[:0], w.last[:0]
	return err
}

// origin writes the facts about an origin, and the answers that its crawlers had.
func (w *runWriter) origin(o *origin) error {
	w.name = o.name
	b := binary.AppendVarint(w.head[:0], o.first)
	b = binary.AppendUvarint(b, uint64(len(o.reigns)))
	for _, r := range o.reigns {
		flag := byte(0)
		if r.isText {
			flag = 1
		}
		b = binary.AppendUvarint(append(binary.AppendVarint(b, r.from), flag), uint64(r.change))
	}
	w.head = b
	if err := w.writeItem(ofOrigin, "", NoTime, b); err != nil {
		return err
	}
	for _, agent := range slices.Sorted(maps.Keys(o.fetched)) {
		answers := o.fetched[agent]
		w.head = answers.append(w.head[:0])
		if err := w.writeItem(ofAnswer, agent, NoTime, w.head); err != nil {
			return err
		}
	}
	return nil
}

// begin begins a crawler.
func (w *runWriter) begin(agent string) error {
	w.agent, w.piece, w.from = agent, w.piece[:0], NoTime
	return nil
}

// event adds an event to the piece in hand.
func (w *runWriter) event(e *event) error {
	if len(w.piece) >= pieceSize {
		if err := w.endPiece(nil); err != nil {
			return err
		}
	}
	if len(w.piece) == 0 {
		w.from, w.state = e.at, state{at: e.at, delay: noDelay}
	}
	w.piece = w.state.append(w.piece, e)
	return nil
}

// endPiece writes a piece, with the counts of the pair if that is the last one.
func (w *runWriter) endPiece(c *counts) error {
	w.head = append(w.head[:0], 0)
	if c != nil {
		w.head[0] = 1
		w.head = c.append(w.head)
	}
	w.head = append(w.head, w.piece...)
	err := w.writeItem(ofPiece, w.agent, w.from, w.head)
	w.piece, w.from = w.piece[:0], NoTime
	return err
}

// end writes the last piece of a crawler.
func (w *runWriter) end(c *counts) error { return w.endPiece(c) }
