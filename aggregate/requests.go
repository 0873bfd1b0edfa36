package aggregate

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"iter"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/internal/extsort"
	"github.com/robobatch/robobatch/internal/prefix"
)

// Requests group rows by URL and by a kind that the caller numbers, and count them exactly: in a hash table as long
// as they fit in memory, and otherwise in sorted runs on disk. They are for one goroutine.
//
// Rows are identified by a 64-bit hash of URL and kind, which the caller computes. The probability that any two of
// n requests have the same hash is n²/2⁶⁵: 1 in 2,000,000 for 4 million.
type Requests struct {
	all     []Entry
	more    []moreCounts
	text    []byte   // texts of all entries: the path of the URL, a zero byte, a query or fragment, eight zero bytes
	zeros   bool     // a URL has a zero byte
	slots   []uint32 // a linearly probed hash table: each slot is upper bits of a key and 1 + the index of its entry; 0 is free
	seed    uint64   // affects only the slots, so that an attacker cannot construct URLs with colliding slots
	origins []origin
	places  map[string]uint32 // of origins
	named   int               // bytes of origins, about

	mostRequests, mostText int
	spill                  *extsort.Spill
	writer                 requestWriter
	keys, spare            []sortKey // of inOrder
	touched                byte      // used, so that the compiler does not remove reads
}

// An origin is the part before the path of the URLs of one site.
type origin struct {
	text string
	hash uint64
	site engine.SiteID
	size int // number of its entries, then the end of its entries in the order, see grouped

	at, end uint32 // the free part of its last piece of Requests.text
	held    uint32 // bytes of its pieces
}

// An Entry is a Request in memory.
type Entry struct {
	Kind int32

	rows   uint32
	key    uint64
	origin uint32 // index of Requests.origins
	at     uint32 // where the path begins in Requests.text
	path   uint16 // length of the path
	rest   uint16 // length of the query or fragment
	more   uint32 // index of Requests.more; 0 means none of these
}

// A moreCounts holds what many entries do not have.
type moreCounts struct {
	variant                                     uint64
	bytes                                       int64
	page                                        uint32
	violations, served, failed, missing, errors uint32
}

// zeros is appended to each text, so that eight bytes can be read at any of its positions.
var zeros [8]byte

// AddRow adds the counts of one row to an entry, and its page size; see Request.AddPage.
func (r *Requests) AddRow(e *Entry, one *RowCounts, page uint32) {
	e.rows += uint32(one.Rows)
	if page == 0 && *one == (RowCounts{Rows: one.Rows}) {
		return
	}
	m := r.moreOf(e)
	m.violations += uint32(one.Violations)
	m.served += uint32(one.Served)
	m.failed += uint32(one.Failed)
	m.missing += one.Missing
	m.errors += one.Errors
	m.bytes += one.Bytes
	m.page = min(page-1, m.page-1) + 1 // 0 counts as the greatest
}

// moreOf returns the further counts of an entry, and adds them if it has none.
func (r *Requests) moreOf(e *Entry) *moreCounts {
	if e.more == 0 {
		e.more = uint32(len(r.more))
		r.more = append(r.more, moreCounts{})
	}
	return &r.more[e.more]
}

// A Request counts the rows of one URL and one kind.
type Request struct {
	RowCounts
	Kind int32
	Page uint32 // the smallest size passed to AddPage; 0 means unknown

	variant uint64
	origin  uint64 // hash of the origin
	site    engine.SiteID
	prefix  uint16 // bytes of the URL before its path
	pathEnd uint16 // where a query or fragment begins, or the end of the URL
}

// AddPage adds the page size of a row. The smallest size of a URL is kept; 0 means unknown.
func (q *Request) AddPage(size uint32) {
	if size > 0 && (q.Page == 0 || size < q.Page) {
		q.Page = size
	}
}

// RowCounts count rows. All fields except Rows and Bytes are parts of Rows.
type RowCounts struct {
	Rows       int64
	Violations int64
	Served     int64 // status 2xx or 304
	Failed     int64 // status 4xx or 5xx

	Bytes int64 // of the responses, as far as their sizes are known

	Missing, Errors uint32 // parts of Failed: status 404 or 410, and 5xx; they stop at 1<<32-1
}

