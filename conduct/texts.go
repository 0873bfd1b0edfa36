package conduct

import (
	"bytes"
	"compress/flate"
	"errors"
	"unicode/utf8"
)

// Texts say how many bytes answers may have that give a robots.txt, so that a Journal sees where a log contradicts the
// rules: where they are a draft, or newer than the log. The zero value has no text.
type Texts struct {
	all     map[[16]byte]lengths
	measure measurer
}

// mostTexts is the number of texts that are known at most, which bounds the memory. Answers are not compared with
// others.
const mostTexts = 1 << 16

// Add adds a text by its key, see engine.Store.TextKey.
func (t *Texts) Add(key [16]byte, body []byte) {
	if t.all == nil {
		t.all = map[[16]byte]lengths{}
	}
	if _, known := t.all[key]; !known && len(t.all) < mostTexts {
		t.all[key] = t.measure.lengthsOf(body)
	}
}

// lengths are the numbers of bytes an answer has that gives a text. Servers pack texts, end lines with LF or CR LF, and
// send chunks, whose sizes count in some logs, as the header of the answer does. So the bytes of an answer say nothing
// if one of these ways leads to them.
type lengths struct {
	text           int64    // bytes of the text in the rules
	plain          [3]int64 // these, and with each line end as LF, or as CR LF
	slack          int64    // by which others may differ that were not packed
	chunks         int64    // bytes that chunks add to these at most
	least, packed  int64    // bytes of the text packed as well, and as badly, as any server does
	withLongHeader int64    // more than the longest with a header
}

// What answers may have.
const (
	edges      = 5       // bytes that editors add to a text or take from it: a byte order mark, and a line end
	longHeader = 8 << 10 // bytes of a header; servers refuse longer ones
	window     = 32 << 10
)

// lengthsOf returns the lengths of a text. Packers differ, so those of two simple ones are only bounds: no other packs
// to a fifth of what deflate makes of a text within its window, and none that looks for no repeats at all, and only has
// short codes for frequent bytes, packs worse. There is no lower bound for a text beyond the window, because other
// packers look back further.
func (m *measurer) lengthsOf(body []byte) lengths {
	n := int64(len(body))
	ends, pairs := int64(bytes.Count(body, []byte("\n"))), int64(bytes.Count(body, []byte("\r\n")))
	wide := 0 // bytes of what is no ASCII, which another encoding may have doubled or halved
	for _, c := range body {
		if c >= utf8.RuneSelf {
			wide++
		}
	}
	huffman, err := m.deflated(&m.huffman, flate.HuffmanOnly, body)
	if err != nil {
		return lengths{} // nothing is contradicted
	}
	l := lengths{text: n, plain: [3]int64{n, n - pairs, n - pairs + ends}, slack: edges + int64(wide)}
	if n <= window {
		least, err := m.deflated(&m.best, flate.BestCompression, body)
		if err != nil {
			return lengths{}
		}
		l.least = min(least/5, min(l.plain[0], l.plain[1])-l.slack)
	}
	const (
		frame = 64 // bytes of a header of gzip, and of a few chunks
		chunk = 8  // bytes that a chunk adds to a line
	)
	l.chunks = max(frame+n/256, chunk*(ends+2)) // some servers send each line as a chunk
	l.packed = huffman + huffman/10 + frame
	l.withLongHeader = l.plain[2] + l.slack + l.chunks + longHeader
	return l
}

// A measurer tells the lengths of texts, one after the other. Its packers are made once: to make two for each text took
// most of the time to load rules. The zero value is ready.
type measurer struct {
	packed        counter
	best, huffman *flate.Writer
}

// deflated returns how many bytes a text has when it is packed by a packer, which is made if it is nil.
func (m *measurer) deflated(packer **flate.Writer, level int, body []byte) (int64, error) {
	m.packed = 0
	if *packer == nil {
		made, err := flate.NewWriter(&m.packed, level)
		if err != nil {
			return 0, err
		}
		*packer = made
	} else {
		(*packer).Reset(&m.packed)
	}
	_, err := (*packer).Write(body)
	err = errors.Join(err, (*packer).Close())
	return int64(m.packed), err
}

// A counter is a Writer that counts bytes.
type counter int64

// Write counts.
func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}

// A fit says whether the status and the bytes of an answer are such that it may have given the text in force.
type fit uint8

const (
	unsized     fit = iota // nothing is known
	confirms               // it has no whole text: the crawler keeps that of the answer before
	denies                 // it says that there is no robots.txt, though one is in force
	fits                   // it may
	fitsHeaders            // only if the log counts headers
	misfits                // it cannot
)

// of returns whether an answer of that many bytes may have given the text.
func (l *lengths) of(size int64) fit {
	if size < l.least || size > l.withLongHeader {
		return misfits
	}
	if size <= l.packed {
		return fits
	}
	for _, n := range l.plain {
		if n-l.slack <= size && size <= n+l.slack+l.chunks {
			return fits
		}
	}
	return fitsHeaders
}
