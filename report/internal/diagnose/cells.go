package diagnose

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"iter"
	"maps"
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/robobatch/robobatch/internal/extsort"
	"github.com/robobatch/robobatch/internal/prefix"
)

// NoStatus is the value for an unknown status.
const NoStatus = 0

// Impostor marks the number of a crawler for requests of its impostors.
const Impostor = 1 << 15

// Limits of counts.
const (
	cellBytes   = 64      // size of a cell with its slots and its index in the order
	leastCells  = 1 << 10 // in memory
	mostEntries = 1 << 22
	runBlock    = 64 << 10 // bytes of a run's block
	longSegment = 128      // bytes of a directory name; longer ones are counted with the parent directory
)

// A key identifies a cell. Cells of a directory are per hour. Cells of a robots.txt are per second, size and client.
type key struct {
	text   uint32 // index of the directory
	client uint32 // hash of a client that requested robots.txt, or bucket of one with an error; 0 otherwise
	slot   int64  // hours or seconds since 1970
	size   uint32 // size of a robots.txt that was sent
	agent  uint16
	status uint16 // status code; isAsset and isImage may be set
}

// Marks of the status of a request for a resource of a page.
const (
	isAsset = 1 << 15
	isImage = 1 << 14 // also set if it is not needed for the layout
)

// A cell counts requests. First and last are in seconds since the beginning of its slot.
type cell struct {
	n           uint32
	first, last uint16
}

// add adds the requests of another cell.
func (c *cell) add(o cell) {
	if c.n == 0 {
		*c = o
		return
	}
	c.n, c.first, c.last = c.n+o.n, min(c.first, o.first), max(c.last, o.last)
}

// A record is a cell with its key and the text of its directory: the origin, "/" and up to two directories.
type record struct {
	text []byte
	key  key
	cell cell
}

// Counts counts the requests of a log by directory, hour, crawler and status, and each response to a request for
// robots.txt. The counts are exact for any memory and order of rows: cells that do not fit into memory go to a
// temporary file. It is for one goroutine. Use Close.
//
// Cells are found by a 64-bit hash of the key: the probability that two of n cells collide is n²/2⁶⁵.
type Counts struct {
	texts map[string]uint32
	cells []entry
	slots []uint32 // a hash table of 1 + index of cells, linearly probed; its length is a power of two; 0 is free
	seed  uint64   // of the hashes: an attacker cannot choose keys with equal slots
	most  int
	room  int // maximum number of cells with the memory left by the texts
	spill *extsort.Spill

	buffer []byte
	dates  [2]int64 // first and last time of all rows, in seconds
}

// An entry is a cell in memory.
type entry struct {
	hash uint64
	key  key
	cell cell
}

// isEmpty reports whether no row was added. Rows without a time are not added.
func (c *Counts) isEmpty() bool { return len(c.texts)+c.spill.Runs() == 0 }

// New returns counts that take about memory bytes. The temporary file is in dir; "" is the system's default.
func New(memory int64, dir string) *Counts {
	most := int(max(leastCells, min(mostEntries, memory/cellBytes)))
	return &Counts{texts: map[string]uint32{}, cells: make([]entry, 0, most), slots: make([]uint32, 1<<bits.Len(uint(most+most/2))), seed: rand.Uint64(), most: most, spill: extsort.NewSpill(dir)}
}

// Close removes the temporary file. Further calls do nothing.
func (c *Counts) Close() { c.spill.Close() }

// Limits of parameters.
const (
	mostParameters = 8  // per URL, the first ones
	mostExamples   = 20 // URLs per parameter, used to test a rule
	longParameter  = 64 // maximum length of a name in bytes; longer names are not counted
)

// clientParts is the number of buckets into which clients with errors are divided by a hash of their addresses. If all
// errors are in one bucket, they come from one client, or from few. Two clients share a bucket with a probability of 1
// in clientParts.
const clientParts = 16

// sizedName precedes the directory in the text of cells that count pages by size. It cannot occur in a URL of a log.
const sizedName = "/\x01"

// A Request is a request for a page.
type Request struct {
	Origin []byte
	Path   []byte // including the query
	Agent  uint16
	Status int64
	Client uint32 // hash of the client address
	At     int64  // microseconds
	Size   uint32 // size of the page that a search crawler got; 0 means none
	Named  bool   // counts for each parameter of its query: a crawler may make it
}

