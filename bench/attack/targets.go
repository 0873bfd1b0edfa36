//go:build unix

package main

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"

	"github.com/apache/arrow/go/v17/parquet/compress"
)

// targets returns all formats of inputs.
func (a *attack) targets() (all []target) {
	for i := range textFormats {
		all = append(all, a.textTarget(&textFormats[i]))
	}
	for i := range packings {
		all = append(all, a.packedTarget(&textFormats[0], &packings[i]))
	}
	for i := range rulesFormats {
		all = append(all, a.rulesTarget(&rulesFormats[i]))
	}
	for i := range loners {
		all = append(all, a.aloneTarget(&loners[i]))
	}
	return append(all, a.packedTarget(&textFormats[1], &packings[0]), a.packedTarget(&textFormats[3], &packings[1]),
		a.parquetTarget("parquet", a.ownParquet, true),
		a.parquetTarget("parquet of others, zstd", func(b *base) ([]byte, error) { return foreignParquet(b, compress.Codecs.Zstd) }, false),
		a.parquetTarget("parquet of others, snappy", func(b *base) ([]byte, error) { return foreignParquet(b, compress.Codecs.Snappy) }, false),
		a.parquetTarget("parquet of others, plain", func(b *base) ([]byte, error) { return foreignParquet(b, compress.Codecs.Uncompressed) }, false),
		a.arrowTarget(), a.warcLogTarget(false), a.warcLogTarget(true),
	)
}

// sizes are the rows of the bases of a format: most mutants are of the first.
var sizes = []int{60, 40, 300, 3000}

// textTarget returns the target of a format.
func (a *attack) textTarget(f *textFormat) target {
	return target{
		name: f.name, text: true,
		bases: func(r *rand.Rand) (bases []*base, err error) {
			for _, rows := range sizes {
				bases = append(bases, a.textBase(f, r, rows))
			}
			return bases, nil
		},
		try: func(r *rand.Rand, b *base, m *mutation, data []byte) (*result, judgement, string) {
			res := a.runOnLog(r, f, "", data)
			if m.joined != notJoined {
				j, reason := judgeJoined(b, &res, m.joined)
				return &res, j, reason
			}
			if m.recode {
				j, reason := judgeRecoded(b, &res)
				return &res, j, reason
			}
			j, reason := a.judgeText(f, b, data, &res)
			return &res, j, reason
		},
	}
}

// runOnLog runs the main job on a log, which it gets as a file or on standard input. extension is
// the extension of its name.
func (a *attack) runOnLog(r *rand.Rand, f *textFormat, extension string, data []byte) result {
	arguments := []string{"-rules", "rules", "-workers", strconv.Itoa(1 + r.IntN(3)), "-base", site}
	if f.name == "urls" || f.name == "parquet" {
		arguments = arguments[:4]
	}
	if r.IntN(2) == 0 {
		arguments = append(arguments, "-format", f.name)
	}
	if r.IntN(6) == 0 { // all rows must be true then
		arguments = append(arguments, "-intact-only")
	}
	if r.IntN(8) == 0 && f.name != "parquet" {
		return a.job(r, data, append(arguments, "-in", "-")...)
	}
	name, remove := a.file("log"+extension, data)
	defer remove()
	return a.job(r, nil, append(arguments, "-in", name)...)
}

// file writes a file of a name that no other run has, and returns how to remove it.
func (a *attack) file(base string, data []byte) (name string, remove func()) {
	dir, err := os.MkdirTemp(a.dir, "in-")
	if err != nil {
		panic(err) // nothing works without a directory for temporary files
	}
	name = filepath.Join(dir, base)
	if err := os.WriteFile(name, data, 0o666); err != nil {
		panic(err)
	}
	return name, func() { os.RemoveAll(dir) } //nolint:errcheck // it is below a directory that is removed
}

// packedTarget returns the target of a packed format.
func (a *attack) packedTarget(f *textFormat, p *packing) target {
	return target{
		name: f.name + "." + p.name,
		bases: func(r *rand.Rand) (bases []*base, err error) {
			for i, rows := range append([]int{20_000}, sizes...)[:5] {
				b := a.textBase(f, r, rows)
				packed, err := p.pack(pieces(b.data, 1+i%4))
				if err != nil {
					return nil, err
				}
				b.data, b.text = packed, b.data
				bases = append(bases, b)
			}
			bases[0], bases[1] = bases[1], bases[0]
			return bases, nil
		},
		try: func(r *rand.Rand, b *base, _ *mutation, data []byte) (*result, judgement, string) {
			res := a.runOnLog(r, f, "."+p.name, data)
			j, reason := a.judgePacked(f, p, b, data, &res)
			return &res, j, reason
		},
	}
}

// judgeRecoded judges the rows of a text that was written another way: all of them are true, or the
// run says that something is not as it should be.
func judgeRecoded(b *base, res *result) (judgement, string) {
	switch {
	case res.code != 0:
		for _, got := range res.rows {
			if !b.has(got) {
				return excused(res, got.Line, false, got.String()+" is no row of the text")
			}
		}
		return refused, ""
	case res.warned() || res.stats.refused() > 0:
		return warned, ""
	case len(res.rows) != len(b.rows):
		return wrong, strconv.Itoa(len(res.rows)) + " rows, want " + strconv.Itoa(len(b.rows))
	}
	for i, want := range b.rows {
		if !same(want, res.rows[i]) {
			return wrong, res.rows[i].String() + ", want " + want.String()
		}
	}
	return whole, ""
}

// judgeJoined judges the rows of a text with a part behind it: all rows are true; the part's rows are there, or the
// run says that something is not as it should be.
func judgeJoined(b *base, res *result, j join) (judgement, string) {
	decided := 0
	for _, got := range res.rows {
		if !b.has(got) {
			return excused(res, got.Line, false, got.String()+" is no row of either part")
		}
		if got.Allowed != nil {
			decided++
		}
	}
	switch {
	case j == readAll && (res.code != 0 || res.warned()):
		return wrong, "the part behind is not read: " + res.stderr
	case res.code != 0:
		return refused, ""
	case res.warned():
		return warned, ""
	case j == mustSay:
		return wrong, "nothing says that the part behind cannot be read"
	case j == readAll && res.stats.refused() > 0:
		return wrong, "lines of the part behind are refused"
	case decided <= len(b.rows):
		return wrong, strconv.Itoa(decided) + " rows, of " + strconv.Itoa(len(b.rows)) + " in the first part alone"
	}
	return whole, ""
}
