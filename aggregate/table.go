package aggregate

import "slices"

// A Table counts by key, in groups of a [URLs] that several tables share. It has at most so many
// keys: what comes later is counted together, see [Table.Others].
type Table[K comparable] struct {
	urls   *URLs
	groups map[K]Group
	most   int
	others Group
	isFull bool
}

// A Row is a key of a Table and what it counts.
type Row[K comparable] struct {
	Key      K
	Group    Group
	Requests int64
	URLs     Estimate
}

// NewTable returns an empty table of at most so many keys.
func NewTable[K comparable](urls *URLs, most int) *Table[K] {
	return &Table[K]{urls: urls, groups: map[K]Group{}, most: most}
}

// Group returns the group of a key. That of [Table.Others] is returned for a new key once there are
// as many as there may be.
func (t *Table[K]) Group(key K) Group {
	g, ok := t.groups[key]
	if ok {
		return g
	}
	if len(t.groups) >= t.most {
		if !t.isFull {
			t.others, t.isFull = t.urls.NewGroup(), true
		}
		return t.others
	}
	g = t.urls.NewGroup()
	t.groups[key] = g
	return g
}

// GroupOr returns the group of a key, or that of another one if the key is new and there are as many as
// there may be. So keys that do not fit still count, by the other key; there should be few of those.
func (t *Table[K]) GroupOr(key, other K) Group {
	if g, ok := t.groups[key]; ok {
		return g
	}
	if len(t.groups) < t.most {
		return t.Group(key)
	}
	g, ok := t.groups[other]
	if !ok {
		g = t.urls.NewGroup()
		t.groups[other] = g
	}
	return g
}

// Len returns the number of keys.
func (t *Table[K]) Len() int { return len(t.groups) }

// Row returns what is counted for a key, which may be new.
func (t *Table[K]) Row(key K) Row[K] {
	if g, ok := t.groups[key]; ok {
		return t.row(key, g)
	}
	return Row[K]{Key: key}
}

// Others returns what is counted for the keys that did not fit; ok is false if all did.
func (t *Table[K]) Others() (others Row[K], ok bool) {
	if t.isFull {
		others = t.row(others.Key, t.others)
	}
	return others, t.isFull
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
