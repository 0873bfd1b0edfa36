package waste

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Facets are parameters that pages combine as filters. They are told from those of other pages as each comes without each
// other, or in another order: a list by category and page has its category always, and before its page.

// The signs that parameters are facets.
const (
	leastFacets  = 3   // that are combined
	leastLoose   = .05 // of the URLs of two parameters that have each alone, or that have them in the other order
	leastMixed   = .2  // of the URLs of two parameters that are all there are, that have them in the other order
	leastPair    = 20  // URLs that have two parameters
	leastPerName = 5   // combinations for each value, on average
	leastPerPath = 10  // the same for each path
	mostFacets   = 64  // names of a site that are told apart
	mostOfPath   = 16  // the same of a path
	mostStems    = 64  // paths, and directories, of a site that combine parameters
	mostRules    = 4
	mostWords    = 1 << 12 // values of a site, or segments of a directory
)

// campaigns are parameters that say where a visitor comes from: URLs with them are duplicates.
var campaigns = newNameSet("gclid", "fbclid", "msclkid", "yclid", "dclid", "gbraid", "wbraid", "mc_cid", "mc_eid", "_ga")

// queryFacets count pairs of parameters of a site, path by path.
type queryFacets struct {
	names  []string // of the site
	pairs  map[[2]int]*pairCount
	paths  map[string]uint64 // that combine parameters, by which names
	dirs   map[string]uint64
	path   []byte
	local  []int // names of the path
	have   [mostOfPath]int64
	orders [mostOfPath][mostOfPath]int64 // URLs that have one before the other
	most   int                           // names of a URL of the path
	seps   seps                          // of the site
}

// A pairCount counts URLs of two names, of paths that have both in one URL.
type pairCount struct{ both, reverse, first, second int64 }

// take counts a URL.
func (q *queryFacets) take(u *parts) {
	pairs := u.pairs
	if len(pairs) == 0 {
		return
	}
	if !bytes.Equal(q.path, u.path) {
		q.endPath()
		q.path = append(q.path[:0], u.path...)
	}
	q.seps |= u.seps
	var seen [mostOfPath]int
	n := 0
	for i := range pairs {
		at := q.localOf(pairs[i].name)
		if at < 0 || slices.Contains(seen[:n], at) {
			continue
		}
		q.have[at]++
		for _, before := range seen[:n] {
			q.orders[before][at]++
		}
		seen[n] = at
		n++
	}
	q.most = max(q.most, n)
}

// localOf returns the number of a name among those of the path; -1 is none.
func (q *queryFacets) localOf(name []byte) int {
	for at, n := range q.local {
		if q.names[n] == string(name) {
			return at
		}
	}
	if len(q.local) == mostOfPath || bytes.HasPrefix(name, []byte("utm_")) || campaigns.find(name) >= 0 {
		return -1
	}
	n := slices.Index(q.names, string(name))
	if n < 0 {
		if n = len(q.names); n == mostFacets {
			return -1
		}
		q.names = append(q.names, string(name))
	}
	q.local = append(q.local, n)
	return len(q.local) - 1
}

// endPath adds the pairs of the path to those of the site.
func (q *queryFacets) endPath() {
	if q.most > 1 {
		q.addPairs()
	}
	for at := range q.local {
		q.have[at] = 0
		q.orders[at] = [mostOfPath]int64{}
	}
	q.local, q.most = q.local[:0], 0
}

// addPairs adds the pairs of the path to those of the site.
func (q *queryFacets) addPairs() {
	if q.pairs == nil {
		q.pairs, q.paths, q.dirs = map[[2]int]*pairCount{}, map[string]uint64{}, map[string]uint64{}
	}
	mask := uint64(0)
	for i, a := range q.local {
		mask |= 1 << a
		for j, b := range q.local[:i] {
			both := q.orders[i][j] + q.orders[j][i]
			if both == 0 {
				continue
			}
			reverse, first, second := q.orders[i][j], q.have[j]-both, q.have[i]-both // of b before a
			key := [2]int{b, a}
			if b > a {
				key, reverse, first, second = [2]int{a, b}, both-reverse, second, first
			}
			p := q.pairs[key]
			if p == nil {
				p = &pairCount{}
				q.pairs[key] = p
			}
			p.both, p.reverse, p.first, p.second = p.both+both, p.reverse+reverse, p.first+first, p.second+second
		}
	}
	if q.most > 1 {
		addStem(q.paths, q.path, mask)
		addStem(q.dirs, q.path[:bytes.LastIndexByte(q.path, '/')+1], mask)
	}
}

// addStem adds the names of a path to those of a beginning of it.
func addStem(stems map[string]uint64, stem []byte, mask uint64) {
	if _, known := stems[string(stem)]; known || len(stems) < mostStems {
		stems[string(stem)] |= mask
	}
}