// AddCounts adds the counts of other rows.
func (c *RowCounts) AddCounts(o *RowCounts) {
	c.Rows += o.Rows
	c.Violations += o.Violations
	c.Served += o.Served
	c.Failed += o.Failed
	c.Missing, c.Errors = c.Missing+min(o.Missing, ^c.Missing), c.Errors+min(o.Errors, ^c.Errors)
	c.Bytes += o.Bytes
}

// A Place is a URL as [Requests] store it.
type Place struct {
	URL    []byte // with a normalised origin; at most MaxURL bytes
	Prefix int    // bytes before the path
	Site   engine.SiteID

	// Variant distinguishes URLs that are stored alike, because the log spells their origins differently or they
	// are longer than MaxURL. It is 0 for a URL that is stored as logged.
	Variant uint64
}

// MaxURL is the maximum number of bytes that are stored of a URL.
const MaxURL = 4096

// pieceBytes is the maximum size of a piece of Requests.text, unless a text is longer.
const pieceBytes = 4096

// Bytes of memory for each request: an Entry with its counts and slots, its index in the order and two sort keys, and the text
// of an average URL; and for an origin.
const (
	requestBytes = 120
	textBytes    = 80
	originBytes  = 160

	leastRequests = 1 << 10
	indexBits     = 22 // of a slot
	mostRequests  = 1<<indexBits - 2
)

// NewRequests returns empty Requests that take approximately the given number of bytes; 0 means DefaultMemory. When
// they are full, a temporary file is created in dir; "" means the default directory. Call Close in the end.
func NewRequests(memory int64, dir string) *Requests {
	if memory <= 0 {
		memory = DefaultMemory
	}
	most := int(min(mostRequests, max(leastRequests, memory/(requestBytes+textBytes))))
	slots := 1 << bits.Len(uint(most+most/2))
	// Allocate everything at once: unused parts take no physical memory, and growing by copying takes time.
	return &Requests{
		all: make([]Entry, 0, most), more: make([]moreCounts, 1, most+1), text: make([]byte, 0, max(most*textBytes, 2*MaxURL)), slots: make([]uint32, slots), seed: rand.Uint64(),
		mostRequests: most, mostText: max(most*textBytes, 2*MaxURL), places: map[string]uint32{}, spill: extsort.NewSpill(dir),
	}
}

// Close removes the temporary file. Further calls do nothing.
func (r *Requests) Close() { r.spill.Close() }

// Spilled reports whether some requests were written to disk.
func (r *Requests) Spilled() bool { return r.spill.Runs() > 0 }

// Probe reads the slot of a key, to load it into the CPU cache. Its result has no meaning. A caller that probes
// several keys before it looks them up waits for memory once, not once per key.
func (r *Requests) Probe(key uint64) uint32 { return r.slots[r.slot(key)] }

// Find returns the request of a key, or nil if it is not in memory; then use AddRequest. The pointer is valid until
// a request is added.
func (r *Requests) Find(key uint64) *Entry {
	mask := uint64(len(r.slots) - 1)
	for i := r.slot(key); ; i = (i + 1) & mask {
		n := r.slots[i]
		if n == 0 {
			return nil
		}
		if (n^uint32(key))>>indexBits == 0 { // skips most other requests without reading their entries, which would wait for memory
			if found := &r.all[n&(1<<indexBits-1)-1]; found.key == key && found.rows < math.MaxUint32 {
				return found
			}
		}
	}
}

