package aggregate

import (
	"cmp"
	"slices"
)

// Largest keeps the items with the greatest numbers, at most so many. Of items with equal numbers it keeps those
// with the greatest ties, which may be hashes, so that they are an even sample.
type Largest[T any] struct {
	most int
	all  []ranked[T] // at most twice as many
	rank             // of the last one that was kept; of items that come no more are kept that are less
}

// A rank is what items are kept by.
type rank struct {
	number int64
	tie    uint64
}

// A ranked is an item and its rank.
type ranked[T any] struct {
	rank
	item *T // so that less is moved when they are sorted
}

// NewLargest returns an empty list of at most so many items.
func NewLargest[T any](most int) *Largest[T] { return &Largest[T]{most: most} }

// compare orders ranks, the greatest first.
func (r rank) compare(o rank) int {
	return cmp.Or(cmp.Compare(o.number, r.number), cmp.Compare(o.tie, r.tie))
}

// Takes reports whether an item with this number and tie may be one of the largest, so that it is worth making.
func (l *Largest[T]) Takes(number int64, tie uint64) bool {
	return l.most > 0 && number > 0 && rank{number, tie}.compare(l.rank) <= 0
}

// AddItem adds an item.
func (l *Largest[T]) AddItem(number int64, tie uint64, item T) {
	if l.all = append(l.all, ranked[T]{rank{number, tie}, &item}); len(l.all) >= 2*l.most {
		l.sort()
	}
}

// sort leaves the largest items, in their order.
func (l *Largest[T]) sort() {
	slices.SortFunc(l.all, func(a, b ranked[T]) int { return a.compare(b.rank) })
	if len(l.all) >= l.most {
		clear(l.all[l.most:])
		l.all = l.all[:l.most]
		l.rank = l.all[l.most-1].rank
	}
}

// Items returns the items, those with the greatest numbers first.
func (l *Largest[T]) Items() []T {
	l.sort()
	items := make([]T, len(l.all))
	for i := range l.all {
		items[i] = *l.all[i].item
	}
	return items
}
