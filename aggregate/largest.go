package aggregate

import (
	"cmp"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
)

// Largest keeps the items with the greatest numbers, at most so many, and of at most so many bytes in all. Of items with
// equal numbers it keeps those with the greatest ties, which may be hashes, so that they are an even sample; and of equal
// ties those that came first. It keeps none behind the first that has no room.
type Largest[T any] struct {
	most    int
	limit   int64          // bytes
	compact func(kept []T) // nil if items have no memory of their own
	all     []ranked       // at most twice as many
	items   []T            // by ranked.slot, in the order in which they came
	places  []int32        // of cut: by slot, the index in all plus 1
	held    int64          // bytes of all: at most half more than the limit, and an item
	least   ranked         // the greatest that was dropped; of items that come no more are kept that are less
	spare   T              // an item that is less than least
	added   uint64         // items
}

// A ranked is the rank of an item, and its place. No two are equal, so the largest are the same in whatever order
// they are found.
type ranked struct {
	number int64
	tie    uint64
	order  uint64
	slot   uint32
	bytes  uint32
}

// NewLargest returns an empty list of at most so many items.
func NewLargest[T any](most int) *Largest[T] {
	return &Largest[T]{most: most, limit: math.MaxInt64 / 2}
}

// NewLargestWithin returns an empty list of at most so many items, of at most so many bytes. It holds up to twice as many,
// or half more bytes, before it drops the others. Then it calls compact with the items that stay, in the order in which
// they came.
func NewLargestWithin[T any](most int, bytes int64, compact func(kept []T)) *Largest[T] {
	return &Largest[T]{most: most, limit: bytes, compact: compact}
}

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
func (l *Largest[T]) AddItem(number int64, tie uint64, item T) { *l.NewItem(number, tie, 0) = item }

// NewItem adds an item of so many bytes that the caller sets before the next call. It may be an old one that is not among
// the largest.
func (l *Largest[T]) NewItem(number int64, tie uint64, bytes int) *T {
	if len(l.all) >= 2*l.most || l.held >= l.limit+l.limit/2 {
		l.cut()
	}
	l.added++
	slot := len(l.items)
	r := ranked{number, tie, l.added, uint32(slot), uint32(bytes)}
	if l.least.order > 0 && l.least.compare(&r) < 0 {
		return &l.spare
	}
	if slot == cap(l.items) {
		l.items = slices.Grow(l.items, slot+1) // which copies less than append
	}
	l.all, l.items, l.held = append(l.all, r), l.items[:slot+1], l.held+int64(bytes)
	return &l.items[slot]
}

// cut leaves the largest items that have room. It looks for the first that has none by parting those among which it is,
// again and again: to sort them each time took a tenth of a report on URLs that come once.
func (l *Largest[T]) cut() {
	from, to, held := 0, len(l.all), int64(0)
	for from < to {
		// Put those that come before one of them in front of it, the others behind it.
		some := l.all[from:to]
		var before int
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
		at, bytes := from+before, held
		for i := range l.all[from : at+1] {
			bytes += int64(l.all[from+i].bytes)
		}
		if at < l.most && bytes <= l.limit {
			from, held = at+1, bytes
		} else {
			to = at
		}
	}
	if to == len(l.all) {
		return
	}
	l.least, l.all, l.held = l.all[to], l.all[:to], held
	l.dropItems()
}

// dropItems puts the items that stay together, in their order. The others are behind them and are used again.
func (l *Largest[T]) dropItems() {
	l.places = slices.Grow(l.places[:0], len(l.items))[:len(l.items)]
	clear(l.places)
	for i := range l.all {
		l.places[l.all[i].slot] = int32(i + 1)
	}
	kept := 0
	for slot, place := range l.places {
		if place > 0 {
			l.all[place-1].slot = uint32(kept)
			l.items[kept], l.items[slot] = l.items[slot], l.items[kept]
			kept++
		}
	}
	if l.items = l.items[:kept]; l.compact != nil {
		l.compact(l.items)
	}
}

// All yields the items, those with the greatest numbers first.
func (l *Largest[T]) All() iter.Seq[*T] {
	l.cut()
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