// AddRequest adds a request without rows, after Find did not find its key. The pointer is valid until the next one is
// added.
func (r *Requests) AddRequest(key uint64, kind int32, p Place) (*Entry, error) {
	if len(r.all) == r.mostRequests || len(r.text)+r.named+len(p.URL)+pieceBytes > r.mostText {
		if err := r.writeRun(); err != nil {
			return nil, err
		}
	}
	path := p.URL[p.Prefix:]
	n := len(path)
	if i := bytes.IndexByte(path, '?'); i >= 0 {
		n = i
	}
	if i := bytes.IndexByte(path[:n], '#'); i >= 0 {
		n = i
	}
	q := Entry{key: key, Kind: kind, origin: r.originOf(&p), path: uint16(n), rest: uint16(len(path) - n)}
	o, size := &r.origins[q.origin], uint32(len(path)+1+len(zeros))
	if o.end-o.at < size { // texts of an origin are together in pieces, so that sorting them reads few pages of memory
		o.at, o.end = uint32(len(r.text)), uint32(len(r.text))+max(size, min(o.held, pieceBytes))
		r.text, o.held = r.text[:o.end], o.held+o.end-o.at
	}
	q.at, o.at = o.at, o.at+size
	r.zeros = r.zeros || bytes.IndexByte(path, 0) >= 0
	_ = append(append(append(append(r.text[q.at:q.at], path[:n]...), 0), path[n:]...), zeros[:]...)
	if p.Variant != 0 {
		r.moreOf(&q).variant = p.Variant
	}
	r.all = append(r.all, q)
	mask := uint64(len(r.slots) - 1)
	i := r.slot(key)
	for r.slots[i] != 0 {
		i = (i + 1) & mask
	}
	r.slots[i] = uint32(len(r.all)) | uint32(key)&^(1<<indexBits-1)
	return &r.all[len(r.all)-1], nil
}

// originOf returns the index of the origin of a place, and adds the origin if it is new.
func (r *Requests) originOf(p *Place) uint32 {
	text := p.URL[:p.Prefix]
	if n := len(r.all); n > 0 {
		if last := r.all[n-1].origin; r.origins[last].text == string(text) {
			return last
		}
	}
	n, known := r.places[string(text)]
	if !known {
		n = uint32(len(r.origins))
		one := origin{text: string(text), hash: xxh3.Hash(text), site: p.Site}
		r.origins, r.places[one.text], r.named = append(r.origins, one), n, r.named+len(text)+originBytes
	}
	return n
}

// slot returns the slot at which the search for a key begins.
func (r *Requests) slot(key uint64) uint64 {
	return (key ^ r.seed) * 0x9E3779B97F4A7C15 >> (64 - bits.TrailingZeros(uint(len(r.slots))))
}

// request returns the request of an entry. Its URL is appended to a slice.
func (r *Requests) request(q *Entry, url []byte) (Request, []byte) {
	o, path := &r.origins[q.origin], r.text[q.at:][:q.path]
	m := &r.more[q.more]
	one := Request{
		RowCounts: RowCounts{int64(q.rows), int64(m.violations), int64(m.served), int64(m.failed), m.bytes, m.missing, m.errors},
		Kind:      q.Kind, Page: m.page, variant: m.variant, origin: o.hash, site: o.site, prefix: uint16(len(o.text)), pathEnd: uint16(len(o.text)) + q.path,
	}
	return one, append(append(append(url, o.text...), path...), r.text[int(q.at)+len(path)+1:][:q.rest]...)
}

// grouped yields the indexes of the entries of each origin, ordered by the hash of the origin. Origins with the same
// hash count as one.
func (r *Requests) grouped() iter.Seq[[]uint32] {
	sorted := make([]*origin, len(r.origins))
	for i := range r.origins {
		sorted[i] = &r.origins[i]
		sorted[i].size = 0
	}
	for i := range r.all {
		r.origins[r.all[i].origin].size++
	}
	slices.SortFunc(sorted, func(a, b *origin) int { return cmp.Compare(a.hash, b.hash) })
	sum := 0
	for _, o := range sorted {
		o.size, sum = sum, sum+o.size
	}
	order := make([]uint32, len(r.all))
	for i := range r.all {
		o := &r.origins[r.all[i].origin]
		order[o.size] = uint32(i)
		o.size++
	}
	return func(yield func([]uint32) bool) {
		for from, i := 0, 0; i < len(sorted); i++ {
			if i+1 < len(sorted) && sorted[i+1].hash == sorted[i].hash {
				continue
			}
			if !yield(order[from:sorted[i].size]) {
				return
			}
			from = sorted[i].size
		}
	}
}

// A sortKey holds the eight bytes by which an entry is currently sorted.
type sortKey struct {
	eight uint64
	n, at uint32 // index of Requests.all, and Entry.at
}

// fewKeys is the maximum number of keys that are sorted by insertion.
const fewKeys = 48

