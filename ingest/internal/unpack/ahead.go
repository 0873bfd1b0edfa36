package unpack

import (
	"errors"
	"io"
	"sync/atomic"

	"github.com/robobatch/robobatch/ingest/internal/fault"
	"github.com/robobatch/robobatch/internal/panics"
	"github.com/robobatch/robobatch/internal/storage"
)

const (
	// TextSize is the amount of unpacked text in a buffer of [Ahead]. One buffer becomes one batch. With 512 KiB, less
	// stays in the second-level cache until it is evaluated: runs without the column url take a sixth more time if URLs
	// are grouped by host, and a tenth more in random order (BenchmarkLong, two workers).
	TextSize = 256 << 10

	// maxTexts is the maximum number of buffers that a piece fills before it is read: 8 MiB, the text of a frame from
	// pzstd. A longer piece continues when it is read.
	maxTexts = 32

	// maxTextsInTurn is the maximum number of filled buffers of the piece being read. On two cores, a limit of three makes
	// a run without the column url an eighth slower, because the unpacker waits; sixteen are not faster (BenchmarkLong).
	maxTextsInTurn = 8
)

// A piece is a part of an input that can be unpacked separately: some complete zstd frames, or the whole input.
type piece struct {
	from   *unpacker
	last   bool        // last piece of its input
	closed bool        // Open must open the input
	texts  chan aText  // the text, in order, closed at its end; nil if it is read directly from the unpacker
	fault  error       // set once texts is closed: io.EOF, or why unpacking ended
	inTurn atomic.Bool // the piece is being read
}

// An aText is text of a piece: data from Headroom on. The text before the index mark is verified; if mark is 0, the
// verified part does not grow.
type aText struct {
	data []byte
	mark int
}

// An unpacker unpacks one piece after the other. The reader returns its buffers.
type unpacker struct {
	text textReader
	free chan []byte
	made int
}

// Ahead unpacks several pieces of its inputs in parallel, ahead of its reader. It returns their text in order, with the
// faults that a textReader would report. Files of zstd frames are divided into pieces; any other packed file is one
// piece. Inputs that are not packed or not regular files are read directly, in order.
//
// Memory is bounded: the number of unpackers is limited, and each has a decompressor and maxTexts buffers.
type Ahead struct {
	window  int64 // largest zstd window; 0 is the default
	total   *atomic.Int64
	names   []string
	workers int
	Least   int64 // minimum packed bytes of a piece; tests set a small one before the first Open

	pieces chan *piece    // in order
	idle   chan *unpacker // unpackers without a piece
	all    []*unpacker
	quit   chan struct{} // closed by Release
	work   panics.Group  // running goroutines
	failed error         // a panic of plan, set once pieces is closed

	now      *piece   // being read; nil between inputs
	buffer   []byte   // last buffer from now.texts; nil if completely read
	at       int      // position of the unread bytes in buffer
	mark     int      // mark of buffer, see aText
	spare    [][]byte // buffers that are not returned to the unpacker yet
	anyBytes bool     // the input has yielded text

	parts verifiedParts // verified parts of the text returned so far
}

// newAhead returns a reader of these inputs that unpacks up to workers pieces in parallel. It starts with the first
// call of Open.
func newAhead(names []string, workers int, total *atomic.Int64) *Ahead {
	return &Ahead{total: total, names: names, workers: workers, Least: leastPiece}
}

// plan divides an input into pieces and queues them. It waits for idle unpackers, and returns early after Release.
func (a *Ahead) plan(name string) {
	if f, p := openPacked(name); p == Zstd && !storage.IsRemote(name) { // a remote file would be read twice
		a.planFrames(f)
	} else if u := a.idleUnpacker(); u == nil {
		return
	} else if p != None {
		u.text.start(f, f)
		u.text.size = SizeOf(f)
		u.text.setType(Type{Packing: p})
		a.unpack(&piece{from: u, last: true})
	} else {
		a.pieces <- &piece{from: u, last: true, closed: true}
	}
}

// openPacked opens a file if it is a regular file packed as zstd, gzip or bzip2. Otherwise, or after an error, it
// returns no file, and None.
func openPacked(name string) (storage.File, Packing) {
	p := storage.Of(name)
	info, err := p.Stat(name)
	if name == fault.Stdin || err != nil || info.Dir || info.Size < 0 {
		return nil, None
	}
	f, err := p.Open(name)
	if err != nil {
		return nil, None
	}
	head, _ := readHead(f) // the first Read returns an error again
	if p := Detect(head).Packing; p == Zstd || p == Gzip || p == Bzip2 {
		return f, p
	}
	f.Close()
	return nil, None
}

