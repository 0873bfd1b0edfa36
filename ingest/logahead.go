package ingest

import (
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
)

const (
	// textSize is how much unpacked text a buffer takes. One buffer becomes one batch.
	textSize = 512 << 10

	// maxTexts is how many of them a piece that waits for its turn may fill: 8 MiB, the text of a frame as pzstd writes
	// it. A longer one goes on when it is read.
	maxTexts = 16

	// maxTextsInTurn is the same for the piece being read: more would only make them leave the cache.
	maxTextsInTurn = 3
)

// A piece is a part of an input that can be unpacked by itself: some whole zstd frames, or all of the input.
type piece struct {
	from   *unpacker
	last   bool        // of its input
	closed bool        // the input is still to be opened
	texts  chan []byte // the text, in order, closed at its end; nil if it is read from the unpacker itself
	fault  error       // once texts is closed: io.EOF, or what the unpacker broke off with
	inTurn atomic.Bool // it is being read
}

// An unpacker unpacks one piece after the other. The buffers it fills come back from the reader.
type unpacker struct {
	text textReader
	free chan []byte
	made int
}

// An aheadReader is a textReader that unpacks several pieces of its inputs at once, ahead of what is read, and gives out
// their text in order, with the faults that a textReader would tell. Files of zstd frames are cut into pieces; other
// files that are packed are one piece each. What is not packed, or no regular file, is read when it is its turn.
//
// Memory is bounded: there are as many unpackers as may work at once, each with a decompressor and maxTexts buffers.
type aheadReader struct {
	total   *atomic.Int64
	names   []string
	workers int
	least   int64 // packed bytes of a piece, as of frameScanner

	pieces chan *piece    // in order
	idle   chan *unpacker // those that have no piece
	all    []*unpacker
	quit   chan struct{}  // closed when nothing more is wanted
	work   sync.WaitGroup // what runs

	now      *piece   // being read; nil between inputs
	buffer   []byte   // the last one from now.texts; nil if it was read to its end
	at       int      // where what is not read yet starts in it
	kept     [][]byte // buffers that the unpacker does not get back yet
	anyBytes bool     // the input has given text
}

// newAheadReader returns a reader of the inputs of those names, of which workers pieces are unpacked at once. It starts
// with the first call of open.
func newAheadReader(names []string, workers int, total *atomic.Int64) *aheadReader {
	return &aheadReader{total: total, names: names, workers: workers, least: leastPiece}
}

// start sets everything to work.
func (a *aheadReader) start() {
	a.pieces, a.idle, a.quit = make(chan *piece, a.workers), make(chan *unpacker, a.workers), make(chan struct{})
	for range a.workers {
		u := &unpacker{text: textReader{total: a.total}, free: make(chan []byte, maxTexts)}
		a.all = append(a.all, u)
		a.idle <- u
	}
	a.work.Go(func() {
		defer close(a.pieces)
		for _, name := range a.names {
			a.plan(name)
		}
	})
}

// plan cuts an input into pieces.
func (a *aheadReader) plan(name string) {
	if f, form := openPacked(name); form == formatZstd {
		a.planFrames(f)
	} else if u := a.unpacker(); u == nil {
		return
	} else if form == formatGzip {
		u.text.start(f, f)
		u.text.unpack(form, nil)
		a.unpack(&piece{from: u, last: true})
	} else {
		a.pieces <- &piece{from: u, last: true, closed: true}
	}
}

// openPacked opens a file if it is a regular one that is packed. If it is anything else, formatText is returned.
func openPacked(name string) (*os.File, format) {
	info, err := os.Stat(name)
	if name == stdinName || err != nil || !info.Mode().IsRegular() {
		return nil, formatText
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, formatText
	}
	var magic [magicLen]byte
	n, _ := f.ReadAt(magic[:], 0) // a fault comes again with the first Read
	if form, err := detect(magic[:n]); err == nil && form != formatText {
		return f, form
	}
	f.Close() //nolint:errcheck // only read
	return nil, formatText
}

// planFrames cuts a zstd file into pieces. The last one closes the file.
func (a *aheadReader) planFrames(f *os.File) {
	scanner := frameScanner{file: f, least: a.least}
	if info, err := f.Stat(); err == nil {
		scanner.size = info.Size()
	}
	for start := int64(0); start != wholeFile; {
		u := a.unpacker()
		if u == nil {
			f.Close() //nolint:errcheck // only read
			return
		}
		end := scanner.piece(start)
		section := io.NewSectionReader(f, start, end-start)
		if end == wholeFile {
			u.text.start(section, f)
		} else {
			u.text.start(section, nil)
		}
		u.text.unpack(formatZstd, nil)
		a.unpack(&piece{from: u, last: end == wholeFile})
		start = end
	}
}

