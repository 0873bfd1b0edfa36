package pipe

import (
	"fmt"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/output"
)

// A typeKind is the type of a field, by Arrow's number.
type typeKind byte

// The types that this package looks at by name.
const (
	typeInt         typeKind = 2
	typeBinary      typeKind = 4
	typeUtf8        typeKind = 5
	typeBool        typeKind = 6
	typeUnion       typeKind = 14
	typeLargeBinary typeKind = 19
	typeLargeUtf8   typeKind = 20
	typeBinaryView  typeKind = 23
	typeUtf8View    typeKind = 24
)

// types are the known types by number: their names in messages, and how many buffers a field has of
// its own, but for unions and the further ones of views.
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

// known reports whether the type is one of types.
func (k typeKind) known() bool { return int(k) < len(types) && types[k].name != "" }

// String returns the name of the type.
func (k typeKind) String() string {
	if k.known() {
		return types[k].name
	}
	return fmt.Sprintf("type %d", byte(k))
}

// isView reports whether texts are views: short texts are in them, long ones elsewhere.
func (k typeKind) isView() bool { return k == typeBinaryView || k == typeUtf8View }

// isText reports whether the type is one of text.
func (k typeKind) isText() bool {
	return k == typeUtf8 || k == typeBinary || k == typeLargeUtf8 || k == typeLargeBinary || k.isView()
}

// A place is where a column is in the lists of a record batch: how many of each come before it.
type place struct {
	nodes, buffers int
	views          int // fields of views, each with a number of further buffers, in a list of its own
}

// A textField is a column of texts that is read: the URLs, or the names of agents.
type textField struct {
	place
	kind       typeKind // of the texts
	dictionary bool     // the column has numbers of texts
	id         int64    // of the dictionary
	width      int      // bytes of a number
}

// The most fields that a schema may have, and levels of them.
const (
	maxFields = 1 << 20
	maxDepth  = 128
)

// messageV5 is the version of messages since Arrow 1.0; older ones are read, too.
const messageV5 = 4

// A schema is the known facts of a stream.
type schema struct {
	version int16
	url     textField
	agent   textField      // if there is a column of agents
	ids     map[int64]bool // of its dictionaries

	fields int // walked through so far
}

// readSchema reads the schema of a stream. The column of agents is "" if there is none.
func readSchema(m *message, urlColumn, agentColumn string, added []output.VerdictField) (*schema, error) {
	switch {
	case m.kind == kindEnd:
		return nil, fmt.Errorf("%w: an Arrow stream begins with a schema: send it, even if there are no rows", errNoSchema)
	case m.kind != kindSchema:
		return nil, damaged("a message of kind %d in place of a schema", m.kind)
	case m.int16(schemaEndianness) != 0:
		return nil, fmt.Errorf("%w: numbers are big-endian: send the little-endian stream that other machines write", errUnsupported)
	}
	m.at(schemaMetadata) // all that is written again must be there
	m.at(schemaFeatures)
	fields := m.tables(schemaFields)
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.string(fieldName)
	}
	url, agent, err := findColumns(names, urlColumn, agentColumn, added)
	if err != nil {
		return nil, err
	}
	s := &schema{version: m.version, ids: map[int64]bool{}}
	var at place
	for i, f := range fields {
		if i == url {
			s.url.place = at
		}
		if i == agent {
			s.agent.place = at
		}
		if err := s.walk(f, &at, i < max(url, agent), 0); err != nil {
			return nil, err
		}
	}
	if err := s.url.read(fields[url], urlColumn); err != nil || agent < 0 {
		return s, err
	}
	return s, s.agent.read(fields[agent], agentColumn)
}

// namesShown is how many names of columns a message has.
const namesShown = 50

// findColumns returns the numbers of the columns of URLs and of agents, -1 for agents if agentColumn
// is "". It is an error if there are two of that name, or if a column has the name of one that is added.
func findColumns(names []string, urlColumn, agentColumn string, added []output.VerdictField) (url, agent int, err error) {
	if len(names) == 0 {
		return 0, 0, fmt.Errorf("%w: no columns: send one of URLs, called %q", errUnsupported, urlColumn)
	}
	for _, f := range added {
		if slices.Contains(names, f.Name) {
			return 0, 0, fmt.Errorf("%w: the stream has a column %q, and so have the verdicts", ErrTaken, f.Name)
		}
	}
	if url, err = findColumn(names, urlColumn, ErrNoColumn); err != nil || agentColumn == "" {
		return url, -1, err
	}
	agent, err = findColumn(names, agentColumn, ErrNoAgentColumn)
	return url, agent, err
}

// findColumn returns the number of the column of that name. missing is the error if there is none.
func findColumn(names []string, name string, missing error) (int, error) {
	first := slices.Index(names, name)
	switch {
	case first < 0:
		list := strings.Join(names[:min(len(names), namesShown)], ", ")
		if len(names) > namesShown {
			list += ", …"
		}
		return 0, fmt.Errorf("%w: %q: the stream has %s", missing, name, list)
	case slices.Contains(names[first+1:], name):
		return 0, fmt.Errorf("%w: two columns are called %q: rename one of them", errUnsupported, name)
	}
	return first, nil
}

// walk notes the dictionaries of a field and those within it. If counted it adds their counts in
// the lists of a record batch to at.
func (s *schema) walk(field table, at *place, counted bool, depth int) error {
	if s.fields++; s.fields > maxFields || depth > maxDepth {
		return damaged("fields without end")
	}
	encoding, ok := field.table(fieldDictionary)
	if ok {
		s.ids[encoding.int64(dictionaryEncodingID)] = true
	}
	if counted {
		at.nodes++
		if ok {
			at.buffers += 2 // of the numbers; the texts are elsewhere
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

// count adds the buffers that a field has of its own.
func (s *schema) count(field table, at *place) error {
	kind := typeKind(field.byte(fieldTypeKind))
	if !kind.known() {
		return fmt.Errorf("%w: column %q is of a type that was not known yet (%v): put it behind the URLs", errUnsupported, field.string(fieldName), kind)
	}
	at.buffers += types[kind].buffers
	if kind.isView() {
		at.views++
	}
	if kind == typeUnion {
		if t, _ := field.table(fieldType); t.int16(unionMode) == 1 {
			at.buffers++ // of a dense one
		}
		if s.version < messageV5 {
			at.buffers++ // of nulls, which unions had before
		}
	}
	return nil
}

// read reads the type of the column.
func (u *textField) read(f table, name string) error {
	if u.kind = typeKind(f.byte(fieldTypeKind)); !u.kind.isText() {
		return fmt.Errorf("%w: column %q is %v", ErrType, name, u.kind)
	}
	d, ok := f.table(fieldDictionary)
	if !ok {
		return nil
	}
	u.dictionary, u.id = true, d.int64(dictionaryEncodingID)
	u.width = 4 // the default
	if t, ok := d.table(dictionaryEncodingIndex); ok {
		u.width = int(scalar(t, intWidth, t.GetInt32)) / 8
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