// planFrames divides a zstd file into pieces and queues them. The last piece closes the file.
func (a *Ahead) planFrames(f storage.File) {
	scanner := frameScanner{file: f, least: a.Least}
	if info, err := f.Info(); err == nil {
		scanner.size = info.Size
	}
	for start := int64(0); start != wholeFile; {
		u := a.idleUnpacker()
		if u == nil {
			f.Close()
			return
		}
		end := scanner.piece(start)
		section := io.NewSectionReader(f, start, end-start)
		if end == wholeFile {
			u.text.start(section, f)
			u.text.size = scanner.size - start
		} else {
			u.text.start(section, nil)
			u.text.size = end - start
		}
		u.text.setType(Type{Packing: Zstd})
		a.unpack(&piece{from: u, last: end == wholeFile})
		start = end
	}
}

// idleUnpacker waits for an idle unpacker. It returns nil after Release.
func (a *Ahead) idleUnpacker() *unpacker {
	select {
	case <-a.quit:
		return nil
	default:
	}
	select {
	case u := <-a.idle:
		return u
	case <-a.quit:
		return nil
	}
}

// unpack starts to unpack a piece in a goroutine, and queues the piece. It does not block: the queue has space for a
// piece of each unpacker.
func (a *Ahead) unpack(p *piece) {
	p.texts = make(chan aText, maxTexts)
	a.work.Go(func() error {
		defer close(p.texts)
		if err := panics.Catch(func() error {
			for p.fault == nil {
				if buf := p.from.buffer(p, a.quit); buf == nil {
					p.fault = errStopped
				} else {
					p.texts <- p.from.fill(p, buf) // does not block: there is space for all buffers
				}
			}
			return nil
		}); err != nil {
			p.fault = err
		}
		return nil
	})
	a.pieces <- p
}

// errStopped is the fault of a piece that is no longer needed.
var errStopped = errors.New("stopped")

// fill fills a buffer with text of a piece, and sets p.fault at its end. The text readers stop at the end of each
// frame.
func (u *unpacker) fill(p *piece, buf []byte) aText {
	before := *u.text.verified()
	n := 0
	for n < TextSize && p.fault == nil {
		var m int
		m, p.fault = u.text.readRaw(buf[Headroom+n:])
		n += m
	}
	text := aText{data: buf[:Headroom+n]}
	if now := u.text.verified(); now.bytes > before.bytes {
		text.mark = Headroom + int(now.bytes-before.given)
	}
	return text
}

// buffer returns a free buffer, or a new one while there are few; otherwise it waits for a buffer. It returns nil
// after Release.
func (u *unpacker) buffer(p *piece, quit <-chan struct{}) []byte {
	if len(u.free) == 0 && (u.made < maxTextsInTurn || u.made < maxTexts && !p.inTurn.Load()) {
		u.made++
		return make([]byte, Headroom+TextSize)
	}
	select {
	case buf := <-u.free:
		return buf
	case <-quit:
		return nil
	}
}

// Open opens the next input. The first call starts the goroutines.
func (a *Ahead) Open(name string, stdin io.Reader) error {
	if a.all == nil {
		a.pieces, a.idle, a.quit = make(chan *piece, a.workers), make(chan *unpacker, a.workers), make(chan struct{})
		for range a.workers {
			u := &unpacker{text: textReader{total: a.total, zstd: zstdReader{most: a.window}}, free: make(chan []byte, maxTexts)}
			a.all = append(a.all, u)
			a.idle <- u
		}
		a.work.Go(func() error {
			defer close(a.pieces)
			a.failed = panics.Catch(func() error {
				for _, name := range a.names {
					a.plan(name)
				}
				return nil
			})
			return nil
		})
	}
	a.anyBytes, a.parts, a.mark = false, verifiedParts{}, 0
	a.nextPiece()
	if a.now.closed {
		return a.now.from.text.Open(name, stdin)
	}
	return nil
}

