//go:build unix

package main

import (
	"bytes"
	"encoding/binary"
	"encoding/csv"
	"math/rand/v2"
	"slices"
	"unicode/utf16"
)

// A mutation damages data, which it must not change, and says whether it keeps all other bytes at
// their places. other is another input of the same format.
type mutation struct {
	name   string
	damage func(r *rand.Rand, data, other []byte) []byte
	recode bool // all of a text is written another way, so that no line is as it was
	joined join // the part behind a text
}

// A join says how the part ends up behind a text, and how it is judged.
type join uint8

const (
	notJoined join = iota
	readAll        // its rows are rows, too
	readOrSay      // its rows are rows, or the run says that something is not as it should be
	mustSay        // it cannot be read, and the run must say so
)

// span returns a random part of the data, of up to most bytes, and at least one.
func span(r *rand.Rand, data []byte, most int) (from, to int) {
	from = r.IntN(len(data))
	return from, min(len(data), from+1+r.IntN(most))
}

var mutations = []mutation{
	{name: "flip a bit", damage: func(r *rand.Rand, data, _ []byte) []byte {
		out := slices.Clone(data)
		out[r.IntN(len(out))] ^= 1 << r.IntN(8)
		return out
	}},
	{name: "flip bits", damage: func(r *rand.Rand, data, _ []byte) []byte {
		out := slices.Clone(data)
		for range 2 + r.IntN(8) {
			out[r.IntN(len(out))] ^= byte(1 + r.IntN(255))
		}
		return out
	}},
	{name: "truncate", damage: func(r *rand.Rand, data, _ []byte) []byte { return data[:r.IntN(len(data))] }},
	{name: "truncate the end", damage: func(r *rand.Rand, data, _ []byte) []byte {
		return data[:len(data)-min(len(data), 1+r.IntN(16))]
	}},
	{name: "drop a range", damage: func(r *rand.Rand, data, _ []byte) []byte {
		from, to := span(r, data, 300)
		return slices.Concat(data[:from], data[to:])
	}},
	{name: "splice a block of another file", damage: func(r *rand.Rand, data, other []byte) []byte {
		from, to := span(r, other, 600)
		at, end := span(r, data, 600)
		return slices.Concat(data[:at], other[from:to], data[end:])
	}},
	{name: "move a block", damage: func(r *rand.Rand, data, _ []byte) []byte {
		from, to := span(r, data, 600)
		rest := slices.Concat(data[:from], data[to:])
		at := r.IntN(len(rest) + 1)
		return slices.Concat(rest[:at], data[from:to], rest[at:])
	}},
	{name: "duplicate a block", damage: func(r *rand.Rand, data, _ []byte) []byte {
		from, to := span(r, data, 600)
		return slices.Concat(data[:to], data[from:to], data[to:])
	}},
	{name: "zero a range", damage: func(r *rand.Rand, data, _ []byte) []byte {
		out := slices.Clone(data)
		from, to := span(r, out, 4096)
		clear(out[from:to])
		return out
	}},
	{name: "insert NULs", damage: func(r *rand.Rand, data, _ []byte) []byte {
		return slices.Insert(slices.Clone(data), r.IntN(len(data)+1), make([]byte, 1+r.IntN(20))...)
	}},
	{name: "insert any bytes", damage: func(r *rand.Rand, data, _ []byte) []byte {
		junk := make([]byte, 1+r.IntN(40))
		for i := range junk {
			junk[i] = byte(r.Uint32())
		}
		return slices.Insert(slices.Clone(data), r.IntN(len(data)+1), junk...)
	}},
	{name: "append any bytes", damage: func(r *rand.Rand, data, _ []byte) []byte {
		out := slices.Clone(data)
		for range 1 + r.IntN(40) {
			out = append(out, byte(r.Uint32()))
		}
		return out
	}},
	{name: "concatenate", damage: func(_ *rand.Rand, data, other []byte) []byte { return slices.Concat(data, other) }},
	{name: "concatenate with a part", damage: func(r *rand.Rand, data, other []byte) []byte {
		return slices.Concat(data, other[:r.IntN(len(other))])
	}},
	{name: "line ends of Windows", damage: func(_ *rand.Rand, data, _ []byte) []byte {
		return bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n"))
	}},
	{name: "some line ends of Windows", damage: func(r *rand.Rand, data, _ []byte) []byte {
		from, to := span(r, data, 2000)
		return slices.Concat(data[:from], bytes.ReplaceAll(data[from:to], []byte("\n"), []byte("\r\n")), data[to:])
	}},
	{name: "line ends of old Macs", recode: true, damage: func(_ *rand.Rand, data, _ []byte) []byte {
		return bytes.ReplaceAll(data, []byte("\n"), []byte("\r"))
	}},
	{name: "UTF-16 with a mark", recode: true, damage: func(r *rand.Rand, data, _ []byte) []byte {
		return toUTF16(data, r.IntN(2) == 0, true)
	}},
	{name: "UTF-16 without a mark", recode: true, damage: func(r *rand.Rand, data, _ []byte) []byte {
		return toUTF16(data, r.IntN(2) == 0, false)
	}},
	{name: "a table in another order behind", joined: readAll, damage: func(r *rand.Rand, data, other []byte) []byte {
		return slices.Concat(data, reordered(r, other))
	}},
	{name: "two parts, each written or packed in any way", joined: readOrSay, damage: func(r *rand.Rand, data, other []byte) []byte {
		if !bytes.HasSuffix(data, []byte("\n")) {
			data = append(slices.Clip(data), '\n')
		}
		return slices.Concat(anyForm(r, data), anyForm(r, other))
	}},
	{name: "a packed part behind", joined: mustSay, damage: func(r *rand.Rand, data, other []byte) []byte {
		p := &packings[r.IntN(4)] // gz, zst and xz
		packed, err := p.pack([][]byte{other})
		if err != nil {
			panic(err) // the bases of packed formats are packed so, too
		}
		return slices.Concat(data, packed)
	}},
	{name: "a part with line ends of old Macs behind", joined: mustSay, damage: func(_ *rand.Rand, data, other []byte) []byte {
		return slices.Concat(data, bytes.ReplaceAll(other, []byte("\n"), []byte("\r")))
	}},
	{name: "a mark of UTF-8", damage: func(_ *rand.Rand, data, _ []byte) []byte { return slices.Concat([]byte("\ufeff"), data) }},
}

