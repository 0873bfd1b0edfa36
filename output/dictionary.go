package output

import (
	"bytes"
	"hash/maphash"
)

// A dictionary numbers distinct texts in the order of their first use. It is laid out as Arrow lays out strings, holds
// no pointer per text, and keeps its memory when it is reset.
type dictionary struct {
	offsets []int32  // text i is text[offsets[i]:offsets[i+1]]; one more than there are texts
	text    []byte   // all texts, end to end
	table   []uint32 // open addressing: 1 + number of the text whose hash leads here, 0 for none; a power of two long
	escapes []int32  // bytes of text i that had to be escaped; nil as long as there are none
	seed    maphash.Seed

	age   uint32 // counts how often it was emptied, from 1
	moved []move // by number, where another dictionary has the texts; may be shorter
}

// newDictionary returns an empty dictionary.
func newDictionary() dictionary {
	return dictionary{offsets: make([]int32, 1, 16), table: make([]uint32, 64), seed: maphash.MakeSeed(), age: 1}
}

// len returns the number of texts.
func (d *dictionary) len() int { return len(d.offsets) - 1 }

// at returns text i, valid until the next call of add or reset.
func (d *dictionary) at(i int32) []byte { return d.text[d.offsets[i]:d.offsets[i+1]] }

// add returns the number of text, which it copies if it is new. escaped is how many of its bytes were not valid UTF-8.
func (d *dictionary) add(text []byte, escaped int) int32 {
	slot := d.find(text)
	if d.table[slot] != 0 {
		return int32(d.table[slot] - 1)
	}
	id := d.len()
	d.text = append(d.text, text...)
	d.offsets = append(d.offsets, int32(len(d.text)))
	d.table[slot] = uint32(id + 1)
	if escaped > 0 && d.escapes == nil {
		d.escapes = make([]int32, id, cap(d.offsets))
	}
	if d.escapes != nil {
		d.escapes = append(d.escapes, int32(escaped))
	}
	if 2*d.len() > len(d.table) {
		d.grow()
	}
	return int32(id)
}

// find returns the slot of the table that holds text, or the empty one where it belongs.
func (d *dictionary) find(text []byte) uint64 {
	mask := uint64(len(d.table) - 1)
	slot := maphash.Bytes(d.seed, text) & mask
	for d.table[slot] != 0 && !bytes.Equal(d.at(int32(d.table[slot]-1)), text) {
		slot = (slot + 1) & mask
	}
	return slot
}

// grow doubles the table.
func (d *dictionary) grow() {
	d.table = make([]uint32, 2*len(d.table))
	for i := range d.len() {
		d.table[d.find(d.at(int32(i)))] = uint32(i + 1)
	}
}

// reset forgets all texts and keeps the memory.
func (d *dictionary) reset() {
	if d.len() <= 0 { // empty, or the dictionary of a column that has none
		return
	}
	d.offsets, d.text, d.escapes, d.moved = d.offsets[:1], d.text[:0], nil, d.moved[:0]
	d.age++
	clear(d.table)
}

// memory returns how many bytes are allocated for it.
func (d *dictionary) memory() int {
	return 4*(cap(d.offsets)+len(d.table)+cap(d.escapes)) + cap(d.text) + 8*cap(d.moved)
}

// escapesOf returns how many bytes were escaped in the texts that ids name.
func (d *dictionary) escapesOf(ids []int32, present []int16) (n int64) {
	if d.escapes == nil {
		return 0
	}
	for i, id := range ids {
		if present == nil || present[i] != 0 {
			n += int64(d.escapes[id])
		}
	}
	return n
}