// nextPiece moves to the next piece, for which it may wait.
func (a *Ahead) nextPiece() {
	if a.now = <-a.pieces; a.now == nil {
		panic(a.failed)
	}
	a.now.inTurn.Store(true)
}

// Read reads text, see Texts. Text comes from at most one buffer.
func (a *Ahead) Read(dst []byte) (int, error) {
	if a.now.texts == nil {
		return a.now.from.text.Read(dst)
	}
	if err := a.fill(); err != nil {
		return 0, err
	}
	n := copy(dst, a.buffer[a.at:])
	a.noteGiven(n)
	if a.at == len(a.buffer) {
		a.giveBack(a.buffer)
		a.buffer = nil
	}
	return n, nil
}

// Take returns the next buffer in exchange for buf, see Taker. It has no buffer for an input that is read directly, or
// after a fault.
func (a *Ahead) Take(buf []byte) (data []byte, start int, ok bool) {
	if a.now.texts == nil || a.fill() != nil {
		return nil, 0, false
	}
	if cap(buf) < Headroom+TextSize {
		buf = make([]byte, Headroom+TextSize)
	}
	data, start, a.buffer = a.buffer, a.at, nil
	a.noteGiven(len(data) - start)
	a.giveBack(buf)
	return data, start, true
}

// noteGiven records that the next n bytes of the buffer are returned, and so how much of the text is verified.
func (a *Ahead) noteGiven(n int) {
	a.at += n
	a.parts.given += int64(n)
	if a.mark > 0 && a.at >= a.mark {
		if !a.parts.unchecked {
			a.parts.bytes = a.parts.given - int64(a.at-a.mark)
		}
		a.mark = 0
	}
}

// Verified returns the length of the verified text.
func (a *Ahead) Verified() int64 {
	if a.now.texts == nil {
		return a.now.from.text.Verified()
	}
	return a.parts.bytes
}

// Grown returns by how many bytes the file has grown.
func (a *Ahead) Grown() int64 { return a.now.from.text.Grown() }

// fill ensures that a.buffer has text. Its errors are those of Read, and repeat.
func (a *Ahead) fill() error {
	for a.buffer == nil {
		text, ok := <-a.now.texts
		switch {
		case ok:
			a.at, a.mark = Headroom, text.mark
			if len(text.data) == Headroom {
				a.noteGiven(0)
				a.giveBack(text.data)
			} else {
				a.buffer, a.anyBytes = text.data, true
			}
		case a.now.fault != io.EOF:
			a.now.from.text.anyBytes = a.anyBytes
			return a.now.from.text.classify(a.now.fault)
		case a.now.last:
			return io.EOF
		default:
			a.parts.unchecked = a.parts.unchecked || a.now.from.text.verified().unchecked
			a.leavePiece()
			a.nextPiece()
		}
	}
	return nil
}

// giveBack returns a buffer to the unpacker. If the unpacker is far enough ahead, it keeps the buffer until the piece
// ends.
func (a *Ahead) giveBack(buf []byte) {
	buf = buf[:Headroom+TextSize]
	if len(a.now.texts) < maxTextsInTurn {
		a.now.from.free <- buf
	} else {
		a.spare = append(a.spare, buf)
	}
}

// leavePiece ends the current piece, whose text must have been read. Its unpacker becomes idle, with all of its
// buffers.
func (a *Ahead) leavePiece() {
	for _, buf := range a.spare {
		a.now.from.free <- buf
	}
	a.spare = a.spare[:0]
	a.idle <- a.now.from
	a.now = nil
}

// Packing returns the packing of the input.
func (a *Ahead) Packing() Packing { return a.now.from.text.packing }

// Packed returns the number of packed bytes read from an input that is not divided into pieces.
func (a *Ahead) Packed() int64 { return a.now.from.text.read }

// Close ends the input. After a fault it does nothing, and no further input can be opened.
func (a *Ahead) Close() error {
	if a.now.texts != nil && a.now.fault != io.EOF {
		return nil // Release closes it
	}
	err := a.now.from.text.Close()
	a.leavePiece()
	return err
}

// Release stops all goroutines, waits for them, and closes all files.
func (a *Ahead) Release() error {
	if a.all == nil {
		return nil
	}
	close(a.quit)
	errs := []error{a.work.Wait()}
	for _, u := range a.all {
		errs = append(errs, u.text.Release())
	}
	*a = Ahead{}
	return errors.Join(errs...)
}