// sortFrom sorts entries of one origin whose texts are equal up to a position. It compares the next eight bytes, then
// the eight bytes after these, and so on: comparing whole URLs of a site would read many bytes that they have in
// common.
func (r *Requests) sortFrom(keys []sortKey, at int) {
	for i := range keys {
		keys[i].eight = binary.BigEndian.Uint64(r.text[int(keys[i].at)+at:])
	}
	r.sortEight(keys)
	for from, to := 0, 1; from < len(keys); from, to = to, to+1 {
		for to < len(keys) && keys[to].eight == keys[from].eight {
			to++
		}
		if q := &r.all[keys[from].n]; to-from > 1 && at+8 > int(q.path+q.rest) { // the texts end
			r.compareAll(keys[from:to])
		} else if to-from > 1 {
			r.sortFrom(keys[from:to], at+8)
		}
	}
}

// sortEight sorts keys by their eight bytes: by the first byte in which they differ, and then recursively by the next
// one.
func (r *Requests) sortEight(keys []sortKey) {
	if len(keys) < fewKeys {
		for i, k := range keys {
			for ; i > 0 && keys[i-1].eight > k.eight; i-- {
				keys[i] = keys[i-1]
			}
			keys[i] = k
		}
		return
	}
	differ, isSorted := uint64(0), true
	for i := range keys[1:] {
		differ |= keys[i].eight ^ keys[i+1].eight
		isSorted = isSorted && keys[i].eight <= keys[i+1].eight
	}
	if isSorted {
		return
	}
	shift := (bits.Len64(differ) - 1) &^ 7
	var at [256]uint32 // by byte: the number of keys with it, then the index of the next of these keys
	for i := range keys {
		at[byte(keys[i].eight>>shift)]++
	}
	sum := uint32(0)
	for b, n := range at {
		at[b], sum = sum, sum+n
	}
	for _, k := range keys {
		n := &at[byte(k.eight>>shift)]
		r.spare[*n] = k
		*n++
	}
	copy(keys, r.spare)
	from := uint32(0)
	for _, to := range at {
		if to-from > 1 {
			r.sortEight(keys[from:to])
		}
		from = to
	}
}

// compareAll sorts entries by whole URLs.
func (r *Requests) compareAll(keys []sortKey) {
	var urlA, urlB []byte
	slices.SortFunc(keys, func(x, y sortKey) int {
		var a, b Request
		a, urlA = r.request(&r.all[x.n], urlA[:0])
		b, urlB = r.request(&r.all[y.n], urlB[:0])
		return compareRequests(&a, &b, urlA, urlB)
	})
}

// compareRequests orders requests by origin, path and the rest of the URL. So requests for one URL are adjacent, as
// are the URLs with one path, and the paths in one directory.
func compareRequests(a, b *Request, urlA, urlB []byte) int {
	if a.origin != b.origin {
		return cmp.Compare(a.origin, b.origin)
	}
	if c := bytes.Compare(urlA[a.prefix:a.pathEnd], urlB[b.prefix:b.pathEnd]); c != 0 {
		return c
	}
	if c := bytes.Compare(urlA[a.pathEnd:], urlB[b.pathEnd:]); c != 0 {
		return c
	}
	if c := bytes.Compare(urlA[:a.prefix], urlB[:b.prefix]); c != 0 { // origins that have the same hash
		return c
	}
	return cmp.Or(cmp.Compare(a.variant, b.variant), cmp.Compare(a.Kind, b.Kind))
}

// inOrder yields all requests and their URLs in the order of [compareRequests].
func (r *Requests) inOrder() iter.Seq2[*Request, []byte] {
	return func(yield func(*Request, []byte) bool) {
		var url []byte
		for group := range r.grouped() {
			if len(group) > len(r.keys) {
				r.keys, r.spare = make([]sortKey, len(group)), make([]sortKey, len(group))
			}
			keys := r.keys[:len(group)]
			for i, n := range group {
				keys[i].n, keys[i].at = n, r.all[n].at
			}
			if r.zeros { // a zero byte ends a path
				r.compareAll(keys)
			} else {
				r.sortFrom(keys, 0)
			}
			for some := range slices.Chunk(keys, 32) {
				for _, k := range some { // so that the waits for memory overlap
					r.touched += r.text[k.at] + byte(r.all[k.n].Kind)
				}
				for _, k := range some {
					var one Request
					if one, url = r.request(&r.all[k.n], url[:0]); !yield(&one, url) {
						return
					}
				}
			}
		}
	}
}

