package aggregate

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"iter"
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
	all   []Request
	text  []byte   // the URLs of all requests
	slots []uint32 // a hash table of 1 + index of all, linearly probed, see tagOf; its length is a power of two; 0 is free
	seed  uint64   // affects only the slots, so that URLs with colliding slots cannot be constructed

	mostRequests, mostText int
	spill                  *extsort.Spill
	writer                 requestWriter
	keys, spare            []sortKey // of sorted
	touched                byte
}

// A Request counts the rows of one URL and one kind.
type Request struct {
	RowCounts
	Kind int32
	Page uint32 // the smallest size passed to AddPage; 0 means unknown

	key     uint64
	variant uint64
	origin  uint64 // hash of the origin
	site    engine.SiteID
	at      uint32 // where the URL begins in Requests.text
	size    uint16 // of the URL
	prefix  uint16 // bytes of the URL before its path
	pathEnd uint16 // where a query or fragment begins, or the URL ends
}

// AddPage adds the size of a page. The smallest size of a URL is kept; 0 means unknown.
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

	Bytes int64 // of the responses, as far as they are known

	Missing, Errors uint32 // parts of Failed: status 404 or 410, and 5xx; saturating at 1<<32-1
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
	URL    []byte // with a normalised origin, at most MaxURL bytes
	Prefix int    // bytes before the path
	Site   engine.SiteID

	// Variant distinguishes URLs that are stored alike, because the log spells their origins differently or they
	// are longer than MaxURL. It is 0 for a URL that is stored as logged.
	Variant uint64
}

// MaxURL is the maximum number of bytes that are stored of a URL.
const MaxURL = 4096

// The memory of requests: a Request with its slots and two sort keys, and the text of a usual URL.
const (
	requestBytes = 140
	textBytes    = 80

	leastRequests = 1 << 10
	indexBits     = 22 // of a slot
	mostRequests  = 1<<indexBits - 2
)

// NewRequests returns empty Requests that take approximately that much memory; 0 means DefaultMemory. The temporary
// file is created in dir when memory is full; "" means the default directory. Use Close.
func NewRequests(memory int64, dir string) *Requests {
	if memory <= 0 {
		memory = DefaultMemory
	}
	most := int(min(mostRequests, max(leastRequests, memory/(requestBytes+textBytes))))
	slots := 1 << bits.Len(uint(most+most/2))
	// Allocate everything at once: unused parts take no physical memory, and growing by copying takes time.
	return &Requests{
		all: make([]Request, 0, most), text: make([]byte, 0, max(most*textBytes, 2*MaxURL)), slots: make([]uint32, slots), seed: rand.Uint64(),
		mostRequests: most, mostText: max(most*textBytes, 2*MaxURL), spill: extsort.NewSpill(dir),
	}
}

// Close removes the temporary file. Further calls do nothing.
func (r *Requests) Close() { r.spill.Close() }

// Spilled reports whether some requests were written to disk.
func (r *Requests) Spilled() bool { return r.spill.Runs() > 0 }

// Probe reads the slot of a key. Its result has no meaning. If a caller probes several keys before it looks them
// up, the waits for memory overlap.
func (r *Requests) Probe(key uint64) uint32 { return r.slots[r.slot(key)] }

// Find returns the request of a key, or nil if it is not in memory; then use AddRequest. The pointer is valid until
// a request is added.
func (r *Requests) Find(key uint64) *Request {
	mask := uint64(len(r.slots) - 1)
	for i := r.slot(key); ; i = (i + 1) & mask {
		n := r.slots[i]
		if n == 0 {
			return nil
		}
		if (n^uint32(key))>>indexBits == 0 { // skips most other requests without reading them, which waits for memory
			if found := &r.all[n&(1<<indexBits-1)-1]; found.key == key {
				return found
			}
		}
	}
}

