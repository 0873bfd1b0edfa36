package engine

import (
	"cmp"
	"maps"
	"math/bits"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/robobatch/robobatch/engine/internal/rules"
)

// Busy is the number of busiest origins without rules that Stats names.
const Busy = 3

// A BusyOrigin is an origin and the number of its rows.
type BusyOrigin struct {
	Origin string // "" if unused
	Rows   int64
}

// A tally counts rows by origin, using hashes of the origins' names. Each origin takes 22 to 43 bytes. It is for
// one goroutine.
//
// If it reaches its limit, it keeps only origins whose hashes begin with a number of zero bits, as small as
// possible. The result is the same however the rows are divided among tallies that are merged.
type tally struct {
	slots []slot // a hash table, linearly probed; its length is 0 or a power of two
	count int    // slots in use
	most  int    // maximum of count; 0 means no limit
	zeros int    // number of zero bits that the kept hashes begin with
}

// A slot is an origin of a tally.
type slot struct {
	hash uint64 // 0 if the slot is free
	rows int64
}

// hashOrigin returns the hash of a name, which is never 0.
func hashOrigin(name []byte) uint64 { return max(1, xxh3.Hash(name)) }

// addRows counts rows of an origin, unless its hash is one that the tally does not keep. Above the limit of the tally,
// it drops origins.
func (t *tally) addRows(hash uint64, rows int64) {
	if !t.keeps(hash) {
		return
	}
	if 4*t.count >= 3*len(t.slots) {
		t.grow()
	}
	s := t.find(hash)
	if s.hash == 0 {
		s.hash = hash
		t.count++
	}
	s.rows += rows
	for t.most > 0 && t.count > t.most {
		t.halve()
	}
}

// keeps reports whether the tally keeps an origin.
func (t *tally) keeps(hash uint64) bool { return bits.LeadingZeros64(hash) >= t.zeros }

// halve drops the origins whose hashes do not begin with one more zero bit: about half of them.
func (t *tally) halve() {
	old := t.slots
	t.slots, t.count = make([]slot, len(old)), 0
	t.zeros++
	for _, s := range old {
		if s.hash != 0 && t.keeps(s.hash) {
			*t.find(s.hash) = s
			t.count++
		}
	}
}

// origins returns the number of origins, and whether that is an estimate.
func (t *tally) origins() (n int64, about bool) { return int64(t.count) << t.zeros, t.zeros > 0 }

// rows returns the rows of an origin, if the tally keeps it.
func (t *tally) rows(hash uint64) (rows int64, ok bool) {
	if t.count == 0 || !t.keeps(hash) {
		return 0, false
	}
	return t.find(hash).rows, true
}

// find returns the slot of a hash, or the free slot for it. The table must have free slots.
func (t *tally) find(hash uint64) *slot {
	mask := uint64(len(t.slots) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		if s := &t.slots[i]; s.hash == hash || s.hash == 0 {
			return s
		}
	}
}

// grow doubles the table.
func (t *tally) grow() {
	old := t.slots
	t.slots = make([]slot, max(64, 2*len(old)))
	for _, s := range old {
		if s.hash != 0 {
			*t.find(s.hash) = s
		}
	}
}

// merge adds the counts of another tally, which must have the same limit.
func (t *tally) merge(o *tally) {
	for t.zeros < o.zeros {
		t.halve()
	}
	for _, s := range o.slots {
		if s.hash != 0 {
			t.addRows(s.hash, s.rows)
		}
	}
}

// A frequent finds the keys with the most rows, in bounded memory. It is exact for up to maxItems keys. If there
// are more, it subtracts the same number from the count of each key, and drops the keys whose count reaches 0
// (Misra and Gries 1982). So a key has up to off more rows than its count says, and a missing key has at most off
// rows. The result depends on the order of the keys, but not on how consecutive rows of one key are divided among
// calls of countKey. The zero frequent is empty. It is for one goroutine.
type frequent struct {
	slots []item // a hash table, linearly probed; its length is 0 or a power of two
	used  int
	off   int64 // rows that were subtracted from each key
}

// An item is a key and its count of rows.
type item struct {
	key  uint64
	rows int64 // 0 is a free slot
	from decider
}

// maxItems is the maximum number of keys that are counted at once, in 2.5 MiB.
const maxItems = 1 << 15

// countKey adds rows of a key, and returns its item, which is valid until the next call. The item stores from when the
// key is new.
func (f *frequent) countKey(key uint64, rows int64, from decider) *item {
	if len(f.slots) == 0 {
		f.makeRoom()
	}
	s := f.find(key)
	if s.rows == 0 {
		if 2*f.used >= len(f.slots) {
			f.makeRoom()
			s = f.find(key)
		}
		s.key, s.from = key, from
		f.used++
	}
	s.rows += rows
	return s
}

