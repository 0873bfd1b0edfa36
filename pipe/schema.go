package pipe

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/robobatch/robobatch/output"
)

// A typeKind is the number of a type in Arrow's schema of messages (union Type in Schema.fbs).
type typeKind byte

// The types that this package treats specially.
const (
	typeInt         typeKind = 2
	typeBinary      typeKind = 4
	typeUtf8        typeKind = 5
	typeBool        typeKind = 6
	typeTimestamp   typeKind = 10
	typeUnion       typeKind = 14
	typeLargeBinary typeKind = 19
	typeLargeUtf8   typeKind = 20
	typeBinaryView  typeKind = 23
	typeUtf8View    typeKind = 24
)

// types are the known types by number: their names, and the number of buffers of a field, excluding those of its
// children, further buffers of views, and buffers that only some unions have.
var types = [...]struct {
	name    string
	buffers int
}{
	1: {"null", 0}, 2: {"int", 2}, 3: {"float", 2}, 4: {"binary", 3}, 5: {"utf8", 3}, 6: {"bool", 2}, 7: {"decimal", 2},
	8: {"date", 2}, 9: {"time", 2}, 10: {"timestamp", 2}, 11: {"interval", 2}, 12: {"list", 2}, 13: {"struct", 1},
	14: {"union", 1}, 15: {"fixed_size_binary", 2}, 16: {"fixed_size_list", 1}, 17: {"map", 2}, 18: {"duration", 2},
	19: {"large_binary", 3}, 20: {"large_utf8", 3}, 21: {"large_list", 2}, 22: {"run_end_encoded", 0},
	23: {"binary_view", 2}, 24: {"utf8_view", 2}, 25: {"list_view", 3}, 26: {"large_list_view", 3},
}

// isKnown reports whether the type is one of types.
func (k typeKind) isKnown() bool { return int(k) < len(types) && types[k].name != "" }

// String returns the name of the type.
func (k typeKind) String() string {
	if k.isKnown() {
		return types[k].name
	}
	return fmt.Sprintf("type %d", byte(k))
}

// isView reports whether texts are views, which contain short texts and refer to long ones.
func (k typeKind) isView() bool { return k == typeBinaryView || k == typeUtf8View }

// isText reports whether the type is a type of text.
func (k typeKind) isText() bool {
	return k == typeUtf8 || k == typeBinary || k == typeLargeUtf8 || k == typeLargeBinary || k.isView()
}

// A position locates a column in the lists of a record batch: it has the number of preceding entries in each.
type position struct {
	nodes, buffers int
	views          int // number of preceding fields of views; the number of further buffers of each is in a separate list
}

// A role is the meaning of a column that is read.
type role uint8

// The roles. Only the first must have a column.
const (
	urlRole role = iota
	agentRole
	clientRole
	timeRole
	numRoles
)

// A textField describes a column that is read, which has texts or times.
type textField struct {
	position
	name       string   // "" if there is no such column
	kind       typeKind // of the texts
	unit       int64    // of times, in nanoseconds
	dictionary bool     // the column has indices into a dictionary
	id         int64    // of the dictionary
	width      int      // of an index, in bytes
}

// Limits of the fields of a schema: their number, and their nesting depth.
const (
	maxFields = 1 << 20
	maxDepth  = 128
)

// messageV5 is the version of messages since Arrow 1.0. Older versions are read as well.
const messageV5 = 4

// A schema describes a stream.
type schema struct {
	version int16
	columns [numRoles]textField
	ids     map[int64]bool // of its dictionaries

	fields int // number of fields that walk has visited
}

// readSchema reads the schema of a stream. columns are the names of the columns to read, by role. added are the columns
// that will be appended, whose names must be free; nil if the input columns are omitted.
func readSchema(m *message, columns *[numRoles]string, added []output.VerdictField) (*schema, error) {
	switch {
	case m.kind == kindEnd:
		return nil, fmt.Errorf("%w: an Arrow stream begins with a schema: send it, even if there are no rows", errNoSchema)
	case m.kind != kindSchema:
		return nil, damagedError("a message of kind %d instead of a schema", m.kind)
	case m.int16(schemaEndianness) != 0:
		return nil, fmt.Errorf("%w: numbers are big-endian: send a little-endian stream, which nearly all machines write", errUnsupported)
	}
	m.at(schemaMetadata) // panics on damaged data here, rather than when it is written
	m.at(schemaFeatures)
	fields := m.tables(schemaFields)
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.string(fieldName)
	}
	indices, err := findColumns(names, columns, added)
	if err != nil {
		return nil, err
	}
	s := &schema{version: m.version, ids: map[int64]bool{}}
	var at position
	for i, f := range fields {
		for r := range indices {
			if i == indices[r] {
				s.columns[r].position = at
			}
		}
		if err := s.walk(f, &at, i < slices.Max(indices[:]), 0); err != nil {
			return nil, err
		}
	}
	for r, i := range indices {
		if i >= 0 {
			if err := s.columns[r].read(fields[i], columns[r], role(r)); err != nil {
				return s, err
			}
		}
	}
	return s, nil
}

