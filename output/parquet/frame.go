package parquet

import (
	"encoding/binary"
	"hash/crc32"
	"sort"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/metadata"
)

// A framer writes the pages of a column chunk, each behind a header with its checksum, which the
// library's page writer does not have. It keeps the footer's facts about the chunk.
type framer struct {
	sink   Sink
	header []byte // scratch

	info  metadata.ChunkMetaInfo
	dict  map[parquet.Encoding]int32 // pages, by encoding
	data  map[parquet.Encoding]int32
	order []parquet.Encoding // of the dictionary and of the first pages
}

// begin begins a chunk.
func (w *framer) begin() {
	w.info = metadata.ChunkMetaInfo{IndexPageOffset: -1}
	w.dict, w.data, w.order = map[parquet.Encoding]int32{}, map[parquet.Encoding]int32{}, nil
}

// checksum returns the checksum of a page as it lies in the file.
func checksum(packed []byte) uint32 { return crc32.ChecksumIEEE(packed) }

// writeDictionary writes the page of a dictionary in PLAIN, which had that size before compression.
func (w *framer) writeDictionary(packed []byte, size, texts int) error {
	w.info.DictPageOffset = w.sink.Tell()
	w.note(w.dict, parquet.Encodings.Plain)
	return w.write(packed, size, checksum(packed), pageHeader{
		kind: 2, field: 7, part: []int32{int32(texts), int32(parquet.Encodings.Plain)},
	})
}

// writeData writes a page of that many rows.
func (w *framer) writeData(p *page, rows int) error {
	if len(w.data) == 0 {
		w.info.DataPageOffset = w.sink.Tell()
	}
	w.info.NumValues += int64(rows)
	w.note(w.data, p.encoding)
	const rle = int32(3) // of the levels
	return w.write(p.data, p.size, p.crc, pageHeader{
		kind: 0, field: 5, part: []int32{int32(rows), int32(p.encoding), rle, rle},
	})
}

// note counts a page.
func (w *framer) note(pages map[parquet.Encoding]int32, e parquet.Encoding) {
	if w.dict[e]+w.data[e] == 0 {
		w.order = append(w.order, e)
	}
	pages[e]++
}

// A pageHeader has the differences between kinds of pages: their number, and the field of the header
// that has the numbers of its own.
type pageHeader struct {
	kind  int32
	field byte
	part  []int32
}

// write writes a page behind its header.
func (w *framer) write(packed []byte, size int, crc uint32, h pageHeader) error {
	// Thrift's compact protocol: a byte for type and number of a field, less the number of the field
	// before, and numbers of 32 bits in zigzag.
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

// finish ends the chunk and describes it for the footer.
func (w *framer) finish(meta *metadata.ColumnChunkMetaDataBuilder) error {
	stats := metadata.EncodingStats{DictEncodingStats: w.dict, DataEncodingStats: w.data}
	if err := meta.Finish(w.info, len(w.dict) > 0, false, stats, nil); err != nil {
		return err
	}
	c := meta.Contents().MetaData
	c.Encodings = retype(c.Encodings, append(w.order, parquet.Encodings.RLE)) // RLE is the encoding of the levels
	list := c.EncodingStats                                                   // as a map has them, so in random order
	sort.Slice(list, func(i, j int) bool {
		if list[i].PageType != list[j].PageType {
			return list[i].PageType > list[j].PageType // the dictionary
		}
		return list[i].Encoding < list[j].Encoding
	})
	_, err := meta.WriteTo(w.sink)
	return err
}

// retype returns encodings in the library's own type, which has no name outside of it, in the
// memory of dst.
func retype[T ~int64](dst []T, all []parquet.Encoding) []T {
	dst = dst[:0]
	for _, e := range all {
		dst = append(dst, T(e))
	}
	return dst
}