// AddRequest adds a request without rows, after Find did not find it. The pointer is valid until the next one is
// added.
func (r *Requests) AddRequest(key uint64, kind int32, p Place) (*Request, error) {
	if len(r.all) == r.mostRequests || len(r.text)+len(p.URL) > r.mostText {
		if err := r.writeRun(); err != nil {
			return nil, err
		}
	}
	q := Request{key: key, Kind: kind, variant: p.Variant, site: p.Site, at: uint32(len(r.text)), size: uint16(len(p.URL)), prefix: uint16(p.Prefix)}
	rest := p.URL[p.Prefix:]
	n := len(rest)
	if i := bytes.IndexByte(rest, '?'); i >= 0 {
		n = i
	}
	if i := bytes.IndexByte(rest[:n], '#'); i >= 0 {
		n = i
	}
	q.pathEnd = uint16(p.Prefix + n)
	if n := len(r.all); n > 0 && string(r.originOf(&r.all[n-1])) == string(p.URL[:p.Prefix]) {
		q.origin = r.all[n-1].origin
	} else {
		q.origin = xxh3.Hash(p.URL[:p.Prefix])
	}
	r.text = append(r.text, p.URL...)
	r.all = append(r.all, q)
	mask := uint64(len(r.slots) - 1)
	i := r.slot(key)
	for r.slots[i] != 0 {
		i = (i + 1) & mask
	}
	r.slots[i] = uint32(len(r.all)) | uint32(key)&^(1<<indexBits-1)
	return &r.all[len(r.all)-1], nil
}

// slot returns where the search for a key begins.
func (r *Requests) slot(key uint64) uint64 {
	return (key ^ r.seed) * 0x9E3779B97F4A7C15 >> (64 - bits.TrailingZeros(uint(len(r.slots))))
}

func (r *Requests) url(q *Request) []byte      { return r.text[q.at:][:q.size] }
func (r *Requests) originOf(q *Request) []byte { return r.text[q.at:][:q.prefix] }

// sorted returns the indexes in all of the requests, in the order of [compareRequests]. They are valid until the next call.
func (r *Requests) sorted() []sortKey {
	if len(r.all) > len(r.keys) {
		r.keys, r.spare = make([]sortKey, len(r.all)), make([]sortKey, len(r.all))
	}
	s, streaks, keys := requestSorter{r}, r.spare[:0], r.keys[:0]
	for i := range r.all {
		if i == 0 || r.all[i].origin != r.all[i-1].origin {
			streaks = append(streaks, sortKey{r.all[i].origin, uint32(i)})
		}
	}
	slices.SortFunc(streaks, func(a, b sortKey) int { return cmp.Compare(a.eight, b.eight) })
	for _, k := range streaks {
		for ; int(k.n) < len(r.all) && r.all[k.n].origin == k.eight; k.n++ {
			keys = append(keys, k)
		}
	}
	if bytes.IndexByte(r.text, 0) >= 0 { // eightAt uses 0 for the end of a path
		s.compareAll(keys)
	} else {
		eachEqual(keys, func(site []sortKey) { s.sortFrom(site, 0) })
	}
	return keys
}

// A sortKey holds the eight bytes by which a request is currently sorted.
type sortKey struct {
	eight uint64
	n     uint32 // index of Requests.all
}

// A requestSorter sorts the requests of a site by the first eight bytes after their origins, equal ones by the next
// eight, and so on. Comparing whole URLs of a site would read many bytes that are the same in all of them.
type requestSorter struct{ *Requests }

// fewKeys is the number of keys up to which whole URLs are compared, or insertion is used.
const fewKeys = 24

// sortFrom sorts requests of one origin that are equal up to a position after the origin.
func (s requestSorter) sortFrom(keys []sortKey, at int) {
	if len(keys) < fewKeys {
		s.compareAll(keys)
		return
	}
	for i := range keys {
		keys[i].eight = s.eightAt(&s.all[keys[i].n], at)
	}
	s.sortEight(keys)
	eachEqual(keys, func(same []sortKey) {
		if q := &s.all[same[0].n]; at+8 > int(q.size-q.prefix) { // the URLs have no more bytes
			s.compareAll(same)
			return
		}
		s.sortFrom(same, at+8)
	})
}

// eachEqual calls sort for each group of several keys with equal eight bytes.
func eachEqual(keys []sortKey, sort func([]sortKey)) {
	for from := 0; from < len(keys); {
		to := from + 1
		for to < len(keys) && keys[to].eight == keys[from].eight {
			to++
		}
		if to-from > 1 {
			sort(keys[from:to])
		}
		from = to
	}
}

