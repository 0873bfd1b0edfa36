package pipe

import "fmt"

// A typeKind is the type of a field, by Arrow's number.
type typeKind byte

// The types. Those that are not here are not known to this package.
const (
	typeNull            typeKind = 1
	typeInt             typeKind = 2
	typeFloatingPoint   typeKind = 3
	typeBinary          typeKind = 4
	typeUtf8            typeKind = 5
	typeBool            typeKind = 6
	typeDecimal         typeKind = 7
	typeDate            typeKind = 8
	typeTime            typeKind = 9
	typeTimestamp       typeKind = 10
	typeInterval        typeKind = 11
	typeList            typeKind = 12
	typeStruct          typeKind = 13
	typeUnion           typeKind = 14
	typeFixedSizeBinary typeKind = 15
	typeFixedSizeList   typeKind = 16
	typeMap             typeKind = 17
	typeDuration        typeKind = 18
	typeLargeBinary     typeKind = 19
	typeLargeUtf8       typeKind = 20
	typeLargeList       typeKind = 21
	typeRunEndEncoded   typeKind = 22
	typeBinaryView      typeKind = 23
	typeUtf8View        typeKind = 24
	typeListView        typeKind = 25
	typeLargeListView   typeKind = 26
)

// typeNames are how messages call the types.
var typeNames = map[typeKind]string{
	typeNull: "null", typeInt: "int", typeFloatingPoint: "float", typeBinary: "binary", typeUtf8: "utf8", typeBool: "bool",
	typeDecimal: "decimal", typeDate: "date", typeTime: "time", typeTimestamp: "timestamp", typeInterval: "interval",
	typeList: "list", typeStruct: "struct", typeUnion: "union", typeFixedSizeBinary: "fixed_size_binary",
	typeFixedSizeList: "fixed_size_list", typeMap: "map", typeDuration: "duration", typeLargeBinary: "large_binary",
	typeLargeUtf8: "large_utf8", typeLargeList: "large_list", typeRunEndEncoded: "run_end_encoded",
	typeBinaryView: "binary_view", typeUtf8View: "utf8_view", typeListView: "list_view", typeLargeListView: "large_list_view",
}

// String returns the name of the type.
func (k typeKind) String() string {
	if name, ok := typeNames[k]; ok {
		return name
	}
	return fmt.Sprintf("type %d", byte(k))
}

// bufferCounts are how many buffers a field of each type has of its own, but for unions and views.
var bufferCounts = map[typeKind]int{
	typeNull: 0, typeInt: 2, typeFloatingPoint: 2, typeBinary: 3, typeUtf8: 3, typeBool: 2, typeDecimal: 2, typeDate: 2,
	typeTime: 2, typeTimestamp: 2, typeInterval: 2, typeList: 2, typeStruct: 1, typeFixedSizeBinary: 2, typeFixedSizeList: 1,
	typeMap: 2, typeDuration: 2, typeLargeBinary: 3, typeLargeUtf8: 3, typeLargeList: 2, typeRunEndEncoded: 0,
	typeBinaryView: 2, typeUtf8View: 2, typeListView: 3, typeLargeListView: 3,
}

// A place is where a column is in the lists of a record batch: how many of each come before it.
type place struct {
	nodes, buffers int
	views          int // fields of views, each of which has a number of further buffers, listed apart
}

// The most fields and levels of them that a schema may have.
const (
	maxFields = 1 << 20
	maxDepth  = 128
)

// A layout counts the parts of columns.
type layout struct {
	place
	version int16 // of messages
	fields  int   // counted so far
}

// skip counts a field and those within it.
func (l *layout) skip(field table, depth int) error {
	if l.fields++; l.fields > maxFields || depth > maxDepth {
		return damaged("fields without end")
	}
	l.nodes++
	if _, ok := field.table(fieldDictionary); ok {
		l.buffers += 2 // of the numbers; what they name is elsewhere
		return nil
	}
	switch kind := typeKind(field.byte(fieldTypeKind)); kind {
	case typeUnion:
		t, _ := field.table(fieldType)
		l.buffers++
		if dense := t.int16(unionMode) == 1; dense {
			l.buffers++
		}
		if l.version < messageV5 {
			l.buffers++ // of nulls, which unions had before
		}
	default:
		n, ok := bufferCounts[kind]
		if !ok {
			return fmt.Errorf("%w: column %q is of a type that was not known yet (%v): put it behind the URLs", ErrUnsupported, field.string(fieldName), kind)
		}
		l.buffers += n
		if kind == typeBinaryView || kind == typeUtf8View {
			l.views++
		}
	}
	for _, child := range field.tables(fieldChildren) {
		if err := l.skip(child, depth+1); err != nil {
			return err
		}
	}
	return nil
}