// writeRun writes all requests to disk, and removes them from memory.
func (r *Requests) writeRun() error {
	run, err := r.spill.Begin()
	if err != nil {
		return err
	}
	r.writer.begin(run)
	for q, url := range r.inOrder() {
		if err := r.writer.write(q, url); err != nil {
			return err
		}
	}
	if err := r.writer.Finish(); err != nil {
		return err
	}
	run.End()
	r.all, r.more, r.text, r.zeros, r.origins, r.named = r.all[:0], r.more[:1], r.text[:0], false, r.origins[:0], 0
	clear(r.places)
	clear(r.slots)
	return nil
}

// A URL is one visit of [Requests.EachURL].
type URL struct {
	Text     []byte
	Prefix   int // bytes before the path
	PathEnd  int // where a query or fragment begins, or the end of the URL
	Site     engine.SiteID
	Number   int64     // of the URL, from 1
	Requests []Request // one for each of its kinds, by ascending Kind

	variant uint64
}

// EachURL visits each URL once, with all its requests. URLs of one origin follow one another, as do URLs with one
// path, and paths in one directory. The argument of visit is valid until visit returns. EachURL may be called again,
// but nothing may be added after the first call.
func (r *Requests) EachURL(visit func(*URL)) error {
	to := &urlVisitor{visit: visit}
	if !r.Spilled() {
		for q, url := range r.inOrder() {
			to.addRequest(q, url)
		}
		return to.Finish()
	}
	if r.slots != nil {
		if err := r.writeRun(); err != nil {
			return err
		}
		*r = Requests{spill: r.spill}
	}
	begin := func(run *extsort.Run) extsort.Output[*requestCursor] {
		w := &requestWriter{}
		w.begin(run)
		return w
	}
	return extsort.Merge(r.spill, extsort.MaxFan, func() *requestCursor { return &requestCursor{} }, begin, to)
}

// A urlVisitor collects the requests of each URL, and calls visit.
type urlVisitor struct {
	visit func(*URL)
	url   URL
}

// addRequest adds the next request, in the order of compareRequests.
func (v *urlVisitor) addRequest(q *Request, url []byte) {
	u := &v.url
	if u.Number == 0 || q.variant != u.variant || string(url) != string(u.Text) {
		v.Finish() //nolint:errcheck // it has no error
		u.Text, u.Prefix, u.PathEnd, u.Site, u.variant = append(u.Text[:0], url...), int(q.prefix), int(q.pathEnd), q.site, q.variant
		u.Requests, u.Number = u.Requests[:0], u.Number+1
	}
	if n := len(u.Requests); n > 0 && u.Requests[n-1].Kind == q.Kind { // of another run
		u.Requests[n-1].AddCounts(&q.RowCounts)
		u.Requests[n-1].AddPage(q.Page)
		return
	}
	u.Requests = append(u.Requests, *q)
}

// Take adds the request of a cursor, and advances the cursor.
func (v *urlVisitor) Take(c *requestCursor) error {
	v.addRequest(&c.request, c.url)
	return c.next()
}

// Finish visits the last URL.
func (v *urlVisitor) Finish() error {
	if len(v.url.Requests) > 0 {
		v.visit(&v.url)
		v.url.Requests = v.url.Requests[:0]
	}
	return nil
}

// A URLCount counts distinct URLs of a group. They must be added in the order of [Requests.EachURL]. The zero value
// counts none.
type URLCount struct {
	N    int64
	last int64
}

// AddURL adds a URL by its Number. Adding the last URL again has no effect.
func (c *URLCount) AddURL(number int64) {
	if number != c.last {
		c.N++
		c.last = number
	}
}

// runBlock is the approximate size of a block of a run in bytes.
const runBlock = 64 << 10

// A requestWriter writes requests in their order as blocks of a run. It writes only the bytes of each URL that
// differ from the URL before it.
type requestWriter struct {
	run   *extsort.Run
	block []byte
	last  []byte // the URL before, in this block
	facts facts  // the same
}

// facts are the counts of a request. A run stores only those that differ from the previous request.
type facts [13]uint64