// AddPage counts a request for a URL other than robots.txt. It does not keep r. The error is about the temporary file.
func (c *Counts) AddPage(r *Request) error {
	end, asset := directoryOf(r.Path)
	c.buffer = append(append(c.buffer[:0], r.Origin...), r.Path[:end]...)
	if end == 0 {
		c.buffer = append(c.buffer, '/')
	}
	k := key{agent: r.Agent, status: statusOf(r.Status)}
	status := k.status
	if status/100 == 5 {
		k.client = 1 + r.Client%clientParts
	}
	k.status |= asset
	err := c.addAt(k, r.At)
	if err == nil && r.Size > 0 && end > 0 && asset == 0 {
		c.buffer = append(append(append(c.buffer[:0], r.Origin...), sizedName...), r.Path[:end]...)
		err = c.addAt(key{agent: r.Agent, status: 200, size: uint32(bucketOf(r.Size))}, r.At)
	}
	if err != nil || !r.Named {
		return err
	}
	for name := range pairs(r.Path) {
		c.buffer = append(append(append(c.buffer[:0], r.Origin...), "/?"...), name...)
		if err := c.addAt(key{agent: r.Agent, status: status}, r.At); err != nil {
			return err
		}
	}
	return nil
}

// txtName follows the origin in the text of cells of a robots.txt.
const txtName = "/robots.txt"

// AddTxt counts a response to a client's request for the robots.txt of an origin. size is that of the body in bytes, 0
// if unknown. at is in microseconds. The error is about the temporary file.
func (c *Counts) AddTxt(origin []byte, agent uint16, status, size int64, client uint32, at int64) error {
	c.buffer = append(append(c.buffer[:0], origin...), txtName...)
	second := floorDiv(at, 1e6)
	return c.add(key{slot: second, agent: agent, status: statusOf(status), size: uint32(min(max(0, size), 1<<32-1)), client: client}, cell{n: 1}, second)
}

// addAt counts a request in an hour for the text in c.buffer. The time is in microseconds.
func (c *Counts) addAt(k key, at int64) error {
	second := floorDiv(at, 1e6)
	k.slot = floorDiv(second, 3600)
	offset := uint16(second - k.slot*3600)
	return c.add(k, cell{1, offset, offset}, second)
}

// add adds a cell for the text in c.buffer. second is the time of its requests. If the memory is full, it writes all
// cells to disk.
func (c *Counts) add(k key, one cell, second int64) error {
	if c.isEmpty() {
		c.dates = [2]int64{second, second}
	}
	c.dates = [2]int64{min(c.dates[0], second), max(c.dates[1], second)}
	hash := xxh3.HashSeed(c.buffer, c.seed^(uint64(k.slot)*0x9E3779B97F4A7C15)^(uint64(k.agent)<<48|uint64(k.status)<<32|uint64(k.size))*0xC2B2AE3D27D4EB4F^uint64(k.client)*0xD6E8FEB86659FD93)
	mask := uint64(len(c.slots) - 1)
	i := hash & mask
	for ; c.slots[i] != 0; i = (i + 1) & mask {
		if e := &c.cells[c.slots[i]-1]; e.hash == hash {
			e.cell.add(one)
			return nil
		}
	}
	text, known := c.texts[string(c.buffer)]
	if !known {
		text = uint32(len(c.texts))
		c.texts[string(c.buffer)] = text
		c.room += 1 + len(c.buffer)/cellBytes
	}
	k.text = text
	c.cells = append(c.cells, entry{hash, k, one})
	if c.slots[i] = uint32(len(c.cells)); len(c.cells)+c.room >= c.most {
		return c.writeRun()
	}
	return nil
}

// floorDiv divides and rounds down. by is positive.
func floorDiv(n, by int64) int64 {
	if n < 0 {
		return -((by - 1 - n) / by)
	}
	return n / by
}

// statusOf returns the status of a key; NoStatus if it is unknown.
func statusOf(status int64) uint16 {
	if status < 100 || status > 999 {
		return NoStatus
	}
	return uint16(status)
}

