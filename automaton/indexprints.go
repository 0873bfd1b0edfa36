package automaton

import "strings"

// An indexer chooses the fingerprints of the patterns of an index, and their buckets: so that paths
// have few places with all three bytes of some bucket. Numbers are integers, as tables are to be
// the same on every processor.
type indexer struct {
	pats   []ranked
	prints []fingerprint // those that the patterns may have
	places []printsOf    // by pattern, those of it
	all    [buckets]bucket
	used   int // buckets
	masks  [masksSize]byte
}

// indexPrints chooses the fingerprints of patterns, and returns the masks. Those which can be are
// filed under the end of the path. Of the others, those that share a rare byte, mostly one that
// queries have, share a bucket. What is left, one after the other, goes where it adds least.
func indexPrints(pats []ranked) *[masksSize]byte {
	size := 0
	for i := range pats {
		size += len(pats[i].Rest)
	}
	x := indexer{pats: pats, prints: make([]fingerprint, 0, size), places: make([]printsOf, len(pats))}
	for i := range pats {
		pats[i].print = 0
		if pats[i].hasEnd() {
			pats[i].print = endPrint
		} else {
			x.addPrints(i)
		}
	}
	for x.used < buckets-1 {
		v, ok := x.pivot()
		if !ok {
			break
		}
		x.gather(v)
	}
	for i := range pats {
		if pats[i].print == 0 {
			x.choose(i)
		}
	}
	return &x.masks
}

// A printsOf says which of indexer.prints a pattern may have: those from begin to end, and before
// rare those with a rare byte.
type printsOf struct{ begin, rare, end int32 }

// addPrints adds the fingerprints that pattern i may have.
func (x *indexer) addPrints(i int) {
	begin := len(x.prints)
	x.prints = x.pats[i].appendPrints(x.prints)
	rare, all := begin, x.prints
	for n := begin; n < len(all); n++ {
		if f := all[n]; isRare(f.at(0)) || isRare(f.at(1)) || isRare(f.at(2)) {
			all[n], all[rare] = all[rare], f
			rare++
		}
	}
	x.places[i] = printsOf{int32(begin), int32(rare), int32(len(all))}
}

// rare returns the fingerprints with a rare byte that pattern i may have.
func (x *indexer) rare(i int) []fingerprint { return x.prints[x.places[i].begin:x.places[i].rare] }

// isRare reports whether patterns that share a byte may have a bucket for it.
func isRare(b byte) bool { return rates[b] <= pivotRate || b == endByte }

// A pivot is a byte that all fingerprints of a bucket have at the same place.
type pivot struct {
	b  byte
	at int
}

const (
	pivotMin  = 4       // patterns that share a byte, to have a bucket
	pivotRate = 400     // the rate of a byte for which they have one, or less
	placeRate = 200     // what is added to a rate to weigh it: that of places which are found anyway
	choices   = 3       // fingerprints of a pattern that are weighed
	openCost  = 1 << 33 // what it costs to use the first bucket, and twice as much each next one
)

// pivot returns the byte that is worth most to patterns without a fingerprint.
func (x *indexer) pivot() (best pivot, ok bool) {
	var count [printSize][256]uint16
	for i := range x.pats {
		if x.pats[i].print == 0 {
			countBytes(x.rare(i), &count)
		}
	}
	most, least := uint32(0), uint32(1)
	for at := range count {
		for b, n := range count[at] {
			if n < pivotMin {
				continue
			}
			if rate := uint32(rates[b]) + placeRate; uint32(n)*least > most*rate {
				best, most, least = pivot{byte(b), at}, uint32(n), rate
			}
		}
	}
	return best, most > 0
}

// countBytes counts a pattern at each byte that its fingerprints have at a place, and that is rare.
func countBytes(prints []fingerprint, count *[printSize][256]uint16) {
	var seen [printSize][4]uint64
	for _, f := range prints {
		for i := range seen {
			b := f.at(i)
			if !isRare(b) {
				continue
			}
			if bit := uint64(1) << (b & 63); seen[i][b>>6]&bit == 0 {
				seen[i][b>>6] |= bit
				count[i][b]++
			}
		}
	}
}

// gather puts all patterns that have a byte at a place into a new bucket, with the rarest of the
// fingerprints that have it.
func (x *indexer) gather(v pivot) {
	for i := range x.pats {
		if x.pats[i].print != 0 {
			continue
		}
		best, least := fingerprint(0), ^uint64(0)
		for _, f := range x.rare(i) {
			if f.at(v.at) == v.b && f.rate() < least {
				best, least = f, f.rate()
			}
		}
		if best != 0 {
			x.put(i, best, x.used)
		}
	}
	x.used++
}

