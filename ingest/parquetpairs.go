package ingest

import (
	"errors"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/ingest/internal/parquetfile"
	"github.com/robobatch/robobatch/ingest/internal/weblog"
)

// A parquetPairs reads the values of some keys of a list of keys and values, such as event_params of Google Analytics
// in BigQuery: a field for each key.
type parquetPairs struct {
	name   string           // of the list
	key    int              // column of the keys
	value  []int            // columns of the values; the first that has one counts
	keys   []string         // that are wanted
	from   int              // the field of the first of them; the others' follow
	cols   []*parquetColumn // the column of the keys, and the columns of the values
	memory []byte           // of the fields
}

// listNodes are the names that writers give to the node between a list and its elements.
var listNodes = []string{"list", "element", "array", "bag", "array_element", "item"}

// addPairs appends to a header the fields that are wanted of lists of keys and values, by the name of the list, a
// point and the key. It returns the lists, with at least one key each.
func addPairs(header []string, f *parquetfile.File, fields Fields) ([]string, []*parquetPairs) {
	var lists []*parquetPairs
	for i, name := range header[:len(header):len(header)] {
		element, isKey := strings.CutSuffix(name, "."+weblog.PairKey)
		if !isKey || f.Schema().Column(i).MaxRepetitionLevel() != 1 {
			continue
		}
		list := &parquetPairs{key: i, from: len(header)}
		for _, value := range weblog.PairValues() {
			if at := slices.Index(header, element+"."+value); at >= 0 && f.Schema().Column(at).MaxRepetitionLevel() == 1 {
				list.value = append(list.value, at)
			}
		}
		path := strings.Split(element, ".")
		for len(path) > 1 && slices.Contains(listNodes, path[len(path)-1]) {
			path = path[:len(path)-1]
		}
		list.name = strings.Join(path, ".")
		for _, wanted := range weblog.Wanted(fields) {
			if key, ok := strings.CutPrefix(wanted, list.name+"."); ok && len(list.value) > 0 && !slices.Contains(header, wanted) {
				list.keys = append(list.keys, key)
				header = append(header, wanted)
			}
		}
		if len(list.keys) > 0 {
			lists = append(lists, list)
		}
	}
	return header, lists
}

// start makes the columns.
func (l *parquetPairs) start(f *parquetfile.File) {
	for _, column := range append([]int{l.key}, l.value...) {
		l.cols = append(l.cols, newParquetValues(f, column))
	}
}

// open starts a row group.
func (l *parquetPairs) open(group int) error {
	for _, c := range l.cols {
		if err := c.open(group); err != nil {
			return err
		}
	}
	return nil
}

// Unverified reports whether a page has no checksum.
func (l *parquetPairs) Unverified() bool {
	return slices.ContainsFunc(l.cols, func(c *parquetColumn) bool { return c.Unverified() })
}

// errPairs is the fault of a list whose columns have other lengths.
var errPairs = errors.New("it has other elements than the column of its keys")

// read sets the fields to the values of the next row. If several elements have the same key, the last one counts.
func (l *parquetPairs) read(fields [][]byte) error {
	clear(fields[l.from : l.from+len(l.keys)])
	l.memory = l.memory[:0]
	for more := true; more; {
		if err := l.readElement(fields); err != nil {
			return err
		}
		for i, c := range l.cols {
			also, err := c.Continues()
			if err == nil && i > 0 && also != more {
				err = errPairs
			}
			if err != nil {
				return c.fault(err)
			}
			more = also
		}
	}
	return nil
}

// readElement reads an element.
func (l *parquetPairs) readElement(fields [][]byte) error {
	key, err := l.cols[0].next()
	if err != nil {
		return err
	}
	field := -1
	for i, wanted := range l.keys {
		if key != nil && string(key) == wanted {
			field = l.from + i
			fields[field] = nil
		}
	}
	for _, c := range l.cols[1:] {
		value, err := c.next()
		if err != nil {
			return err
		}
		if field >= 0 && value != nil && fields[field] == nil {
			begin := len(l.memory)
			l.memory = append(l.memory, value...) // the next page overwrites it
			fields[field] = l.memory[begin:len(l.memory):len(l.memory)]
		}
	}
	return nil
}
