package aggregate

import "slices"

// A Table counts by key, in groups of a [URLs] that several tables share. It has at most so many keys, see GroupOr.
type Table[K comparable] struct {
	urls   *URLs
	groups map[K]Group
	most   int
}

// A Row is a key of a Table and its counts.
type Row[K comparable] struct {
	Key      K
	Group    Group
	Requests int64
	URLs     int64 // distinct ones, after URLs.Finish
}

// NewTable returns an empty table of at most so many keys.
func NewTable[K comparable](urls *URLs, most int) *Table[K] {
	return &Table[K]{urls: urls, groups: map[K]Group{}, most: most}
}

// GroupOr returns the group of a key, or the other key's if the key is new and there are as many as
// there may be. So keys that do not fit still count, by the other key; there should be few of those.
func (t *Table[K]) GroupOr(key, other K) Group {
	if g, ok := t.groups[key]; ok {
		return g
	}
	if len(t.groups) >= t.most {
		key = other
	}
	g, ok := t.groups[key]
	if !ok {
		g = t.urls.NewGroup()
		t.groups[key] = g
	}
	return g
}

// Rows returns all keys, those with the most requests first, and those with equally many in the
// order of compare.
func (t *Table[K]) Rows(compare func(a, b K) int) []Row[K] {
	rows := make([]Row[K], 0, len(t.groups))
	for key, g := range t.groups {
		rows = append(rows, t.row(key, g))
	}
	slices.SortFunc(rows, func(a, b Row[K]) int {
		if a.Requests != b.Requests {
			if a.Requests > b.Requests {
				return -1
			}
			return 1
		}
		return compare(a.Key, b.Key)
	})
	return rows
}

func (t *Table[K]) row(key K, g Group) Row[K] {
	return Row[K]{key, g, t.urls.Requests(g), t.urls.Distinct(g)}
}