// unpacker waits for an unpacker without a piece. It returns nil if nothing more is wanted.
func (a *aheadReader) unpacker() *unpacker {
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

// unpack starts to unpack a piece and puts it behind the others. It does not wait: there is room for a piece of each
// unpacker.
func (a *aheadReader) unpack(p *piece) {
	p.texts = make(chan []byte, maxTexts)
	a.work.Go(func() { p.from.run(p, a.quit) })
	a.pieces <- p
}

// errStopped is the fault of a piece that nobody wants any more.
var errStopped = errors.New("stopped")

// run unpacks a piece to its end.
func (u *unpacker) run(p *piece, quit <-chan struct{}) {
	defer close(p.texts)
	for p.fault == nil {
		buf := u.buffer(p, quit)
		if buf == nil {
			p.fault = errStopped
			return
		}
		var n int
		n, p.fault = u.text.unpacked(buf[headroom:])
		p.texts <- buf[:headroom+n] // does not wait: there is room for all buffers
	}
}

// buffer waits for a buffer. It returns nil if nothing more is wanted.
func (u *unpacker) buffer(p *piece, quit <-chan struct{}) []byte {
	select {
	case <-quit:
		return nil
	case buf := <-u.free:
		return buf
	default:
	}
	if u.made < maxTextsInTurn || u.made < maxTexts && !p.inTurn.Load() {
		u.made++
		return make([]byte, headroom+textSize)
	}
	select {
	case buf := <-u.free:
		return buf
	case <-quit:
		return nil
	}
}

func (a *aheadReader) open(name string, stdin io.Reader) error {
	if a.all == nil {
		a.start()
	}
	a.anyBytes = false
	a.next()
	if a.now.closed {
		return a.now.from.text.open(name, stdin)
	}
	return nil
}

// next goes on to the next piece.
func (a *aheadReader) next() {
	a.now = <-a.pieces
	a.now.inTurn.Store(true)
}

func (a *aheadReader) Read(dst []byte) (int, error) {
	if a.now.texts == nil {
		return a.now.from.text.Read(dst)
	}
	if err := a.fill(); err != nil {
		return 0, err
	}
	n := copy(dst, a.buffer[a.at:])
	a.at += n
	if a.at == len(a.buffer) {
		a.giveBack(a.buffer)
		a.buffer = nil
	}
	return n, nil
}

// take gives away the next buffer.
func (a *aheadReader) take(buf []byte) (data []byte, start int, ok bool) {
	if a.now.texts == nil || a.fill() != nil {
		return nil, 0, false
	}
	if cap(buf) < headroom+textSize {
		buf = make([]byte, headroom+textSize)
	}
	data, a.buffer = a.buffer, nil
	a.giveBack(buf)
	return data, a.at, true
}

// fill makes sure that a.buffer has text. Its errors are those of Read, and come again.
func (a *aheadReader) fill() error {
	for a.buffer == nil {
		buf, ok := <-a.now.texts
		switch {
		case ok && len(buf) == headroom:
			a.giveBack(buf)
		case ok:
			a.buffer, a.at, a.anyBytes = buf, headroom, true
		case a.now.fault != io.EOF: //nolint:errorlint // a textReader's end is io.EOF itself
			a.now.from.text.anyBytes = a.anyBytes
			return a.now.from.text.classify(a.now.fault)
		case a.now.last:
			return io.EOF
		default:
			a.leave()
			a.next()
		}
	}
	return nil
}

// giveBack gives a buffer back to the unpacker, unless that is far enough ahead.
func (a *aheadReader) giveBack(buf []byte) {
	buf = buf[:headroom+textSize]
	if len(a.now.texts) < maxTextsInTurn {
		a.now.from.free <- buf
	} else {
		a.kept = append(a.kept, buf)
	}
}

// leave ends the piece being read, whose unpacker takes another.
func (a *aheadReader) leave() {
	for _, buf := range a.kept {
		a.now.from.free <- buf
	}
	a.kept = a.kept[:0]
	a.idle <- a.now.from
	a.now = nil
}

func (a *aheadReader) packed() int64 { return a.now.from.text.read }

func (a *aheadReader) close() error {
	if a.now.texts != nil && a.now.fault != io.EOF { //nolint:errorlint // as above
		return nil // release closes it
	}
	err := a.now.from.text.close()
	a.leave()
	return err
}

func (a *aheadReader) release() error {
	if a.all == nil {
		return nil
	}
	close(a.quit)
	a.work.Wait()
	var errs []error
	for _, u := range a.all {
		errs = append(errs, u.text.release())
	}
	*a = aheadReader{}
	return errors.Join(errs...)
}