// isLoose reports whether two names come without each other, or in both orders, or are those of filters.
func (q *queryFacets) isLoose(a, b int) bool {
	p := q.pairs[[2]int{min(a, b), max(a, b)}]
	if p == nil || p.both < leastPair {
		return false
	}
	if isFilter(q.names[a]) && isFilter(q.names[b]) {
		return true
	}
	all := float64(p.both + p.first + p.second)
	alone, other := float64(min(p.first, p.second)), float64(min(p.reverse, p.both-p.reverse))
	return alone >= leastLoose*all || other >= leastLoose*float64(p.both)
}

// filters are the names of parameters that choose and sort the things of a list.
var filters = newNameSet("color", "colour", "farbe", "couleur", "size", "groesse", "taille", "brand", "marke", "marque", "manufacturer", "material", "price", "preis", "prix",
	"price_min", "price_max", "min_price", "max_price", "pricefrom", "priceto", "gender", "style", "rating", "availability", "in_stock", "sort", "sort_by", "sortby", "orderby", "order_by", "product_list_order")

// isFilter reports whether a name is that of a filter, as in color, filter_size or pa_brand[].
func isFilter(name string) bool {
	name = strings.TrimSuffix(name, "[]")
	for _, before := range []string{"filter_", "filter.", "pa_", "f_"} {
		name = strings.TrimPrefix(name, before)
	}
	return filters.find([]byte(name)) >= 0
}

// least returns how many of some names must be combined: two, if these are all, and those of filters or in any order. A list by number,
// such as that of a category, ends whatever the order.
func (q *queryFacets) least(found []int) int {
	if len(found) != 2 {
		return leastFacets
	}
	a, b := q.names[found[0]], q.names[found[1]]
	if isFilter(a) && isFilter(b) || q.isMixed(found[0], found[1]) && pagers.find([]byte(a)) < 0 && pagers.find([]byte(b)) < 0 {
		return 2
	}
	return leastFacets
}

// isMixed reports whether two names come in either order, and often in both.
func (q *queryFacets) isMixed(a, b int) bool {
	p := q.pairs[[2]int{min(a, b), max(a, b)}]
	return p != nil && float64(min(p.reverse, p.both-p.reverse)) >= leastMixed*float64(p.both)
}

// facets returns the most names that are loose, each with each.
func (q *queryFacets) facets() (found []int) {
	weights := make([]int64, len(q.names)) // URLs of their pairs
	for key, p := range q.pairs {
		weights[key[0]] += p.both
		weights[key[1]] += p.both
	}
	order := make([]int, len(q.names))
	for n := range order {
		order[n] = n
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(weights[b], weights[a]), cmp.Compare(a, b)) })
	for _, first := range order {
		one := []int{first}
		for _, n := range order {
			if !slices.ContainsFunc(one, func(m int) bool { return m == n || !q.isLoose(m, n) }) {
				one = append(one, n)
			}
		}
		if len(one) > len(found) {
			found = one
		}
	}
	return found
}

// end returns the candidate of the facets of a site, nil if there are none, and empties the finder.
func (q *queryFacets) end() *candidate {
	q.endPath()
	q.path = q.path[:0]
	var t *candidate
	if len(q.pairs) > 0 {
		if found := q.facets(); len(found) >= q.least(found) {
			t = q.candidate(found)
		}
	}
	q.names, q.seps = q.names[:0], 0
	clear(q.pairs)
	clear(q.paths)
	clear(q.dirs)
	return t
}

// candidate returns the candidate of some facets.
func (q *queryFacets) candidate(found []int) *candidate {
	t := &candidate{kind: Facets, inQuery: true}
	mask := uint64(0)
	for _, n := range found {
		mask |= 1 << n
		t.names = append(t.names, q.names[n])
	}
	for _, p := range q.pairs {
		t.size = max(t.size, p.both)
	}
	least := q.least(found)
	t.rules = q.rules(mask, least)
	names, values, paths, last := slices.Clone(t.names), map[uint64]bool{}, int64(0), []byte(nil)
	t.has = func(u *parts) bool {
		if len(u.pairs) < least || isFile(u.path) {
			return false
		}
		for i := range u.pairs {
			if !slices.Contains(names, string(u.pairs[i].name)) {
				return false
			}
		}
		return true
	}
	t.took = func(u *parts) {
		for i := range u.pairs {
			if len(values) < mostWords {
				values[hashOf(u.pairs[i].name)*31+hashOf(u.pairs[i].value)] = true
			}
		}
		if paths == 0 || !bytes.Equal(last, u.path) {
			last, paths = append(last[:0], u.path...), paths+1
		}
	}
	t.is = func() bool {
		if !t.closesNoOther() {
			t.rules = nil
		}
		return len(values) < mostWords && t.urls >= leastPerName*int64(len(values)) && t.urls >= leastPerPath*paths
	}
	return t
}