// assets maps the file name extensions of resources of a page to the marks of their requests.
var assets = map[string]uint16{
	"css": isAsset, "js": isAsset, "mjs": isAsset, "json": isAsset, "woff": isAsset, "woff2": isAsset, "ttf": isAsset, "otf": isAsset, "eot": isAsset,
	"map": isAsset | isImage, "png": isAsset | isImage, "jpg": isAsset | isImage, "jpeg": isAsset | isImage, "gif": isAsset | isImage,
	"svg": isAsset | isImage, "webp": isAsset | isImage, "avif": isAsset | isImage, "ico": isAsset | isImage, "bmp": isAsset | isImage,
}

// directoryOf returns the end of the directory by which a path is counted: its second directory, or else the first one
// or the root; 0 if the path does not begin with "/". asset has the marks of a resource by its extension; 0 for a
// page.
func directoryOf(path []byte) (end int, asset uint16) {
	if len(path) == 0 || path[0] != '/' {
		return 0, 0
	}
	for _, b := range []byte("?#") {
		if i := bytes.IndexByte(path, b); i >= 0 {
			path = path[:i]
		}
	}
	end = 1
	for range 2 {
		i := bytes.IndexByte(path[end:], '/')
		if i < 0 || i > longSegment {
			break
		}
		end += i + 1
	}
	last := path[max(0, len(path)-6):]
	dot := bytes.LastIndexByte(last, '.')
	if dot < 0 || bytes.IndexByte(last[dot:], '/') > 0 {
		return end, 0
	}
	var name [5]byte
	n := copy(name[:], last[dot+1:])
	for i, b := range name[:n] {
		if b >= 'A' && b <= 'Z' {
			name[i] = b | 0x20
		}
	}
	return end, assets[string(name[:n])]
}

// inOrder yields the cells by text and key. First it groups them by text, because comparing few cells of one text reads
// little memory.
func (c *Counts) inOrder() iter.Seq[*record] {
	texts := slices.Sorted(maps.Keys(c.texts))
	rank, ends := make([]uint32, len(texts)), make([]uint32, len(texts)+1)
	for i, text := range texts {
		rank[c.texts[text]] = uint32(i)
	}
	for i := range c.cells {
		ends[rank[c.cells[i].key.text]+1]++
	}
	for i := range texts { // now the beginning of each text, and below its end
		ends[i+1] += ends[i]
	}
	order := make([]uint32, len(c.cells))
	for i := range c.cells {
		at := &ends[rank[c.cells[i].key.text]]
		order[*at] = uint32(i)
		*at++
	}
	return func(yield func(*record) bool) {
		var r record
		from := uint32(0)
		for i, text := range texts {
			some := order[from:ends[i]]
			slices.SortFunc(some, func(a, b uint32) int { return c.cells[a].key.compare(&c.cells[b].key) })
			for _, n := range some {
				r = record{append(r.text[:0], text...), c.cells[n].key, c.cells[n].cell}
				if !yield(&r) {
					return
				}
			}
			from = ends[i]
		}
	}
}

// compare compares the keys of cells of one directory.
func (k *key) compare(o *key) int {
	return cmp.Or(cmp.Compare(k.slot, o.slot), cmp.Compare(k.agent, o.agent), cmp.Compare(k.status, o.status), cmp.Compare(k.size, o.size), cmp.Compare(k.client, o.client))
}

// writeRun writes all cells in memory to disk as a sorted run, and empties the table.
func (c *Counts) writeRun() error {
	run, err := c.spill.Begin()
	if err != nil {
		return err
	}
	w := &writer{run: run}
	for r := range c.inOrder() {
		if err := w.writeCell(r); err != nil {
			return err
		}
	}
	if err := w.Finish(); err != nil {
		return err
	}
	run.End()
	clear(c.slots)
	clear(c.texts)
	c.cells, c.room = c.cells[:0], 0
	return nil
}

// eachCell visits each cell once, in the order of directory, slot, crawler, status, size and client. Nothing may be
// added afterwards, but eachCell may be called again. The record is valid until visit returns.
func (c *Counts) eachCell(visit func(*record)) error {
	if c.spill.Runs() == 0 {
		for r := range c.inOrder() {
			visit(r)
		}
		return nil
	}
	if len(c.cells) > 0 {
		if err := c.writeRun(); err != nil {
			return err
		}
	}
	return extsort.Merge(c.spill, extsort.MaxFan, func() *cursor { return &cursor{} }, func(run *extsort.Run) extsort.Output[*cursor] { return &writer{run: run} }, &visitor{visit: visit})
}

