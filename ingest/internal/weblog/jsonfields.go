package weblog

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
)

// A FieldList has the fields of a line, by the names that [Options] take, sorted.
type FieldList struct {
	URLs   []string // those with values that look like URLs or paths
	Others []string
}

// JSONFields returns the fields of the object in a line. The list is empty if there is none.
func JSONFields(line []byte) (list FieldList) {
	if !flatten(line, list.addText) {
		return FieldList{}
	}
	slices.Sort(list.URLs)
	slices.Sort(list.Others)
	return list
}

// flatDepth is the maximum depth of objects whose members are found by their values.
const flatDepth = 12

// flatElements is the maximum number of array elements that are examined.
const flatElements = 100

// flatten calls add for each field of the object in a line: its name as a path, and its value, which is empty for null.
// Words may precede the object. It reports whether there is a valid object.
func flatten(line []byte, add func(name string, value []byte)) bool {
	at := bytes.IndexByte(line, '{')
	f := flattener{add: add}
	return at >= 0 && f.value("", trimBlank(line[at:]), 0)
}

// A flattener is the state of flatten.
type flattener struct {
	add   func(name string, value []byte)
	pairs *pairScanner // nil before the first array of objects
}

// value adds the fields of a named value, and reports whether it is valid.
func (f *flattener) value(name string, value []byte, depth int) bool {
	switch {
	case value[0] == '{' && depth < flatDepth:
		return Members(value, func(member, v []byte) bool {
			return f.value(below(name, string(AppendUnquoted(nil, member))), v, depth+1)
		})
	case value[0] == '[' && depth < flatDepth:
		f.array(name, value, depth)
	case value[0] == '"':
		f.add(name, AppendUnquoted(nil, value[1:len(value)-1]))
	case value[0] == 'n':
		f.add(name, []byte{})
	default:
		f.add(name, value)
	}
	return true
}

// below returns the path of a member of the current value.
func below(name, member string) string { return strings.TrimPrefix(name+"."+member, ".") }

// array adds the fields of the elements of a valid array. If an element is a key-value pair, the key is its name.
func (f *flattener) array(name string, array []byte, depth int) {
	s := jsonScanner{line: array}
	i, done := s.space(1), false
	for n := 0; !done && array[i] != ']' && n < flatElements; n++ {
		begin := i
		i = s.value(i, 1, nil)
		element := array[begin:i]
		if i, done = s.next(i, ']'); element[0] == '{' {
			if f.pairs == nil {
				f.pairs = newPairScanner()
			}
			if key, v := f.pairs.read(element); key != nil {
				f.add(below(name, string(key)), slices.Clone(v))
				continue
			}
		}
		f.value(below(name, strconv.Itoa(n)), element, depth+1)
	}
}

// addText adds a field with that text as its value.
func (l *FieldList) addText(name string, text []byte) {
	if isURL(text) || len(text) > 1 && text[0] == '/' && !HasBlank(text) {
		l.URLs = append(l.URLs, name)
		return
	}
	l.Others = append(l.Others, name)
}

// String formats the list, with the first fields of each kind.
func (l FieldList) String() string {
	switch {
	case len(l.URLs) == 0:
		return "none looks like a URL: " + listed(l.Others)
	case len(l.Others) == 0:
		return "these look like URLs: " + listed(l.URLs)
	}
	return "these look like URLs: " + listed(l.URLs) + ", and these do not: " + listed(l.Others)
}
