package pipe

import (
	"slices"

	flatbuffers "github.com/google/flatbuffers/go"
)

// A table is a table of a FlatBuffer. Its fields are numbered as in Arrow's schema of messages. Its methods panic on
// damaged data, as those of the library do: see recoverDamage.
type table struct{ flatbuffers.Table }

// Field numbers, by the name of the table.
const (
	messageVersion, messageHeaderType, messageHeader, messageBodyLength, messageMetadata = 0, 1, 2, 3, 4

	schemaEndianness, schemaFields, schemaMetadata, schemaFeatures = 0, 1, 2, 3

	fieldName, fieldNullable, fieldTypeKind, fieldType, fieldDictionary, fieldChildren = 0, 1, 2, 3, 4, 5

	dictionaryEncodingID, dictionaryEncodingIndex = 0, 1

	intWidth, intSigned = 0, 1

	unionMode = 0

	timestampUnit = 0

	recordLength, recordNodes, recordBuffers, recordCompression, recordVariadic = 0, 1, 2, 3, 4

	dictionaryID, dictionaryData, dictionaryIsDelta = 0, 1, 2

	compressionCodec = 0
)

// root returns the root table of a FlatBuffer. It excludes memory after the FlatBuffer, even if a damaged vector claims
// it.
func root(b []byte) table {
	b = slices.Clip(b)
	return tableAt(b, flatbuffers.GetUOffsetT(b))
}

// tableAt returns the table at a position of a FlatBuffer, which is not checked.
func tableAt(b []byte, pos flatbuffers.UOffsetT) table {
	return table{flatbuffers.Table{Bytes: b, Pos: pos}}
}

// slot returns the position of a field relative to the table; 0 if absent.
func (t table) slot(field int) flatbuffers.UOffsetT {
	return flatbuffers.UOffsetT(t.Offset(flatbuffers.VOffsetT(4 + 2*field)))
}

// scalar returns the value of a field, read by get; the zero value if the field is absent.
func scalar[T any](t table, field int, get func(flatbuffers.UOffsetT) T) (value T) {
	if o := t.slot(field); o != 0 {
		value = get(t.Pos + o)
	}
	return value
}

func (t table) int64(field int) int64   { return scalar(t, field, t.GetInt64) }
func (t table) int16(field int) int16   { return scalar(t, field, t.GetInt16) }
func (t table) byte(field int) byte     { return scalar(t, field, t.GetByte) }
func (t table) string(field int) string { return string(scalar(t, field, t.ByteVector)) }

// follow returns the target of the offset at a position.
func (t table) follow(at uint64) flatbuffers.UOffsetT {
	at += uint64(flatbuffers.GetUOffsetT(t.Bytes[at:]))
	if at > uint64(len(t.Bytes)) {
		panic("an offset beyond the message")
	}
	return flatbuffers.UOffsetT(at)
}

// at returns the position that the field refers to; 0 if the field is absent.
func (t table) at(field int) flatbuffers.UOffsetT {
	if o := t.slot(field); o != 0 {
		return t.follow(uint64(t.Pos) + uint64(o))
	}
	return 0
}

// table returns a table that a field refers to.
func (t table) table(field int) (sub table, ok bool) {
	at := t.at(field)
	return tableAt(t.Bytes, at), at != 0
}

// vector returns the bytes of a vector, and the number of its elements, which have size bytes each; nil and 0 if the
// field is absent.
func (t table) vector(field, size int) (data []byte, n int) {
	at := t.at(field)
	if at == 0 {
		return nil, 0
	}
	length := uint64(flatbuffers.GetUOffsetT(t.Bytes[at:]))
	from := uint64(at) + flatbuffers.SizeUOffsetT
	return t.Bytes[from : from+length*uint64(size)], int(length)
}

// tables returns the tables of a vector; none if the field is absent.
func (t table) tables(field int) []table {
	_, n := t.vector(field, flatbuffers.SizeUOffsetT)
	first := uint64(t.at(field)) + flatbuffers.SizeUOffsetT
	list := make([]table, n)
	for i := range list {
		list[i] = tableAt(t.Bytes, t.follow(first+uint64(4*i)))
	}
	return list
}
