package pipe

import (
	"encoding/binary"

	"github.com/apache/arrow/go/v17/arrow"
	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/robobatch/robobatch/output"
)

// A builder writes a message that refers to parts of another one, which follows it unchanged: all
// offsets of a FlatBuffer lead forward.
type builder struct {
	flatbuffers.Builder
	behind []byte // the message that follows, padded
}

// start begins a message that old follows.
func (b *builder) start(old []byte) {
	b.behind = append(b.behind[:0], old...)
	b.behind = append(b.behind, make([]byte, padded(len(old))-len(old))...)
	b.Reset()
	b.Prep(8, 0)
	b.CreateByteVector(b.behind)
}

// old returns the reference to the part of the old message that stood at that place; 0 if that is 0.
func (b *builder) old(at flatbuffers.UOffsetT) flatbuffers.UOffsetT {
	if at == 0 {
		return 0
	}
	return flatbuffers.UOffsetT(len(b.behind)) - at
}

// message completes a message around a header.
func (b *builder) message(version int16, kind byte, header flatbuffers.UOffsetT, body int64, metadata flatbuffers.UOffsetT) []byte {
	b.StartObject(5)
	b.PrependInt64Slot(messageBodyLength, body, 0)
	b.PrependUOffsetTSlot(messageHeader, header, 0)
	b.PrependUOffsetTSlot(messageMetadata, metadata, 0)
	b.PrependInt16Slot(messageVersion, version, 0)
	b.PrependByteSlot(messageHeaderType, kind, 0)
	b.Finish(b.EndObject())
	return b.FinishedBytes()
}

// appendFields writes fields of the verdicts, and appends where they are.
func (b *builder) appendFields(list []flatbuffers.UOffsetT, fields []output.VerdictField, ids map[string]int64) []flatbuffers.UOffsetT {
	for _, f := range fields {
		// Write a field of the verdicts.
		kind, width := typeUtf8, int32(0)
		var encoding flatbuffers.UOffsetT
		switch f.Type.ID() { //nolint:exhaustive // the types of verdicts
		case arrow.BOOL:
			kind = typeBool
		case arrow.INT32:
			kind, width = typeInt, 32
		case arrow.DICTIONARY:
			index := b.typeTable(32)
			b.StartObject(4)
			b.PrependInt64Slot(dictionaryEncodingID, ids[f.Dictionary], 0)
			b.PrependUOffsetTSlot(dictionaryEncodingIndex, index, 0)
			encoding = b.EndObject()
		}
		name := b.CreateString(f.Name)
		b.StartVector(4, 0, 4)
		children := b.EndVector(0) // some readers want it
		t := b.typeTable(width)
		b.StartObject(7)
		b.PrependUOffsetTSlot(fieldName, name, 0)
		b.PrependUOffsetTSlot(fieldType, t, 0)
		b.PrependUOffsetTSlot(fieldDictionary, encoding, 0)
		b.PrependUOffsetTSlot(fieldChildren, children, 0)
		b.PrependByteSlot(fieldTypeKind, byte(kind), 0)
		b.PrependBoolSlot(fieldNullable, f.Nullable, false)
		list = append(list, b.EndObject())
	}
	return list
}

// typeTable writes the table of a type: a signed integer of that many bits, or a type without
// parameters for 0.
func (b *builder) typeTable(width int32) flatbuffers.UOffsetT {
	b.StartObject(2)
	b.PrependInt32Slot(intWidth, width, 0)
	b.PrependBoolSlot(intSigned, width > 0, false)
	return b.EndObject()
}

// A tail is columns that go behind the columns of a record: lists as a record has them, and the buffers.
type tail struct {
	nodes   []byte
	buffers []byte // places count from the first buffer's
	parts   [][]byte
	size    int64 // of all parts with their prefixes and padding
	packed  bool  // buffers have the prefix of those that might be compressed
}

// reset empties the tail. packed says whether the record is compressed.
func (t *tail) reset(packed bool) {
	clear(t.parts)
	*t = tail{nodes: t.nodes[:0], buffers: t.buffers[:0], parts: t.parts[:0], packed: packed}
}

// notPacked is the prefix of a buffer that is not compressed.
var notPacked = []byte{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}

// addArray adds a column; of one with a dictionary, the numbers.
func (t *tail) addArray(a arrow.ArrayData) {
	t.nodes = appendPair(t.nodes, int64(a.Len()), int64(a.NullN()))
	for _, b := range a.Buffers() {
		size := 0
		if b != nil && b.Len() > 0 {
			if size = b.Len(); t.packed {
				t.parts, size = append(t.parts, notPacked), size+prefixSize
			}
			t.parts = append(t.parts, b.Bytes())
		}
		t.buffers = appendPair(t.buffers, t.size, int64(size))
		t.size += int64(padded(size))
	}
}

func appendPair(list []byte, a, b int64) []byte {
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(list, uint64(a)), uint64(b))
}

// write writes the buffers.
func (t *tail) write(w *frameWriter) error {
	for _, part := range t.parts {
		if err := w.body(part); err != nil {
			return err
		}
	}
	return nil
}

// pairs writes a vector of pairs of numbers: the pairs of head, then the pairs of tail with the first
// number of each moved.
func (b *builder) pairs(head, tail []byte, move int64) flatbuffers.UOffsetT {
	n := len(head)/16 + len(tail)/16
	b.StartVector(16, n, 8)
	b.placePairs(tail, move)
	b.placePairs(head, 0)
	return b.EndVector(n)
}

// placePairs writes pairs from the last to the first, as a FlatBuffer grows to its front.
func (b *builder) placePairs(list []byte, move int64) {
	for i := len(list)/8 - 2; i >= 0; i -= 2 {
		b.PlaceInt64(int64At(list, i+1))
		b.PlaceInt64(int64At(list, i) + move)
	}
}

// record writes the table of a record batch: a record's columns and the columns of the tail, whose
// buffers begin at that place in the body. The data of compression and variadic is written; 0 is
// none.
func (b *builder) record(r *record, t *tail, at int64, compression, variadic flatbuffers.UOffsetT) flatbuffers.UOffsetT {
	nodes, buffers := b.pairs(r.nodes, t.nodes, 0), b.pairs(r.buffers, t.buffers, at)
	b.StartObject(5)
	b.PrependInt64Slot(recordLength, int64(r.rows), 0)
	b.PrependUOffsetTSlot(recordNodes, nodes, 0)
	b.PrependUOffsetTSlot(recordBuffers, buffers, 0)
	b.PrependUOffsetTSlot(recordCompression, compression, 0)
	b.PrependUOffsetTSlot(recordVariadic, variadic, 0)
	return b.EndObject()
}
