package conduct

import (
	"bytes"
	"compress/flate"
	"errors"
	"unicode/utf8"
)

// Texts holds the possible response sizes of robots.txt files. A Journal uses them to detect logs that contradict the
// rules, for example if these are a draft or newer than the log. The zero value is empty.
type Texts struct {
	all     map[[16]byte]lengths
	measure measurer
}

// mostTexts is the maximum number of texts, which bounds the memory. Responses with other texts are not compared.
const mostTexts = 1 << 16

// Add adds a text by its key, see engine.Store.TextKey. It does not keep the body. Texts beyond mostTexts are ignored,
// and so are known keys.
func (t *Texts) Add(key [16]byte, body []byte) {
	if t.all == nil {
		t.all = map[[16]byte]lengths{}
	}
	if _, known := t.all[key]; !known && len(t.all) < mostTexts {
		t.all[key] = t.measure.lengthsOf(body)
	}
}

// lengths are the possible sizes of a response with a text. Servers compress texts, use LF or CR LF, and send chunks.
// In some logs, sizes include chunks and the header of the response. A size that one of these explains proves
// nothing.
type lengths struct {
	text           int64    // size of the text in the rules
	plain          [3]int64 // size of the text as it is, and with LF or CR LF line ends
	slack          int64    // tolerance for uncompressed responses
	chunks         int64    // maximum overhead of chunks
	least, packed  int64    // minimum and maximum size of the compressed text
	withLongHeader int64    // above the maximum size with a header
}

// Limits of responses.
const (
	edges      = 5       // number of bytes that editors add or remove: a byte order mark and a line end
	longHeader = 8 << 10 // maximum size of a header; servers reject longer ones
	window     = 32 << 10
)

// lengthsOf returns the lengths of a text. The compressed size depends on the compressor of the server, so there are
// only bounds. Within its window, no compressor achieves a fifth of the size that deflate does, and none is worse than
// Huffman coding without a search for repetitions. A text longer than the window has no lower bound, because other
// compressors look back further. After an error of the compressor, all lengths are 0, and no size contradicts the text.
func (m *measurer) lengthsOf(body []byte) lengths {
	n := int64(len(body))
	ends, pairs := int64(bytes.Count(body, []byte("\n"))), int64(bytes.Count(body, []byte("\r\n")))
	wide := 0 // number of bytes beyond ASCII; another encoding may double or halve their size
	for _, c := range body {
		if c >= utf8.RuneSelf {
			wide++
		}
	}
	huffman, err := m.deflatedSize(&m.huffman, flate.HuffmanOnly, body)
	if err != nil {
		return lengths{} // no size contradicts it
	}
	l := lengths{text: n, plain: [3]int64{n, n - pairs, n - pairs + ends}, slack: edges + int64(wide)}
	if n <= window {
		least, err := m.deflatedSize(&m.best, flate.BestCompression, body)
		if err != nil {
			return lengths{}
		}
		l.least = min(least/5, min(l.plain[0], l.plain[1])-l.slack)
	}
	const (
		frame = 64 // bytes of a gzip header and a few chunks
		chunk = 8  // bytes that a chunk adds to the text
	)
	l.chunks = max(frame+n/256, chunk*(ends+2)) // some servers send each line as a chunk
	l.packed = huffman + huffman/10 + frame
	l.withLongHeader = l.plain[2] + l.slack + l.chunks + longHeader
	return l
}

// A measurer computes the lengths of texts, one after the other. It reuses its compressors: creating two for each
// text took most of the time of loading rules. The zero value is ready to use.
type measurer struct {
	packed        counter
	best, huffman *flate.Writer
}

// deflatedSize returns the size of a text that is compressed at a level, in bytes. packer is the compressor of that
// level; it is created if it is nil, and reused otherwise.
func (m *measurer) deflatedSize(packer **flate.Writer, level int, body []byte) (int64, error) {
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

// A fit says whether a response may contain the text in force, judging by its status and size.
type fit uint8

const (
	unsized     fit = iota // unknown
	confirms               // not a complete text: the crawler keeps its previous copy
	denies                 // says that there is no robots.txt, although one is in force
	fits                   // the response may contain it
	fitsHeaders            // may be the text only if sizes in the log include headers
	impossible             // the response cannot contain it
)

// fitOf returns whether a response of that size, in bytes, may contain the text: fits, fitsHeaders or impossible.
func (l *lengths) fitOf(size int64) fit {
	if size < l.least || size > l.withLongHeader {
		return impossible
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
