package aggregate

import (
	"cmp"
	"iter"
	"math/rand/v2"
	"slices"
)

// Largest keeps the items with the greatest numbers, at most so many. Of items with equal numbers it keeps those
// with the greatest ties, which may be hashes, so that they are an even sample; and of equal ties those that came first.
type Largest[T any] struct {
	most  int
	all   []ranked // at most twice as many
	items []T      // by ranked.slot
	free  []uint32 // slots whose item is not among the largest
	least ranked   // of those that were kept; of items that come no more are kept that are less
	added uint64   // items
}

// A ranked is the rank of an item, and its place. No two are equal, so the largest are the same in whatever order
// they are found.
type ranked struct {
	number int64
	tie    uint64
	order  uint64
	slot   uint32
}

// NewLargest returns an empty list of at most so many items.
func NewLargest[T any](most int) *Largest[T] { return &Largest[T]{most: most} }

// compare orders items, the greatest first.
func (r *ranked) compare(o *ranked) int {
	switch {
	case r.number != o.number:
		return cmp.Compare(o.number, r.number)
	case r.tie != o.tie:
		return cmp.Compare(o.tie, r.tie)
	}
	return cmp.Compare(r.order, o.order)
}

// Takes reports whether an item with this number and tie may be one of the largest, so that it is worth making.
func (l *Largest[T]) Takes(number int64, tie uint64) bool {
	return l.most > 0 && number > 0 && (number > l.least.number || number == l.least.number && tie > l.least.tie)
}

// AddItem adds an item.
func (l *Largest[T]) AddItem(number int64, tie uint64, item T) { *l.NewItem(number, tie) = item }

// NewItem adds an item that the caller sets before the next call. It may be an old one that is not among the largest, so
// that its memory serves again.
func (l *Largest[T]) NewItem(number int64, tie uint64) *T {
	slot := uint32(len(l.items))
	if n := len(l.free); n > 0 {
		slot, l.free = l.free[n-1], l.free[:n-1]
	} else {
		if slot == uint32(cap(l.items)) {
			l.items = slices.Grow(l.items, len(l.items)+1) // which copies less than append
		}
		l.items = l.items[:slot+1]
	}
	l.added++
	if l.all = append(l.all, ranked{number, tie, l.added, slot}); len(l.all) >= 2*l.most {
		l.cut()
	}
	return &l.items[slot]
}

// cut leaves the largest items, the least of them last. It looks for that one by parting those among which it is, again
// and again: to sort them each time took a tenth of a report on URLs that come once.
func (l *Largest[T]) cut() {
	if len(l.all) < l.most {
		return
	}
	for from, to := 0, len(l.all); to-from > 1; {
		before := part(l.all[from:to])
		switch at := from + before; {
		case at == l.most-1:
			from, to = at, at
		case at < l.most-1:
			from = at + 1
		default:
			to = at
		}
	}
	for _, r := range l.all[l.most:] {
		l.free = append(l.free, r.slot)
	}
	l.all = l.all[:l.most]
	l.least = l.all[l.most-1]
}

// part puts those that come before one of them in front of it, the others behind it, and returns how many are in front.
func part(some []ranked) (before int) {
	last := len(some) - 1
	pivot := rand.IntN(len(some)) // nobody can choose an order that makes it slow
	some[pivot], some[last] = some[last], some[pivot]
	for i := range some[:last] {
		if some[i].compare(&some[last]) < 0 {
			some[i], some[before] = some[before], some[i]
			before++
		}
	}
	some[before], some[last] = some[last], some[before]
	return before
}

// All yields the items, those with the greatest numbers first.
func (l *Largest[T]) All() iter.Seq[*T] {
	if l.most > 0 {
		l.cut()
	}
	slices.SortFunc(l.all, func(a, b ranked) int { return a.compare(&b) })
	return func(yield func(*T) bool) {
		for i := range l.all {
			if !yield(&l.items[l.all[i].slot]) {
				return
			}
		}
	}
}

// Items returns copies of the items, in the order of All.
func (l *Largest[T]) Items() []T {
	items := make([]T, 0, len(l.all))
	for item := range l.All() {
		items = append(items, *item)
	}
	return items
}
