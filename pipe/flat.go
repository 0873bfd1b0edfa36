package pipe

import (
	"slices"

	flatbuffers "github.com/google/flatbuffers/go"
)

// A table is a table of a FlatBuffer, whose fields are named by their numbers in Arrow's schema of messages. Its methods panic
// at damage, as those of the library do.
type table struct{ flatbuffers.Table }

// The fields of tables, by the name of the table.
const (
	messageVersion, messageHeaderType, messageHeader, messageBodyLength, messageMetadata = 0, 1, 2, 3, 4

	schemaEndianness, schemaFields, schemaMetadata, schemaFeatures = 0, 1, 2, 3

	fieldName, fieldNullable, fieldTypeKind, fieldType, fieldDictionary, fieldChildren = 0, 1, 2, 3, 4, 5

	dictionaryEncodingID, dictionaryEncodingIndex = 0, 1

	intWidth, intSigned = 0, 1

	unionMode = 0

	recordLength, recordNodes, recordBuffers, recordCompression, recordVariadic = 0, 1, 2, 3, 4

	dictionaryID, dictionaryData, dictionaryIsDelta = 0, 1, 2

	compressionCodec = 0
)

// root returns the table that a FlatBuffer is. What memory holds behind it is not part of it, also for vectors that say so.
func root(b []byte) table {
	b = slices.Clip(b)
	return table{flatbuffers.Table{Bytes: b, Pos: flatbuffers.GetUOffsetT(b)}}
}

// slot returns where a field is, relative to the table; 0 if it is not there.
func (t table) slot(field int) flatbuffers.UOffsetT {
	return flatbuffers.UOffsetT(t.Offset(flatbuffers.VOffsetT(4 + 2*field)))
}

func (t table) int64(field int) int64 {
	if o := t.slot(field); o != 0 {
		return t.GetInt64(t.Pos + o)
	}
	return 0
}

func (t table) int32(field int) int32 {
	if o := t.slot(field); o != 0 {
		return t.GetInt32(t.Pos + o)
	}
	return 0
}

func (t table) int16(field int) int16 {
	if o := t.slot(field); o != 0 {
		return t.GetInt16(t.Pos + o)
	}
	return 0
}

func (t table) byte(field int) byte {
	if o := t.slot(field); o != 0 {
		return t.GetByte(t.Pos + o)
	}
	return 0
}

func (t table) bool(field int) bool { return t.byte(field) != 0 }

func (t table) string(field int) string {
	if o := t.slot(field); o != 0 {
		return string(t.ByteVector(t.Pos + o))
	}
	return ""
}

// at returns where what the field refers to is; 0 if it is not there.
func (t table) at(field int) flatbuffers.UOffsetT {
	o := t.slot(field)
	if o == 0 {
		return 0
	}
	at := uint64(t.Pos) + uint64(o)
	at += uint64(flatbuffers.GetUOffsetT(t.Bytes[at:]))
	if at > uint64(len(t.Bytes)) {
		panic("an offset beyond the message")
	}
	return flatbuffers.UOffsetT(at)
}

// table returns a table that a field refers to.
func (t table) table(field int) (sub table, ok bool) {
	at := t.at(field)
	return table{flatbuffers.Table{Bytes: t.Bytes, Pos: at}}, at != 0
}

// vector returns the bytes of a vector, and the number of its elements, which have size bytes each.
func (t table) vector(field, size int) (data []byte, n int) {
	at := t.at(field)
	if at == 0 {
		return nil, 0
	}
	length := uint64(flatbuffers.GetUOffsetT(t.Bytes[at:]))
	from := uint64(at) + flatbuffers.SizeUOffsetT
	return t.Bytes[from : from+length*uint64(size)], int(length)
}

// tables returns the tables of a vector.
func (t table) tables(field int) []table {
	data, n := t.vector(field, flatbuffers.SizeUOffsetT)
	if n == 0 {
		return nil
	}
	first := uint64(t.at(field)) + flatbuffers.SizeUOffsetT
	list := make([]table, n)
	for i := range list {
		at := first + uint64(4*i) + uint64(flatbuffers.GetUOffsetT(data[4*i:]))
		if at > uint64(len(t.Bytes)) {
			panic("an offset beyond the message")
		}
		list[i] = table{flatbuffers.Table{Bytes: t.Bytes, Pos: flatbuffers.UOffsetT(at)}}
	}
	return list
}

// A builder writes a message that refers to parts of another one, which stands behind it: all offsets of a FlatBuffer
// lead forward, so it stays as it is.
type builder struct {
	flatbuffers.Builder
	behind []byte // the message behind, padded
}

// start begins a message, behind which old stands.
func (b *builder) start(old []byte) {
	b.behind = append(b.behind[:0], old...)
	for len(b.behind)%8 != 0 {
		b.behind = append(b.behind, 0)
	}
	b.Reset()
	b.Prep(8, 0)
	b.CreateByteVector(b.behind)
}

// old returns what refers to the part of the old message that stood at that place; 0 if that is 0.
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
