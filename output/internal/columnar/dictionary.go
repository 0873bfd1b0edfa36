package columnar

import (
	"bytes"
	"hash/maphash"
	"unicode/utf8"

	"github.com/robobatch/robobatch/internal/fieldtext"
	"github.com/robobatch/robobatch/internal/times"
)

// A Dictionary numbers the distinct texts of a column in the order of their first use. It stores strings as Arrow
// does, without a pointer per text, and keeps its memory when it is reset.
//
// When columns are gathered from a batch, texts have small numbers there, such as that of a site or a reason. A
// table maps these to the numbers in the dictionary, so that no text is hashed per row.
type Dictionary struct {
	offsets []int32  // text i is Text[offsets[i]:offsets[i+1]]
	Text    []byte   // all texts, without separators
	table   []uint32 // hash table with open addressing: 1 + number of a text; 0 for an empty slot; its length is a power of two
	escapes []int32  // for each text, the number of its escaped bytes; nil while no text has any
	seed    maphash.Seed

	ids    []int32 // by number in batches: 1 + the number of its text in the dictionary; 0 if it was not added
	used   []int32 // indices of ids that are not 0
	strays []int32 // the same as ids, by index in Batch.Strays of the current batch
	day    int64   // day of the last date that was added, in days since 1970
	dayID  int32   // 1 + number of its text; 0 if there is none
	clock  times.Clock

	age   uint32  // 1 + number of resets
	moved []moves // to other dictionaries

	scratch []byte
}

// newDictionary returns an empty dictionary.
func newDictionary() *Dictionary {
	return &Dictionary{offsets: make([]int32, 1, 16), table: make([]uint32, 64), seed: maphash.MakeSeed(), age: 1}
}

// Len returns the number of texts.
func (d *Dictionary) Len() int { return len(d.offsets) - 1 }

// At returns text i. It is valid until the next text is added, or the dictionary is reset.
func (d *Dictionary) At(i int32) []byte { return d.Text[d.offsets[i]:d.offsets[i+1]] }

// addWord returns the number of a text, which it adds if it is new. The text must be valid UTF-8; it is copied.
// escaped is the number of its bytes that were escaped because they were not valid.
func (d *Dictionary) addWord(text []byte, escaped int) int32 {
	slot := d.findSlot(text)
	if d.table[slot] != 0 {
		return int32(d.table[slot] - 1)
	}
	id := d.Len()
	d.Text = append(d.Text, text...)
	d.offsets = append(d.offsets, int32(len(d.Text)))
	d.table[slot] = uint32(id + 1)
	if escaped > 0 && d.escapes == nil {
		d.escapes = make([]int32, id, cap(d.offsets))
	}
	if d.escapes != nil {
		d.escapes = append(d.escapes, int32(escaped))
	}
	if 2*d.Len() > len(d.table) {
		d.grow()
	}
	return int32(id)
}

// findSlot returns the slot of the table with the text, or the empty slot for it.
func (d *Dictionary) findSlot(text []byte) uint64 {
	mask := uint64(len(d.table) - 1)
	slot := maphash.Bytes(d.seed, text) & mask
	for d.table[slot] != 0 && !bytes.Equal(d.At(int32(d.table[slot]-1)), text) {
		slot = (slot + 1) & mask
	}
	return slot
}

// grow doubles the table.
func (d *Dictionary) grow() {
	d.table = make([]uint32, 2*len(d.table))
	for i := range d.Len() {
		d.table[d.findSlot(d.At(int32(i)))] = uint32(i + 1)
	}
}

// addValid is like addWord, but escapes invalid UTF-8.
func (d *Dictionary) addValid(text []byte) int32 {
	if utf8.Valid(text) {
		return d.addWord(text, 0)
	}
	valid, escaped := fieldtext.AppendValid(nil, text)
	return d.addWord(valid, escaped)
}

// addString is like addValid, for a string.
func (d *Dictionary) addString(text string) int32 {
	d.scratch = append(d.scratch[:0], text...)
	return d.addValid(d.scratch)
}

// knownNumber returns 1 + the number in the dictionary of the text with number i in batches; 0 if it was not added.
// The compiler can inline it.
func (d *Dictionary) knownNumber(i int) int32 {
	if i < len(d.ids) {
		return d.ids[i]
	}
	return 0
}

// addNewNumbered adds the text with number i in batches, which knownNumber does not know, and returns 1 + its number
// in the dictionary.
func (d *Dictionary) addNewNumbered(i int, text string) int32 {
	if i >= len(d.ids) { // even if only few are used: the system does not allocate new memory until it is written
		ids := make([]int32, max(i+1, len(d.ids)+len(d.ids)/4))
		for _, n := range d.used {
			ids[n] = d.ids[n]
		}
		d.ids = ids
	}
	d.ids[i] = 1 + d.addString(text)
	d.used = append(d.used, int32(i))
	return d.ids[i]
}

// addNumbered returns the number in the dictionary of the text with number i in batches. It adds the text if it is
// new, and ignores it otherwise.
func (d *Dictionary) addNumbered(i int, text string) int32 {
	if id := d.knownNumber(i); id != 0 {
		return id - 1
	}
	return d.addNewNumbered(i, text) - 1
}

// reset removes all texts, and keeps the memory. Numbers in batches must be added again.
func (d *Dictionary) reset() {
	if d.Len() == 0 {
		return
	}
	d.offsets, d.Text, d.escapes = d.offsets[:1], d.Text[:0], nil
	d.forgetMoves()
	for _, i := range d.used {
		d.ids[i] = 0
	}
	d.used, d.dayID = d.used[:0], 0
	clear(d.strays)
	d.age++
	clear(d.table)
}

// memory returns the number of allocated bytes.
func (d *Dictionary) memory() int {
	size := 4*(cap(d.offsets)+len(d.table)+cap(d.escapes)+cap(d.ids)+cap(d.used)) + cap(d.Text)
	for _, m := range d.moved {
		size += 8 * cap(m.by)
	}
	return size
}

// moves maps the numbers of a dictionary to those in another dictionary.
type moves struct {
	to *Dictionary
	by []move // by number; may be shorter than the dictionary
}

// A move is the number of a text in another dictionary.
type move struct {
	age uint32 // of the other dictionary when the text was added to it; 0 if it was not
	id  int32
}

// move returns the number in another dictionary of text id, which it adds there if it is new. m is its entry in
// moves, which move updates.
func (d *Dictionary) move(m *move, other *Dictionary, id int32) int32 {
	if m.age != other.age {
		*m = move{other.age, other.addWord(d.At(id), 0)}
	}
	return m.id
}

// forgetMoves removes all moves, and keeps the memory.
func (d *Dictionary) forgetMoves() {
	for i := range d.moved {
		d.moved[i] = moves{by: d.moved[i].by[:0]}
	}
	d.moved = d.moved[:0]
}
