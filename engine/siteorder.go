package engine

import "math/bits"

// minRun is the mean number of neighbouring rows of one site from which on a batch is matched as it lies.
const minRun = 4

// A siteOrder sorts the rows of a batch by site, so that each site's rules are fetched from memory once for all of its
// rows. It keeps its memory.
type siteOrder struct{ rows, spare []siteRow }

// A siteRow is a row of a batch and its site.
type siteRow struct {
	site SiteID
	row  uint32
}

// digit is the number of bits by which one pass sorts: its counts stay in the first-level cache.
const digit = 11

// sort returns the rows of sites in the order of the sites; those of one site stay in order. Rows without a site of the
// store come in any order. It takes a pass for every 11 bits of the number of sites.
func (o *siteOrder) sort(sites []SiteID, numSites int) []siteRow {
	if cap(o.rows) < len(sites) {
		o.rows, o.spare = make([]siteRow, len(sites)), make([]siteRow, len(sites))
	}
	o.rows, o.spare = o.rows[:len(sites)], o.spare[:len(sites)]
	for i, site := range sites {
		o.rows[i] = siteRow{site, uint32(i)}
	}
	for shift := 0; shift < bits.Len(uint(numSites)); shift += digit {
		o.pass(shift)
	}
	return o.rows
}

// pass sorts the rows by one digit of their sites.
func (o *siteOrder) pass(shift int) {
	const mask = 1<<digit - 1
	var starts [mask + 1]uint32
	for _, r := range o.rows {
		starts[r.site>>shift&mask]++
	}
	next := uint32(0)
	for d, n := range starts {
		starts[d] = next
		next += n
	}
	for _, r := range o.rows {
		d := r.site >> shift & mask
		o.spare[starts[d]] = r
		starts[d]++
	}
	o.rows, o.spare = o.spare, o.rows
}

// decideBySite fills b.Verdicts in the order of the sites.
func (e *Evaluator) decideBySite(b *Batch) {
	order := e.order.sort(b.Sites, e.store.NumSites())
	if e.store.plain() {
		e.decidePlain(b, order)
		return
	}
	for _, r := range order {
		e.decide(b, int(r.row))
	}
}
