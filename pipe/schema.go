package pipe

import (
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/robobatch/robobatch/output"
)

// messageV5 is the version of messages since Arrow 1.0; those before are read, too.
const messageV5 = 4

// A urlField is the column of the URLs.
type urlField struct {
	place
	kind       typeKind // of the texts
	dictionary bool     // the column has numbers of texts
	id         int64    // of the dictionary
	width      int      // bytes of a number
}

// A schema is what is known of a stream.
type schema struct {
	version int16
	url     urlField
	ids     map[int64]bool // of its dictionaries
}

// readSchema reads the schema of a stream.
func readSchema(m *message, urlColumn string, added []output.VerdictField) (*schema, error) {
	switch {
	case m.kind == kindEnd:
		return nil, fmt.Errorf("%w: an Arrow stream begins with a schema: send it, even if there are no rows", ErrNoSchema)
	case m.kind != kindSchema:
		return nil, damaged("a message of kind %d in place of a schema", m.kind)
	case m.int16(schemaEndianness) != 0:
		return nil, fmt.Errorf("%w: numbers are big-endian: send the little-endian stream that other machines write", ErrUnsupported)
	}
	m.at(schemaMetadata) // all that is written again must be there
	m.at(schemaFeatures)
	fields := m.tables(schemaFields)
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.string(fieldName)
	}
	if err := checkNames(names, urlColumn, added); err != nil {
		return nil, err
	}
	s := &schema{version: m.version, ids: map[int64]bool{}}
	l := layout{version: m.version}
	for i, f := range fields {
		if names[i] == urlColumn {
			s.url.place = l.place
			break
		}
		if err := l.skip(f, 0); err != nil {
			return nil, err
		}
	}
	left := maxFields
	for _, f := range fields {
		if err := s.addIDs(f, 0, &left); err != nil {
			return nil, err
		}
	}
	return s, s.url.read(fields[slices.Index(names, urlColumn)], urlColumn)
}

// namesShown is how many names of columns a message has.
const namesShown = 50

// checkNames checks that there is a column of URLs, and none with the name of a verdict's.
func checkNames(names []string, urlColumn string, added []output.VerdictField) error {
	switch first := slices.Index(names, urlColumn); {
	case first < 0 && len(names) == 0:
		return fmt.Errorf("%w: the stream has no columns: send one of URLs, called %q", ErrNoColumn, urlColumn)
	case first < 0:
		list := strings.Join(names[:min(len(names), namesShown)], ", ")
		if len(names) > namesShown {
			list += ", …"
		}
		return fmt.Errorf("%w: %q: name the column of the URLs with -url-column: the stream has %s", ErrNoColumn, urlColumn, list)
	case slices.Contains(names[first+1:], urlColumn):
		return fmt.Errorf("%w: two are called %q: rename one of them", ErrNoColumn, urlColumn)
	}
	for _, f := range added {
		if slices.Contains(names, f.Name) {
			return fmt.Errorf("%w: the stream has a column %q, and so have the verdicts: give theirs other names with -prefix, or leave it out with -columns",
				ErrTaken, f.Name)
		}
	}
	return nil
}

// addIDs adds the dictionaries of a field and those within it.
func (s *schema) addIDs(f table, depth int, left *int) error {
	if *left--; *left < 0 || depth > maxDepth {
		return damaged("fields without end")
	}
	if d, ok := f.table(fieldDictionary); ok {
		s.ids[d.int64(dictionaryEncodingID)] = true
	}
	for _, child := range f.tables(fieldChildren) {
		if err := s.addIDs(child, depth+1, left); err != nil {
			return err
		}
	}
	return nil
}

// read reads the type of the column.
func (u *urlField) read(f table, name string) error {
	u.kind = typeKind(f.byte(fieldTypeKind))
	switch u.kind {
	case typeUtf8, typeLargeUtf8, typeUtf8View, typeBinary, typeLargeBinary, typeBinaryView:
	default:
		return fmt.Errorf("%w: column %q is %v: cast it to a string, or name another with -url-column", ErrType, name, u.kind)
	}
	d, ok := f.table(fieldDictionary)
	if !ok {
		return nil
	}
	u.dictionary, u.id = true, d.int64(dictionaryEncodingID)
	u.width = 4 // the default
	if t, ok := d.table(dictionaryEncodingIndex); ok {
		u.width = int(t.int32(intWidth)) / 8
	}
	if !slices.Contains([]int{1, 2, 4, 8}, u.width) {
		return damaged("numbers of %d bytes in the dictionary column %q", u.width, name)
	}
	return nil
}

// freeID returns the next number that no dictionary of the stream has, from the given one on.
func (s *schema) freeID(id int64) int64 {
	for s.ids[id] {
		id++
	}
	return id
}

// extendSchema returns the schema message with more fields, whose dictionaries have these numbers, by name.
func (b *builder) extendSchema(m *message, added []output.VerdictField, ids map[string]int64) []byte {
	b.start(m.meta)
	old := m.tables(schemaFields)
	fields := make([]flatbuffers.UOffsetT, 0, len(old)+len(added))
	for _, f := range old {
		fields = append(fields, b.old(f.Pos))
	}
	for _, f := range added {
		fields = append(fields, b.field(f, ids[f.Dictionary]))
	}
	list := b.CreateVectorOfTables(fields)
	b.StartObject(4)
	b.PrependUOffsetTSlot(schemaFields, list, 0)
	b.PrependUOffsetTSlot(schemaMetadata, b.old(m.at(schemaMetadata)), 0)
	b.PrependUOffsetTSlot(schemaFeatures, b.old(m.at(schemaFeatures)), 0)
	header := b.EndObject()
	return b.message(m.version, kindSchema, header, 0, b.old(m.pairs))
}

// field writes a field of the verdicts.
func (b *builder) field(f output.VerdictField, id int64) flatbuffers.UOffsetT {
	kind, width := typeUtf8, int32(0)
	var dictionary flatbuffers.UOffsetT
	switch f.Type.ID() { //nolint:exhaustive // the types of verdicts
	case arrow.BOOL:
		kind = typeBool
	case arrow.INT32:
		kind, width = typeInt, 32
	case arrow.DICTIONARY:
		index := b.typeTable(32)
		b.StartObject(4)
		b.PrependInt64Slot(dictionaryEncodingID, id, 0)
		b.PrependUOffsetTSlot(dictionaryEncodingIndex, index, 0)
		dictionary = b.EndObject()
	}
	name := b.CreateString(f.Name)
	b.StartVector(4, 0, 4)
	children := b.EndVector(0) // some readers want it
	t := b.typeTable(width)
	b.StartObject(7)
	b.PrependUOffsetTSlot(fieldName, name, 0)
	b.PrependUOffsetTSlot(fieldType, t, 0)
	b.PrependUOffsetTSlot(fieldDictionary, dictionary, 0)
	b.PrependUOffsetTSlot(fieldChildren, children, 0)
	b.PrependByteSlot(fieldTypeKind, byte(kind), 0)
	b.PrependBoolSlot(fieldNullable, f.Nullable, false)
	return b.EndObject()
}

// typeTable writes the table of a type: of an integer with a sign for a width in bits, of one without parameters for 0.
func (b *builder) typeTable(width int32) flatbuffers.UOffsetT {
	b.StartObject(2)
	b.PrependInt32Slot(intWidth, width, 0)
	b.PrependBoolSlot(intSigned, width > 0, false)
	return b.EndObject()
}
