package parquet

import (
	"encoding/binary"
	"hash/crc32"
	"sort"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/metadata"
)

// A framer writes the pages of a column chunk, each after a header with a checksum, which the library's page writer
// omits. It collects what the footer says about the chunk.
type framer struct {
	sink   Sink
	header []byte // scratch

	info  metadata.ChunkMetaInfo
	dict  map[parquet.Encoding]int32 // number of dictionary pages, by encoding
	data  map[parquet.Encoding]int32 // number of data pages, by encoding
	order []parquet.Encoding         // encodings in the order of their first pages
}

// begin begins a column chunk.
func (w *framer) begin() {
	w.info = metadata.ChunkMetaInfo{IndexPageOffset: -1}
	w.dict, w.data, w.order = map[parquet.Encoding]int32{}, map[parquet.Encoding]int32{}, nil
}

// writeDictionary writes a dictionary page in PLAIN encoding. size is its size before compression, texts its number of
// texts.
func (w *framer) writeDictionary(packed []byte, size, texts int) error {
	w.info.DictPageOffset = w.sink.Tell()
	w.countPage(w.dict, parquet.Encodings.Plain)
	return w.writePage(packed, size, crc32.ChecksumIEEE(packed), pageHeader{
		kind: 2, field: 7, part: []int32{int32(texts), int32(parquet.Encodings.Plain)},
	})
}

// writeData writes a data page with that number of rows, including nulls.
func (w *framer) writeData(p *page, rows int) error {
	if len(w.data) == 0 {
		w.info.DataPageOffset = w.sink.Tell()
	}
	w.info.NumValues += int64(rows)
	w.countPage(w.data, p.encoding)
	const rle = int32(3) // encoding of the levels
	return w.writePage(p.data, p.size, p.crc, pageHeader{
		kind: 0, field: 5, part: []int32{int32(rows), int32(p.encoding), rle, rle},
	})
}

// countPage counts a page in w.dict or w.data, which pages is. It adds the encoding to w.order when it first occurs.
func (w *framer) countPage(pages map[parquet.Encoding]int32, e parquet.Encoding) {
	if w.dict[e]+w.data[e] == 0 {
		w.order = append(w.order, e)
	}
	pages[e]++
}

// A pageHeader has the parts of a header in which dictionary and data pages differ.
type pageHeader struct {
	kind  int32   // PageType
	field byte    // number of the field with the struct for this type
	part  []int32 // fields of that struct
}

// writePage writes a page after its header. size is the size before compression.
func (w *framer) writePage(packed []byte, size int, crc uint32, h pageHeader) error {
	// The header is in Thrift's compact protocol: each field is a byte with its type and the difference from the
	// previous field number, then its value; 32-bit integers are zigzag varints.
	const i32, structure, end = 0x15, 0x0c, 0
	b := binary.AppendVarint(append(w.header[:0], i32), int64(h.kind))
	b = binary.AppendVarint(append(b, i32), int64(size))
	b = binary.AppendVarint(append(b, i32), int64(len(packed)))
	b = binary.AppendVarint(append(b, i32), int64(int32(crc)))
	b = append(b, (h.field-4)<<4|structure)
	for _, n := range h.part {
		b = binary.AppendVarint(append(b, i32), int64(n))
	}
	w.header = append(b, end, end)
	w.info.UncompressedSize += int64(len(w.header) + size)
	w.info.CompressedSize += int64(len(w.header) + len(packed))
	if _, err := w.sink.Write(w.header); err != nil {
		return err
	}
	_, err := w.sink.Write(packed)
	return err
}

// finish ends the column chunk: it describes the chunk in meta for the footer, and also writes this description after
// the pages.
func (w *framer) finish(meta *metadata.ColumnChunkMetaDataBuilder) error {
	stats := metadata.EncodingStats{DictEncodingStats: w.dict, DataEncodingStats: w.data}
	if err := meta.Finish(w.info, len(w.dict) > 0, false, stats, nil); err != nil {
		return err
	}
	c := meta.Contents().MetaData
	c.Encodings = toLibrary(c.Encodings, append(w.order, parquet.Encodings.RLE)) // RLE is the encoding of the levels
	list := c.EncodingStats                                                      // in random order, because the library reads them from a map
	sort.Slice(list, func(i, j int) bool {
		if list[i].PageType != list[j].PageType {
			return list[i].PageType > list[j].PageType // the dictionary comes first
		}
		return list[i].Encoding < list[j].Encoding
	})
	_, err := meta.WriteTo(w.sink)
	return err
}

// toLibrary converts encodings to an internal type of the library, which cannot be named here. It reuses the memory of
// dst.
func toLibrary[T ~int64](dst []T, all []parquet.Encoding) []T {
	dst = dst[:0]
	for _, e := range all {
		dst = append(dst, T(e))
	}
	return dst
}
