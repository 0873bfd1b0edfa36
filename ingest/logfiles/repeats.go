package logfiles

import (
	"cmp"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/internal/place"
)

// A Repeat is a file that is in a list more than once, by two of its names, which may be the same.
type Repeat struct{ First, Again string }

// findRepeats finds the files that are there more than once.
func (l *List) findRepeats() {
	var order []*File // so that names of the same bytes are beside each other
	for i := range l.Files {
		if l.Files[i].Err == nil {
			order = append(order, &l.Files[i])
		}
	}
	slices.SortStableFunc(order, func(a, b *File) int {
		return cmp.Or(a.id.Compare(b.id), cmp.Compare(a.Size, b.Size), strings.Compare(a.member(), b.member()))
	})
	first := 0
	for i := 1; i < len(order); i++ {
		if a, b := order[first], order[i]; a.id != b.id || a.Size != b.Size || a.member() != b.member() {
			first = i
			continue
		}
		if l.Repeated++; len(l.Repeats) < shown {
			l.Repeats = append(l.Repeats, Repeat{order[first].Name, order[i].Name})
		}
	}
}

// member returns the facts that the ID of a file leaves open: which member of an archive it is, or which name it
// has where there is no ID.
func (f *File) member() string {
	switch {
	case f.id == (place.ID{}):
		return f.Name
	case f.archive == "":
		return ""
	}
	return f.Name[len(f.archive):]
}