// find returns the slot of a key, or the free slot for it. The table must have free slots.
func (f *frequent) find(key uint64) *item {
	mask := uint64(len(f.slots) - 1)
	for i := key * 0x9e3779b97f4a7c15 >> 32 & mask; ; i = (i + 1) & mask {
		if s := &f.slots[i]; s.key == key || s.rows == 0 {
			return s
		}
	}
}

// makeRoom doubles the table or, if it has its maximum size, drops about half of the keys.
func (f *frequent) makeRoom() {
	old, size, most := f.slots, max(64, 2*len(f.slots)), int64(0)
	if f.used >= maxItems {
		// Keys are placed by hash, so the first keys are a random sample.
		const sample = 1023
		counts := make([]int64, 0, sample)
		for i := 0; i < len(old) && len(counts) < sample; i++ {
			if n := old[i].rows; n > 0 {
				counts = append(counts, n)
			}
		}
		slices.Sort(counts)
		size, most = len(old), counts[len(counts)/2]
		f.off += most
	}
	f.slots, f.used = make([]item, size), 0
	for _, s := range old {
		if s.rows > most {
			s.rows -= most
			*f.find(s.key) = s
			f.used++
		}
	}
}

// topItems returns the n keys with the most rows, and all further keys with as many rows as the last of the n. It
// returns them in any order.
func (f *frequent) topItems(n int) []item {
	all := slices.DeleteFunc(slices.Clone(f.slots), func(s item) bool { return s.rows == 0 })
	if len(all) <= n {
		return all
	}
	slices.SortFunc(all, func(a, b item) int { return cmp.Compare(b.rows, a.rows) })
	least := all[n-1].rows
	return all[:slices.IndexFunc(append(all, item{}), func(s item) bool { return s.rows < least })]
}

// oddRows counts the rows of sites whose robots.txt is not valid. It is for one goroutine.
type oddRows struct {
	bySite map[oddSite]int64
	other  int64 // rows of sites beyond maxOddSites
}

// An oddSite is a site and one of its texts that is not a valid robots.txt.
type oddSite struct {
	site SiteID
	text RulingID
}

// maxOddSites is the maximum number of sites that are counted separately. There are more only if most files are not
// valid.
const maxOddSites = 1 << 16

// count counts consecutive rows of one site whose text is odd. rulings are the rulings of these rows; unless dated is
// true, they are all the same.
func (o *oddRows) count(site SiteID, rulings []RulingID, odd rules.Odd, dated bool) {
	if !dated { // a site has only one ruling
		if odd.Of(rulings[0]).IsOdd() {
			o.countOddRows(oddSite{site, rulings[0]}, int64(len(rulings)))
		}
		return
	}
	start := 0
	for i, id := range rulings {
		if next := i + 1; next < len(rulings) && rulings[next] == id {
			continue
		}
		if odd.Of(id).IsOdd() {
			o.countOddRows(oddSite{site, id}, int64(i+1-start))
		}
		start = i + 1
	}
}

// countOddRows counts rows of a site with an odd text. If it is new and there are maxOddSites already, only o.other
// counts them.
func (o *oddRows) countOddRows(site oddSite, rows int64) {
	if o.bySite == nil {
		o.bySite = map[oddSite]int64{}
	}
	if _, known := o.bySite[site]; !known && len(o.bySite) == maxOddSites {
		o.other += rows
		return
	}
	o.bySite[site] += rows
}

// merge adds the counts of p.
func (o *oddRows) merge(p *oddRows) {
	for site, rows := range p.bySite {
		o.countOddRows(site, rows)
	}
	o.other += p.other
}

// total returns the sum of all counts. It looks up only the names of the busiest sites.
func (o *oddRows) total(s *Store) (sum OddCount) {
	if len(o.bySite) == 0 {
		return sum
	}
	rows := slices.SortedFunc(maps.Values(o.bySite), func(a, b int64) int { return cmp.Compare(b, a) })
	least := rows[min(rules.Worst, len(rows))-1]
	odd, lookup := s.rules.Odd(), s.NewLookup()
	var worst []OddOrigin
	for site, rows := range o.bySite {
		one := OddOrigin{Odd: odd.Of(site.text), Rows: rows}
		sum.Add(one)
		if rows >= least {
			one.Origin = lookup.Origin(site.site)
			worst = append(worst, one)
		}
	}
	slices.SortFunc(worst, func(a, b OddOrigin) int {
		return cmp.Or(cmp.Compare(b.Rows, a.Rows), cmp.Compare(a.Origin, b.Origin), cmp.Compare(a.Odd, b.Odd))
	})
	sum.Worst = [rules.Worst]OddOrigin{}
	copy(sum.Worst[:], worst)
	sum.Rows += o.other
	return sum
}