// choose chooses the fingerprint of a pattern that adds least to what the buckets have.
func (x *indexer) choose(i int) {
	best, bucket, least := fingerprint(0), 0, ^uint64(0)
	for _, f := range rarest(x.prints[x.places[i].begin:x.places[i].end]) {
		if f == 0 {
			break
		}
		for j := range x.all[:min(x.used+1, buckets)] {
			b := &x.all[j]
			cost := b.with(f).cost() - b.rate.cost()
			if j == x.used {
				cost += openCost << j
			}
			if cost < least {
				best, bucket, least = f, j, cost
			}
		}
	}
	if bucket == x.used {
		x.used++
	}
	x.put(i, best, bucket)
}

// put gives a pattern its fingerprint, and puts that into a bucket.
func (x *indexer) put(i int, f fingerprint, bucket int) {
	x.pats[i].print = f
	x.all[bucket].add(f)
	f.addTo(&x.masks, bucket)
}

// rarest returns the rarest fingerprints, and zeros if they are fewer.
func rarest(prints []fingerprint) (best [choices]fingerprint) {
	var rate [choices]uint64
	for _, f := range prints {
		r := f.rate()
		for i := range best {
			if best[i] == 0 || r < rate[i] {
				best[i], f = f, best[i]
				rate[i], r = r, rate[i]
			}
			if f == 0 {
				break
			}
		}
	}
	return best
}

// appendPrints appends the fingerprints that a pattern may have in an index: those of all bytes,
// and with a key.
func (p *ranked) appendPrints(dst []fingerprint) []fingerprint {
	rest, f, n := p.Rest, fingerprint(0), 0
	for i := 1; i < len(rest); i++ {
		if rest[i] == '*' {
			n = 0
			continue
		}
		f = f<<8 | fingerprint(rest[i])<<8
		if n++; n > printSize || n == printSize && p.isAhead(i) {
			dst = append(dst, f|printSize)
		}
	}
	if n++; p.End && n >= printSize {
		dst = append(dst, f<<8|printSize)
	}
	return dst
}

// isAhead reports whether the key is known that begins with the fingerprint which ends at i: two
// bytes more of its segment, or the end of the path.
func (p *ranked) isAhead(i int) bool {
	behind := p.Rest[i+1:]
	if n := strings.IndexByte(behind, '*'); n >= 0 || !p.End {
		return n >= 2 || n < 0 && len(behind) >= 2
	}
	return true
}

// isIndexed reports whether a pattern can be in an index.
func (p *ranked) isIndexed() (ok bool) {
	p.segments(func(seg string, last bool) {
		ok = ok || len(seg) > printSize || last && p.End && len(seg) >= printSize-1
	})
	return ok
}

// at returns a byte of a fingerprint.
func (f fingerprint) at(i int) byte { return byte(f >> (24 - 8*i)) }

// A bucketRate is how often paths have, of a hundred thousand places, the bytes of a bucket, by
// place of the fingerprint.
type bucketRate [printSize]uint64

// cost is how many places have all of them, if bytes were independent.
func (r bucketRate) cost() uint64 { return r[0] * r[1] * r[2] }

// rate is the cost of a bucket with nothing but a fingerprint.
func (f fingerprint) rate() uint64 {
	return uint64(rates[f.at(0)]) * uint64(rates[f.at(1)]) * uint64(rates[f.at(2)])
}

// A bucket is the bytes of the fingerprints in it, by place, and their rates.
type bucket struct {
	has  [printSize][4]uint64
	rate bucketRate
}

// with returns the rates with a fingerprint added.
func (b *bucket) with(f fingerprint) bucketRate {
	rate := b.rate
	for i := range rate {
		if c := f.at(i); b.has[i][c>>6]&(1<<(c&63)) == 0 {
			rate[i] += uint64(rates[c])
		}
	}
	return rate
}

func (b *bucket) add(f fingerprint) {
	b.rate = b.with(f)
	for i := range b.rate {
		c := f.at(i)
		b.has[i][c>>6] |= 1 << (c & 63)
	}
}

// rates is how many of a hundred thousand places of a path have a byte, about, in the order of
// rarity; and one in sixty is the end.
var rates = func() (rate [256]uint16) {
	for b := range rate {
		switch r := rarity[b]; {
		case r < 10: // up to "-"
			rate[b] = 6000
		case r < 19: // "f"
			rate[b] = 2200
		case r < 26: // "w"
			rate[b] = 1200
		case r < 36: // "6"
			rate[b] = 330
		case r < 39: // "z"
			rate[b] = 180
		case r < 53: // "?"
			rate[b] = 70
		default:
			rate[b] = 40
		}
	}
	rate[endByte] = 1600
	return rate
}()
