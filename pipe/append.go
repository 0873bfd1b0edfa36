package pipe

import (
	"encoding/binary"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	flatbuffers "github.com/google/flatbuffers/go"
)

// A tail is columns that go behind those of a record: lists as a record has them, and the buffers.
type tail struct {
	nodes   []byte
	buffers []byte // places count from the first buffer's
	parts   [][]byte
	size    int64 // of all parts with their prefixes and padding
	packed  bool  // buffers have the prefix of those that might be compressed
}

// reset empties the tail, and says whether the record is compressed.
func (t *tail) reset(packed bool) {
	clear(t.parts)
	*t = tail{nodes: t.nodes[:0], buffers: t.buffers[:0], parts: t.parts[:0], packed: packed}
}

// add adds a column. Of a dictionary's these are the numbers.
func (t *tail) add(a arrow.ArrayData) {
	t.nodes = binary.LittleEndian.AppendUint64(t.nodes, uint64(a.Len()))
	t.nodes = binary.LittleEndian.AppendUint64(t.nodes, uint64(a.NullN()))
	for _, b := range a.Buffers() {
		var part []byte
		if b != nil {
			part = b.Bytes()
		}
		size := int64(len(part))
		if t.packed && size > 0 {
			size += prefixSize
		}
		t.buffers = binary.LittleEndian.AppendUint64(t.buffers, uint64(t.size))
		t.buffers = binary.LittleEndian.AppendUint64(t.buffers, uint64(size))
		t.parts = append(t.parts, part)
		t.size += (size + 7) &^ 7
	}
}

// notPacked is the prefix of a buffer that is not compressed.
var notPacked = []byte{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}

// write writes the buffers.
func (t *tail) write(w *frameWriter) error {
	for _, part := range t.parts {
		if t.packed && len(part) > 0 {
			if err := w.body(notPacked); err != nil {
				return err
			}
		}
		if err := w.body(part); err != nil {
			return err
		}
	}
	return nil
}

// lists writes the list of nodes, and that of buffers, behind those of a record, from the given place of the body on.
func (t *tail) lists(b *builder, r *record, at int64) (nodes, buffers flatbuffers.UOffsetT) {
	return b.structs(r.nodes, t.nodes, 0), b.structs(r.buffers, t.buffers, at)
}

// structs writes a vector of pairs of numbers: those of head, and those of tail with the first number of each moved.
func (b *builder) structs(head, tail []byte, move int64) flatbuffers.UOffsetT {
	n := (len(head) + len(tail)) / 16
	b.StartVector(16, n, 8)
	for i := len(tail)/16 - 1; i >= 0; i-- {
		b.PlaceInt64(int64At(tail, 2*i+1))
		b.PlaceInt64(int64At(tail, 2*i) + move)
	}
	for i := len(head)/16 - 1; i >= 0; i-- {
		b.PlaceInt64(int64At(head, 2*i+1))
		b.PlaceInt64(int64At(head, 2*i))
	}
	return b.EndVector(n)
}

// extendRecord returns the message of a record batch with the columns of the tail, whose buffers follow the body.
func (b *builder) extendRecord(m *message, r *record, t *tail) []byte {
	b.start(m.meta)
	body := int64(len(m.body)+7) &^ 7
	nodes, buffers := t.lists(b, r, body)
	b.StartObject(5)
	b.PrependInt64Slot(recordLength, int64(r.rows), 0)
	b.PrependUOffsetTSlot(recordNodes, nodes, 0)
	b.PrependUOffsetTSlot(recordBuffers, buffers, 0)
	b.PrependUOffsetTSlot(recordCompression, b.old(m.at(recordCompression)), 0)
	b.PrependUOffsetTSlot(recordVariadic, b.old(m.at(recordVariadic)), 0)
	header := b.EndObject()
	return b.message(m.version, kindRecord, header, body+t.size, b.old(m.pairs))
}

// dictionary returns the message of a dictionary of the verdicts, whose body is the tail.
func (b *builder) dictionary(version int16, id int64, texts arrow.Array, t *tail) []byte {
	t.reset(false)
	t.add(texts.Data())
	b.start(nil)
	nodes, buffers := t.lists(b, &record{}, 0)
	b.StartObject(5)
	b.PrependInt64Slot(recordLength, int64(texts.Len()), 0)
	b.PrependUOffsetTSlot(recordNodes, nodes, 0)
	b.PrependUOffsetTSlot(recordBuffers, buffers, 0)
	data := b.EndObject()
	b.StartObject(3)
	b.PrependInt64Slot(dictionaryID, id, 0)
	b.PrependUOffsetTSlot(dictionaryData, data, 0)
	header := b.EndObject()
	return b.message(version, kindDictionary, header, t.size, 0)
}

// textsOf returns the dictionary of a column; nil if it has none.
func textsOf(column arrow.Array) arrow.Array {
	if d, ok := column.(*array.Dictionary); ok {
		return d.Dictionary()
	}
	return nil
}