// begin begins a run.
func (w *requestWriter) begin(run *extsort.Run) {
	w.run, w.block, w.last, w.facts = run, w.block[:0], w.last[:0], facts{}
}

// write writes a request.
func (w *requestWriter) write(q *Request, url []byte) error {
	shared := prefix.Shared(w.last, url)
	w.last = append(w.last[:shared], url[shared:]...)
	b := binary.AppendUvarint(w.block, uint64(shared))
	b = binary.AppendUvarint(b, uint64(len(url)-shared))
	b = append(b, url[shared:]...)
	differ, at := uint16(0), len(b)
	b = append(b, 0, 0)
	for i, n := range (facts{
		uint64(q.prefix), uint64(q.pathEnd), q.variant, uint64(q.site), uint64(q.Kind),
		uint64(q.Rows), uint64(q.Violations), uint64(q.Served), uint64(q.Failed), uint64(q.Bytes), uint64(q.Page), uint64(q.Missing), uint64(q.Errors),
	}) {
		if n != w.facts[i] {
			differ, w.facts[i] = differ|1<<i, n
			b = binary.AppendUvarint(b, n)
		}
	}
	binary.LittleEndian.PutUint16(b[at:], differ)
	if w.block = b; len(b) >= runBlock {
		return w.Finish()
	}
	return nil
}

// Take writes the request of a cursor, and advances the cursor.
func (w *requestWriter) Take(c *requestCursor) error {
	if err := w.write(&c.request, c.url); err != nil {
		return err
	}
	return c.next()
}

// Finish writes the block.
func (w *requestWriter) Finish() error {
	if len(w.block) == 0 {
		return nil
	}
	err := w.run.Write(w.block)
	w.block, w.last, w.facts = w.block[:0], w.last[:0], facts{}
	return err
}

// A requestCursor points to a request of a block.
type requestCursor struct {
	block   []byte // that follows
	url     []byte
	facts   facts
	request Request
	isDone  bool
	isBad   bool
}

var errRun = errors.New("the block of requests differs from what was written")

// Load moves the cursor to the first request of a block.
func (c *requestCursor) Load(block []byte) error {
	c.block, c.url, c.facts, c.isDone = block, c.url[:0], facts{}, false
	return c.next()
}

// Done reports whether the cursor is after the last request.
func (c *requestCursor) Done() bool { return c.isDone }

// Compare compares two requests.
func (c *requestCursor) Compare(o *requestCursor) int {
	return compareRequests(&c.request, &o.request, c.url, o.url)
}

// next moves the cursor on.
func (c *requestCursor) next() error {
	if len(c.block) == 0 {
		c.isDone = true
		return nil
	}
	shared, size := c.number(), c.number()
	if c.isBad || shared > uint64(len(c.url)) || size > uint64(len(c.block)) {
		return errRun
	}
	c.url = append(c.url[:shared], c.block[:size]...)
	c.block = c.block[size:]
	if len(c.block) < 2 {
		return errRun
	}
	differ := binary.LittleEndian.Uint16(c.block) & (1<<len(c.facts) - 1)
	for c.block = c.block[2:]; differ != 0; differ &= differ - 1 {
		c.facts[bits.TrailingZeros16(differ)] = c.number()
	}
	q, f, before := &c.request, &c.facts, c.request.prefix
	q.prefix, q.pathEnd, q.variant, q.site, q.Kind = uint16(f[0]), uint16(f[1]), f[2], engine.SiteID(f[3]), int32(f[4])
	q.Page, q.RowCounts = uint32(f[10]), RowCounts{int64(f[5]), int64(f[6]), int64(f[7]), int64(f[8]), int64(f[9]), uint32(f[11]), uint32(f[12])}
	if c.isBad || int(q.pathEnd) > len(c.url) || q.prefix > q.pathEnd {
		return errRun
	}
	if shared <= uint64(q.prefix) || q.prefix != before { // or the origin equals the one before
		q.origin = xxh3.Hash(c.url[:q.prefix])
	}
	return nil
}

// number reads a number.
func (c *requestCursor) number() uint64 {
	n, size := binary.Uvarint(c.block)
	if size <= 0 {
		c.isBad, c.block = true, nil
		return 0
	}
	c.block = c.block[size:]
	return n
}