// namesShown is the maximum number of column names in a message.
const namesShown = 50

// findColumns returns the indices of the columns by role; -1 for a role without a name. It returns an error if a column
// is missing, if two columns have its name, or if a column has the name of an added one.
func findColumns(names []string, columns *[numRoles]string, added []output.VerdictField) (indices [numRoles]int, err error) {
	if len(names) == 0 {
		return indices, fmt.Errorf("%w: no columns: send a column of URLs, called %q", errUnsupported, columns[urlRole])
	}
	for _, f := range added {
		if slices.Contains(names, f.Name) {
			return indices, fmt.Errorf("%w: both the stream and the verdicts have a column %q", ErrTaken, f.Name)
		}
	}
	missing := [numRoles]error{ErrNoColumn, ErrNoAgentColumn, ErrNoField, ErrNoField}
	for r, name := range columns {
		if indices[r] = -1; name == "" {
			continue
		}
		first := slices.Index(names, name)
		switch {
		case first < 0:
			list := strings.Join(names[:min(len(names), namesShown)], ", ")
			if len(names) > namesShown {
				list += ", …"
			}
			return indices, fmt.Errorf("%w: %q: the stream has %s", missing[r], name, list)
		case slices.Contains(names[first+1:], name):
			return indices, fmt.Errorf("%w: two columns are called %q: rename one of them", errUnsupported, name)
		}
		indices[r] = first
	}
	return indices, nil
}