// sortEight sorts keys by their eight bytes: by the first byte that differs, and then recursively by the next.
func (s requestSorter) sortEight(keys []sortKey) {
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
	var at [256]uint32 // by byte: the number of keys with it, then the position of the next of them
	for i := range keys {
		at[byte(keys[i].eight>>shift)]++
	}
	sum := uint32(0)
	for b, n := range at {
		at[b], sum = sum, sum+n
	}
	for _, k := range keys {
		n := &at[byte(k.eight>>shift)]
		s.spare[*n] = k
		*n++
	}
	copy(keys, s.spare)
	from := uint32(0)
	for _, to := range at {
		s.sortEight(keys[from:to])
		from = to
	}
}

// eightAt returns eight bytes as a number, from a position after the origin of a request: in its path, a zero byte,
// and the rest of the URL. Missing bytes are zero.
func (s requestSorter) eightAt(q *Request, at int) uint64 {
	path, rest := s.text[int(q.at)+int(q.prefix):][:q.pathEnd-q.prefix], s.text[int(q.at)+int(q.pathEnd):][:q.size-q.pathEnd]
	if at+8 <= len(path) {
		return binary.BigEndian.Uint64(path[at:])
	}
	var text [8]byte
	if at > len(path) {
		copy(text[:], rest[min(at-len(path)-1, len(rest)):])
	} else if n := copy(text[:], path[at:]) + 1; n < 8 {
		copy(text[n:], rest)
	}
	return binary.BigEndian.Uint64(text[:])
}

// compareAll sorts requests by whole URLs.
func (s requestSorter) compareAll(keys []sortKey) {
	slices.SortFunc(keys, func(a, b sortKey) int {
		x, y := &s.all[a.n], &s.all[b.n]
		return compareRequests(x, y, s.url(x), s.url(y))
	})
}

// compareRequests orders requests by origin, path and the rest. So requests for one URL are neighbours, and so are
// the URLs with one path, and the paths in one directory.
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

// inOrder yields all requests and their URLs in the order of [compareRequests]. It reads ahead, so that the waits
// for memory overlap.
func (r *Requests) inOrder() iter.Seq2[*Request, []byte] {
	return func(yield func(*Request, []byte) bool) {
		for some := range slices.Chunk(r.sorted(), 32) {
			for _, k := range some {
				if q := &r.all[k.n]; q.size > 0 {
					r.touched += r.text[q.at] // used, so that the compiler keeps the read
				}
			}
			for _, k := range some {
				if q := &r.all[k.n]; !yield(q, r.url(q)) {
					return
				}
			}
		}
	}
}

// writeRun writes all requests to disk, and forgets them.
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
	r.all, r.text = r.all[:0], r.text[:0]
	clear(r.slots)
	return nil
}

// A URL is one visit of [Requests.EachURL].
type URL struct {
	Text     []byte
	Prefix   int // bytes before the path
	PathEnd  int // where a query or fragment begins, or the URL ends
	Site     engine.SiteID
	Number   int64     // of the URL, from 1
	Requests []Request // for each of its kinds, by ascending Kind

	variant uint64
}

// EachURL visits all URLs, each once with all its requests. URLs of one origin follow one another, and so do URLs
// with one path, and in one directory. The argument of visit is valid until visit returns. EachURL may be called
// again, but nothing may be added after the first call.
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
		r.all, r.text, r.slots, r.keys, r.spare = nil, nil, nil, nil, nil
	}
	begin := func(run *extsort.Run) extsort.Output[*requestCursor] {
		w := &requestWriter{}
		w.begin(run)
		return w
	}
	return extsort.Merge(r.spill, extsort.MaxFan, func() *requestCursor { return &requestCursor{} }, begin, to)
}

// A urlVisitor combines the requests of each URL.
type urlVisitor struct {
	visit func(*URL)
	url   URL
}

// addRequest adds the next request in the order.
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

// Take adds the request of a cursor, and moves it on.
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

// A URLCount counts the URLs of a group, which must come in the order of [Requests.EachURL]. The zero value is 0.
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

// facts are the numbers of a request. A run stores only those that differ from the previous request.
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

// Take writes the request of a cursor, and moves it on.
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

var errRun = errors.New("the block of requests is not what was written")

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