// anyForm returns a text as it is, with other line ends, in another encoding, or packed.
func anyForm(r *rand.Rand, text []byte) []byte {
	switch r.IntN(6) {
	case 0:
		return text
	case 1:
		return bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n"))
	case 2:
		return bytes.ReplaceAll(text, []byte("\n"), []byte("\r"))
	case 3:
		return toUTF16(text, r.IntN(2) == 0, r.IntN(2) == 0)
	}
	p := &packings[r.IntN(len(packings))]
	packed, err := p.pack([][]byte{text})
	if err != nil {
		return text // the tool is missing, as mutants of that packing say
	}
	return packed
}

// toUTF16 returns a text in another encoding. Bytes that are not UTF-8 count as Latin-1.
func toUTF16(text []byte, little, mark bool) []byte {
	var order binary.AppendByteOrder = binary.BigEndian
	if little {
		order = binary.LittleEndian
	}
	var out []byte
	if mark {
		out = order.AppendUint16(out, 0xfeff)
	}
	for _, unit := range utf16.Encode([]rune(string(text))) {
		out = order.AppendUint16(out, unit)
	}
	return out
}

// reordered returns a table whose columns are in another order, with a header that says so; other texts as they are.
func reordered(r *rand.Rand, text []byte) []byte {
	comma := ','
	if first, _, _ := bytes.Cut(text, []byte("\n")); bytes.Count(first, []byte("\t")) > 1 {
		comma = '\t'
	} else if bytes.Count(first, []byte(",")) < 2 || bytes.ContainsAny(first, "{\"") {
		return text
	}
	in := csv.NewReader(bytes.NewReader(text))
	in.Comma = comma
	records, err := in.ReadAll()
	if err != nil || len(records) < 2 || !slices.Contains(records[0], "url") {
		return text
	}
	order := r.Perm(len(records[0]))
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	w.Comma = comma
	for _, record := range records {
		line := make([]string, len(order))
		for i, n := range order {
			line[i] = record[n]
		}
		w.Write(line) //nolint:errcheck // to memory
	}
	w.Flush()
	return out.Bytes()
}
