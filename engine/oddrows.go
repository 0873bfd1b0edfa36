package engine

import (
	"cmp"
	"maps"
	"slices"

	"github.com/robobatch/robobatch/engine/internal/rules"
)

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

// count counts consecutive rows of one site. rulings are the rulings of these rows, usually all the same.
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

// countOddRows counts rows of a site.
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
