package aggregate

import (
	"cmp"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
)

// Examples is the maximum number of URLs that a Top keeps.
const Examples = 3

// maxExample is the maximum number of bytes of an example; the rest of a URL is cut off.
const maxExample = 512

// An Example is a URL, its number of requests, and the data of its first request.
type Example[T any] struct {
	URL      string
	Requests int64
	Cut      bool // whether URL is only the beginning of a longer URL
	With     T

	hash uint64
}

// A Top keeps the most requested URLs of a group. Among URLs with equal numbers of requests it prefers the shortest,
// and then the first in byte order. If the [URLs] are all in memory, the examples depend only on the requests, not on
// their order. Otherwise they are the URLs with the most requests between two writes to disk. The zero value is
// empty.
type Top[T any] struct{ all []Example[T] }

// Offer adds a request: the URL, its Hash, and the result of [URLs.Add] for it. Only if the URL becomes an example,
// with is called to get its data.
func (t *Top[T]) Offer(url []byte, hash uint64, requests uint32, with func() T) {
	for i := range t.all {
		if t.all[i].hash == hash {
			t.all[i].Requests = max(t.all[i].Requests, int64(requests))
			t.rise(i)
			return
		}
	}
	short := url[:min(len(url), maxExample)]
	if n := len(t.all); n == Examples {
		if last := &t.all[n-1]; !last.isBehind(int64(requests), short) {
			return
		}
		t.all = t.all[:n-1]
	}
	t.all = append(t.all, Example[T]{URL: string(short), Requests: int64(requests), Cut: len(short) < len(url), With: with(), hash: hash})
	t.rise(len(t.all) - 1)
}

// rise moves an example before those with fewer requests.
func (t *Top[T]) rise(i int) {
	for ; i > 0 && t.all[i-1].isBehind(t.all[i].Requests, []byte(t.all[i].URL)); i-- {
		t.all[i], t.all[i-1] = t.all[i-1], t.all[i]
	}
}

// isBehind reports whether a URL with the given number of requests comes before the example.
func (e *Example[T]) isBehind(requests int64, url []byte) bool {
	switch {
	case requests != e.Requests:
		return requests > e.Requests
	case len(url) != len(e.URL):
		return len(url) < len(e.URL)
	}
	return string(url) < e.URL
}

// setRequests sets the requests of the examples in a group, as [URLs.Finish] found them.
func (t *Top[T]) setRequests(from map[PairKey]int64, g Group) {
	for i := range t.all {
		t.all[i].Requests = from[KeyOf(g, t.all[i].hash)]
		t.rise(i)
	}
}

// Examples returns the most requested URLs, the most requested first.
func (t *Top[T]) Examples() []Example[T] { return slices.Clone(t.all) }

// A Table counts requests by key, in groups of a [URLs], which several tables may share. The number of its keys is
// limited, see GroupOr.
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

// NewTable returns an empty table with a maximum number of keys.
func NewTable[K comparable](urls *URLs, most int) *Table[K] {
	return &Table[K]{urls: urls, groups: map[K]Group{}, most: most}
}

// GroupOr returns the group of a key. If the key is new and the table is full, it returns the group of other, so that
// the request is still counted. Callers should use only a few different values of other.
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

// Rows returns all keys, most requested first. Keys with equal numbers of requests are ordered by compare.
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

// Largest keeps the items with the largest numbers, up to a number of items and a total number of bytes. Among equal
// numbers, it keeps the items with the largest ties; if ties are hashes, these are a uniform sample. Among equal
// ties, it keeps the first. After the first item that does not fit, it keeps none, even if smaller ones would fit.
type Largest[T any] struct {
	most    int
	limit   int64          // bytes
	compact func(kept []T) // nil if items have no memory of their own
	all     []ranked       // at most twice the maximum
	items   []T            // indexed by ranked.slot, in the order in which they were added
	places  []int32        // scratch of cut: by slot, the index in all plus 1
	held    int64          // total bytes of all: at most one and a half times the limit, plus one item
	least   ranked         // the largest item that was dropped; later items must be larger to be kept
	spare   T              // scratch, returned for items that are dropped at once
	added   uint64         // number of items added
}

// A ranked is the rank of an item, and its slot. No two ranks are equal, so the largest items do not depend on the
// order in which they are found.
type ranked struct {
	number int64
	tie    uint64
	order  uint64
	slot   uint32
	bytes  uint32
}

// NewLargest returns an empty list with a maximum number of items.
func NewLargest[T any](most int) *Largest[T] {
	return &Largest[T]{most: most, limit: math.MaxInt64 / 2}
}

// NewLargestWithin returns an empty list with a maximum number of items and of bytes. It holds up to twice as many
// items, or half more bytes, before it drops any. Then it calls compact with the remaining items, in the order in
// which they were added.
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

// Takes reports whether an item with this number and tie could be one of the largest. If not, the caller need not
// create it.
func (l *Largest[T]) Takes(number int64, tie uint64) bool {
	return l.most > 0 && number > 0 && (number > l.least.number || number == l.least.number && tie > l.least.tie)
}

// AddItem adds an item.
func (l *Largest[T]) AddItem(number int64, tie uint64, item T) { *l.NewItem(number, tie, 0) = item }

// NewItem adds an item of the given number of bytes. The caller must set it before the next call; the returned memory
// may contain an old item.
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

// cut keeps the largest items that fit. It finds the first one that does not fit by repeated partitioning: with
// sorting, this took a tenth of the time of a report on distinct URLs.
func (l *Largest[T]) cut() {
	from, to, held := 0, len(l.all), int64(0)
	for from < to {
		// Partition: items larger than the pivot first, then the others.
		some := l.all[from:to]
		var before int
		last := len(some) - 1
		pivot := rand.IntN(len(some)) // random, so that no input order can make it slow
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
	// Move the remaining items to the front, in their order. The memory of dropped items is reused.
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

// All yields the items, largest first.
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