// A writer writes cells as blocks of a run. For each text, it writes only the bytes that differ from the previous text.
type writer struct {
	run   *extsort.Run
	block []byte
	last  []byte
}

// writeCell adds a cell to the block, and writes the block if it is full.
func (w *writer) writeCell(r *record) error {
	shared := prefix.Shared(w.last, r.text)
	w.last = append(w.last[:shared], r.text[shared:]...)
	k := &r.key
	for _, n := range [...]int64{int64(shared), int64(len(r.text) - shared), k.slot, int64(k.agent), int64(k.status), int64(k.size), int64(k.client), int64(r.cell.n), int64(r.cell.first), int64(r.cell.last)} {
		w.block = binary.AppendVarint(w.block, n)
	}
	if w.block = append(w.block, r.text[shared:]...); len(w.block) >= runBlock {
		return w.Finish()
	}
	return nil
}

// Take writes the cell of a cursor, and advances the cursor. Equal cells of other runs are added when they are visited.
func (w *writer) Take(c *cursor) error {
	if err := w.writeCell(&c.record); err != nil {
		return err
	}
	return c.next()
}

// Finish writes the block, if it has cells.
func (w *writer) Finish() error {
	if len(w.block) == 0 {
		return nil
	}
	err := w.run.Write(w.block)
	w.block, w.last = w.block[:0], w.last[:0]
	return err
}

// A cursor points to a cell of a block.
type cursor struct {
	block  []byte // the following block
	record record
	isDone bool
}

var errRun = errors.New("the block of cells is not what was written")

// Load moves the cursor to the first cell of a block.
func (c *cursor) Load(block []byte) error {
	c.block, c.record.text, c.isDone = block, c.record.text[:0], false
	return c.next()
}

// Done reports whether the cursor is after the last cell.
func (c *cursor) Done() bool { return c.isDone }

// Compare compares two cells.
func (c *cursor) Compare(o *cursor) int {
	return cmp.Or(bytes.Compare(c.record.text, o.record.text), c.record.key.compare(&o.record.key))
}

// next reads the next cell of the block. At the end of the block, the cursor is done. The error is errRun.
func (c *cursor) next() error {
	if len(c.block) == 0 {
		c.isDone = true
		return nil
	}
	var n [10]int64 // in the order of write
	for i := range n {
		number, size := binary.Varint(c.block)
		if size <= 0 {
			return errRun
		}
		n[i], c.block = number, c.block[size:]
	}
	if uint64(n[0]) > uint64(len(c.record.text)) || uint64(n[1]) > uint64(len(c.block)) {
		return errRun
	}
	c.record.text, c.block = append(c.record.text[:n[0]], c.block[:n[1]]...), c.block[n[1]:]
	c.record.key = key{slot: n[2], agent: uint16(n[3]), status: uint16(n[4]), size: uint32(n[5]), client: uint32(n[6])}
	c.record.cell = cell{uint32(n[7]), uint16(n[8]), uint16(n[9])}
	return nil
}

// A visitor adds up equal cells, and visits them.
type visitor struct {
	visit func(*record)
	one   record
}

// Take adds the cell of a cursor to the last one if both have the same key; otherwise it visits the last one first. It
// advances the cursor.
func (v *visitor) Take(c *cursor) error {
	r := &c.record
	if v.one.cell.n > 0 && v.one.key == r.key && bytes.Equal(v.one.text, r.text) {
		v.one.cell.add(r.cell)
		return c.next()
	}
	if v.one.cell.n > 0 {
		v.visit(&v.one)
	}
	v.one.text, v.one.key, v.one.cell = append(v.one.text[:0], r.text...), r.key, r.cell
	return c.next()
}

// Finish visits the last cell.
func (v *visitor) Finish() error {
	if v.one.cell.n > 0 {
		v.visit(&v.one)
		v.one.cell.n = 0
	}
	return nil
}