// rules returns the rules that close the URLs with so many parameters or more: of the paths, of their directories, or of the
// whole site.
func (q *queryFacets) rules(mask uint64, least int) (rules []string) {
	stems := stemsOf(q.paths, mask, least)
	if len(stems) == 0 || len(stems) > mostRules {
		if stems = stemsOf(q.dirs, mask, least); len(stems) == 0 || len(stems) > mostRules {
			stems = []string{"/"}
		}
		for i := range stems {
			stems[i] += "*"
		}
	}
	for _, stem := range stems {
		if !isPlain(strings.TrimSuffix(stem, "*")) {
			return nil
		}
		for _, sep := range q.seps.all() {
			rules = append(rules, "Disallow: "+stem+"?"+strings.Repeat("*"+sep, least-1))
		}
	}
	return rules
}

// stemsOf returns the stems that combine some names; none if there may be others.
func stemsOf(stems map[string]uint64, mask uint64, least int) (found []string) {
	if len(stems) == mostStems {
		return nil
	}
	for _, stem := range slices.Sorted(maps.Keys(stems)) {
		names := 0
		for n := range mostFacets {
			names += int(stems[stem] & mask >> n & 1)
		}
		if names >= least {
			found = append(found, stem)
		}
	}
	return found
}

// files are the endings of files that have sizes and formats as parameters.
var files = newNameSet("jpg", "jpeg", "png", "gif", "webp", "avif", "svg", "js", "css", "pdf")

// isFile reports whether a path is that of a file that is no page.
func isFile(path []byte) bool {
	i := bytes.LastIndexByte(path, '.')
	return i >= 0 && files.find(path[i+1:]) >= 0
}

// pathFacets count, for a directory, which paths have the same segments in another order, as /shop/red/large/new and
// /shop/large/new/red.
type pathFacets struct {
	orders groups           // of sets of segments
	words  map[uint64]uint8 // segments, by hash, and where they stand
	closed int              // paths that end in a slash
	all    int
}

// The signs that segments are facets.
const (
	leastOrders = 3 // of the same segments
	ofOrders    = 5 // one of so many paths with these segments or others has them in so many orders, at least
	mostPlaces  = 8 // of a segment
)

// take counts a path that has segments behind its first.
func (p *pathFacets) take(path []byte, segs []seg) {
	if len(segs) < 1+leastFacets || len(segs) > mostPlaces {
		return
	}
	if p.words == nil {
		p.words = map[uint64]uint8{}
	}
	if p.all++; path[len(path)-1] == '/' {
		p.closed++
	}
	set, order := uint64(0), uint64(0)
	for n, s := range segs[1:] {
		h := hashOf(path[s.from:s.to])
		set += h * (h>>32 | 1)
		order = (order ^ h) * 0x9E3779B97F4A7C15
		if places, known := p.words[h]; known || len(p.words) < mostWords {
			p.words[h] = places | 1<<n
		}
	}
	p.orders.addMember(set*0x9E3779B97F4A7C15, order)
}

// end returns the candidate of a directory, nil if it has no facets, and empties the finder.
func (p *pathFacets) end(dir []byte) (t *candidate) {
	if len(p.orders.all) == 0 {
		return nil
	}
	_, other, all := p.orders.large(leastOrders)
	if other >= leastURLs && ofOrders*other >= all {
		t = p.candidate(string(dir), all)
	}
	p.orders.clear()
	p.words, p.closed, p.all = nil, 0, 0
	return t
}

// candidate returns the candidate of a directory.
func (p *pathFacets) candidate(dir string, size int64) *candidate {
	words, first := p.words, mostPlaces
	for h, places := range words {
		if places&(places-1) == 0 {
			delete(words, h) // it stands always at the same place
			continue
		}
		for n := range mostPlaces {
			if places>>n&1 == 1 {
				first = min(first, n)
			}
		}
	}
	t := &candidate{kind: Facets, size: size, names: []string{dir}}
	if isPlain(dir) {
		slashes := first + leastFacets - 1
		if 2*p.closed > p.all {
			slashes++
		}
		t.rules = []string{"Disallow: " + dir + strings.Repeat("*/", slashes)}
	}
	t.has = func(u *parts) bool {
		if len(u.segs) < 1+first+leastFacets || !bytes.HasPrefix(u.path, []byte(dir)) {
			return false
		}
		for _, s := range u.segs[1+first:] {
			if _, is := words[hashOf(u.path[s.from:s.to])]; !is {
				return false
			}
		}
		return true
	}
	t.is = func() bool {
		if !t.closesNoOther() {
			t.rules = nil
		}
		return true
	}
	return t
}
