package weblog

import (
	"bytes"
	"encoding/json"
	"maps"
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
	var object any
	if at := bytes.IndexByte(line, '{'); at < 0 || json.Unmarshal(line[at:], &object) != nil { // CDXJ has words in front
		return list
	}
	list.addValue("", object)
	return list
}

// addValue adds the fields of a value, which has that name.
func (l *FieldList) addValue(name string, value any) {
	below := func(member string) string { return strings.TrimPrefix(name+"."+member, ".") }
	switch value := value.(type) {
	case map[string]any:
		for _, member := range slices.Sorted(maps.Keys(value)) {
			l.addValue(below(member), value[member])
		}
	case []any:
		for i, element := range value {
			if text, err := json.Marshal(element); err == nil && text[0] == '{' {
				if key, v := newPairScanner().read(text); key != nil {
					l.addText(below(string(key)), v)
					continue
				}
			}
			l.addValue(below(strconv.Itoa(i)), element)
		}
	case string:
		l.addText(name, []byte(value))
	default:
		l.addText(name, nil)
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

// String returns the list in words, the first of each kind.
func (l FieldList) String() string {
	switch {
	case len(l.URLs) == 0:
		return "none looks like a URL: " + listed(l.Others)
	case len(l.Others) == 0:
		return "these look like URLs: " + listed(l.URLs)
	}
	return "these look like URLs: " + listed(l.URLs) + ", and these do not: " + listed(l.Others)
}