// walk visits a field and its children. It collects the IDs of their dictionaries and, if counted is set, adds their
// number of entries in the lists of a record batch to at. depth is 0 for a column.
func (s *schema) walk(field table, at *position, counted bool, depth int) error {
	if s.fields++; s.fields > maxFields || depth > maxDepth {
		return damagedError("too many fields")
	}
	encoding, ok := field.table(fieldDictionary)
	if ok {
		s.ids[encoding.int64(dictionaryEncodingID)] = true
	}
	if counted {
		at.nodes++
		if ok {
			at.buffers += 2 // of the indices; the dictionary is in another message
			counted = false
		} else if err := s.count(field, at); err != nil {
			return err
		}
	}
	for _, child := range field.tables(fieldChildren) {
		if err := s.walk(child, at, counted, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// count adds the buffers of a field to at, excluding those of its children. An unknown type is an error.
func (s *schema) count(field table, at *position) error {
	kind := typeKind(field.byte(fieldTypeKind))
	if !kind.isKnown() {
		return fmt.Errorf("%w: column %q has an unknown type (%v): put it after the URLs", errUnsupported, field.string(fieldName), kind)
	}
	at.buffers += types[kind].buffers
	if kind.isView() {
		at.views++
	}
	if kind == typeUnion {
		if t, _ := field.table(fieldType); t.int16(unionMode) == 1 {
			at.buffers++ // offsets of a dense union
		}
		if s.version < messageV5 {
			at.buffers++ // nulls
		}
	}
	return nil
}

// read sets the type of the column from its field f. It returns an error if the type does not fit the role r.
func (u *textField) read(f table, name string, r role) error {
	u.name, u.kind = name, typeKind(f.byte(fieldTypeKind))
	d, ok := f.table(fieldDictionary)
	switch isTime := u.kind == typeTimestamp && !ok; {
	case r == timeRole && isTime:
		t, _ := f.table(fieldType)
		unit := int(scalar(t, timestampUnit, t.GetInt16))
		if unit < 0 || unit >= len(timeUnits) {
			return damagedError("unknown time unit %d in the column %q", unit, name)
		}
		u.unit = timeUnits[unit]
		return nil
	case !u.kind.isText() && r == timeRole:
		return fmt.Errorf("%w, nor a timestamp: column %q is %v", ErrTimeType, name, u.kind)
	case !u.kind.isText():
		return fmt.Errorf("%w: column %q is %v", ErrType, name, u.kind)
	}
	if !ok {
		return nil
	}
	u.dictionary, u.id = true, d.int64(dictionaryEncodingID)
	u.width = 4 // the default
	if t, ok := d.table(dictionaryEncodingIndex); ok {
		u.width = int(scalar(t, intWidth, t.GetInt32)) / 8
	}
	if !slices.Contains([]int{1, 2, 4, 8}, u.width) {
		return damagedError("unsupported index size of %d bytes in the dictionary column %q", u.width, name)
	}
	return nil
}

// timeUnits are the units of times in nanoseconds, by Arrow's number.
var timeUnits = [...]int64{1e9, 1e6, 1e3, 1}

// A builder writes a message that refers to parts of another one, which follows it unchanged: all offsets of a
// FlatBuffer point forward.
type builder struct {
	flatbuffers.Builder
	behind []byte // the message that follows, padded
}

// begin begins a message that is followed by old, which it copies; old may be nil.
func (b *builder) begin(old []byte) {
	b.behind = append(b.behind[:0], old...)
	b.behind = append(b.behind, make([]byte, padded(len(old))-len(old))...)
	b.Reset()
	b.Prep(8, 0)
	b.CreateByteVector(b.behind)
}

// oldOffset returns a reference to the part at a position of the old message; 0 if at is 0.
func (b *builder) oldOffset(at flatbuffers.UOffsetT) flatbuffers.UOffsetT {
	if at == 0 {
		return 0
	}
	return flatbuffers.UOffsetT(len(b.behind)) - at
}

// finishMessage completes a message around a header. body is the length of its body in bytes. The result, which
// includes the old message, is valid until the next begin.
func (b *builder) finishMessage(version int16, kind byte, header flatbuffers.UOffsetT, body int64, metadata flatbuffers.UOffsetT) []byte {
	b.StartObject(5)
	b.PrependInt64Slot(messageBodyLength, body, 0)
	b.PrependUOffsetTSlot(messageHeader, header, 0)
	b.PrependUOffsetTSlot(messageMetadata, metadata, 0)
	b.PrependInt16Slot(messageVersion, version, 0)
	b.PrependByteSlot(messageHeaderType, kind, 0)
	b.Finish(b.EndObject())
	return b.FinishedBytes()
}

// appendFields writes the fields of verdicts, and appends references to them to list. ids are the IDs of their
// dictionaries, by name.
func (b *builder) appendFields(list []flatbuffers.UOffsetT, fields []output.VerdictField, ids map[string]int64) []flatbuffers.UOffsetT {
	for _, f := range fields {
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
		children := b.EndVector(0) // some readers require it
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

// typeTable writes the table of a type: a signed integer with that number of bits, or a type without parameters if
// width is 0.
func (b *builder) typeTable(width int32) flatbuffers.UOffsetT {
	b.StartObject(2)
	b.PrependInt32Slot(intWidth, width, 0)
	b.PrependBoolSlot(intSigned, width > 0, false)
	return b.EndObject()
}

// A tail holds the columns to append to those of a record: lists like those of a record, and the buffers.
type tail struct {
	nodes   []byte
	buffers []byte // offsets are relative to the first buffer
	parts   [][]byte
	size    int64 // of all parts, with padding
	packed  bool  // the record is compressed, so each buffer needs a prefix
}

// reset empties the tail.
func (t *tail) reset(packed bool) {
	clear(t.parts)
	*t = tail{nodes: t.nodes[:0], buffers: t.buffers[:0], parts: t.parts[:0], packed: packed}
}

// notPacked is the prefix of a buffer that is not compressed.
var notPacked = []byte{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}

// addArray adds a column, without its dictionary. It keeps the buffers of the column until reset.
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

// appendPair appends two little-endian numbers of eight bytes each.
func appendPair(list []byte, a, b int64) []byte {
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(list, uint64(a)), uint64(b))
}

// write writes the buffers, each padded.
func (t *tail) write(w *frameWriter) error {
	for _, part := range t.parts {
		if err := w.writeBody(part); err != nil {
			return err
		}
	}
	return nil
}

// writePairs writes a vector of pairs of numbers: the pairs of head, then the pairs of tail, with move added to their
// first numbers. It returns a reference to the vector.
func (b *builder) writePairs(head, tail []byte, move int64) flatbuffers.UOffsetT {
	n := len(head)/16 + len(tail)/16
	b.StartVector(16, n, 8)
	b.placePairs(tail, move)
	b.placePairs(head, 0)
	return b.EndVector(n)
}

// placePairs writes pairs from the last to the first, because a FlatBuffer is written from back to front.
func (b *builder) placePairs(list []byte, move int64) {
	for i := len(list)/8 - 2; i >= 0; i -= 2 {
		b.PlaceInt64(int64At(list, i+1))
		b.PlaceInt64(int64At(list, i) + move)
	}
}

// writeRecordTable writes the table of a record batch with the columns of r and then those of t, and returns a
// reference to it. The buffers of t begin at offset at of the body. compression and variadic refer to data that is
// already written; 0 if there is none.
func (b *builder) writeRecordTable(r *record, t *tail, at int64, compression, variadic flatbuffers.UOffsetT) flatbuffers.UOffsetT {
	nodes, buffers := b.writePairs(r.nodes, t.nodes, 0), b.writePairs(r.buffers, t.buffers, at)
	b.StartObject(5)
	b.PrependInt64Slot(recordLength, int64(r.rows), 0)
	b.PrependUOffsetTSlot(recordNodes, nodes, 0)
	b.PrependUOffsetTSlot(recordBuffers, buffers, 0)
	b.PrependUOffsetTSlot(recordCompression, compression, 0)
	b.PrependUOffsetTSlot(recordVariadic, variadic, 0)
	return b.EndObject()
}
