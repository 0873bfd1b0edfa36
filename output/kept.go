package output

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/robobatch/robobatch/engine"
)

// A KeptColumn is a column of the input that is written behind those of the verdicts. It has nulls.
type KeptColumn struct {
	Name string
	Kind engine.KeptKind
}

// keptKinds are the kinds of kept columns.
var keptKinds = [...]kind{
	engine.KeptText: kindText, engine.KeptInt: kindInt64, engine.KeptTime: kindTime, engine.KeptFloat: kindFloat, engine.KeptBool: kindBool,
}

// A layout is the columns of a table, in their order.
type layout struct {
	picked []column
	kept   []field // behind them, by index in engine.Batch.Kept
	plain  bool    // texts are laid out as Parquet's encoding PLAIN has them
	date   bool    // behind all, the day of each row, which is not written
	wide   []field // of the columns of agents, by column less numColumns; nil in the long layout
}

// newLayout returns the columns that opt asks for. The error joins one for each that cannot be, such as a [ColumnError].
func newLayout(opt Options, agents []string) (layout, error) {
	names := opt.Columns
	if len(names) == 0 {
		names = opt.Layout.DefaultColumns()
	}
	picked, err := pick(names)
	l := layout{picked: picked, plain: opt.Format == Parquet}
	errs := []error{err}
	if opt.Layout == Wide && err == nil {
		errs = append(errs, l.widen(agents)...)
	}
	for _, k := range opt.Kept {
		_, taken := lookup(k.Name)
		taken = taken || slices.ContainsFunc(l.fields(), func(f field) bool { return f.name == k.Name })
		if taken || k.Name == "" {
			errs = append(errs, &ColumnError{Name: k.Name, Reason: "the name of another column"})
		}
		l.kept = append(l.kept, field{name: k.Name, kind: keptKinds[k.Kind], nullable: true})
	}
	return l, errors.Join(errs...)
}

// fields returns what describes the columns.
func (l layout) fields() []field {
	all := make([]field, 0, len(l.picked)+len(l.kept))
	for _, col := range l.picked {
		all = append(all, l.field(col))
	}
	return append(all, l.kept...)
}

// field returns what describes a column.
func (l layout) field(col column) field {
	if int(col) < numColumns {
		return fields[col]
	}
	return l.wide[int(col)-numColumns]
}

// A keptColumn holds a kept column of the rows of a chunk. Only what its kind needs is filled.
type keptColumn struct {
	kind   kind
	texts  textColumn
	ints   valueColumn[int64] // of times, too
	floats valueColumn[float64]
	bools  valueColumn[bool]
}

func (k *keptColumn) reset() {
	k.texts.reset()
	k.ints.reset()
	k.floats.reset()
	k.bools.reset()
}

// keptBytes returns how many bytes the kept texts of a row have.
func (c *columns) keptBytes(b *engine.Batch, row int) (n int) {
	for i := range c.kept {
		if c.kept[i].kind == kindText {
			n += int(b.Kept[i].Texts[row].Len)
		}
	}
	return n
}

// appendKept adds the kept columns of the URLs from up to to of b.
func (c *columns) appendKept(b *engine.Batch, from, to int) {
	for i := range c.kept {
		k, src := &c.kept[i], &b.Kept[i]
		present := src.Present[from:to]
		switch k.kind {
		case kindText:
			c.appendURLs(&k.texts, b.Data, src.Texts[from:to])
		case kindFloat:
			appendValues(&k.floats, src.Floats[from:to], present, c.agents)
		case kindBool:
			values, levels := k.bools.extendNullable((to - from) * c.agents)
			for j, v := range src.Ints[from:to] {
				for a := range c.agents {
					values[j*c.agents+a] = v != 0
				}
			}
			k.bools.nulls += fillLevels(levels, present, c.agents)
		default:
			appendValues(&k.ints, src.Ints[from:to], present, c.agents)
		}
	}
}

// appendValues adds values, once for each agent.
func appendValues[T any](v *valueColumn[T], src []T, present []bool, agents int) {
	values, levels := v.extendNullable(len(src) * agents)
	for i, value := range src {
		for a := range agents {
			values[i*agents+a] = value
		}
	}
	v.nulls += fillLevels(levels, present, agents)
}

// fillLevels sets what is present, once for each agent, and returns how many are not.
func fillLevels(levels []int16, present []bool, agents int) (nulls int) {
	for i, is := range present {
		level := int16(0)
		if is {
			level = 1
		} else {
			nulls += agents
		}
		for a := range agents {
			levels[i*agents+a] = level
		}
	}
	return nulls
}

// encodeKept makes e.page the page of a kept column.
func (e *pageEncoder) encodeKept(k *keptColumn) (stats columnStats) {
	e.page = e.page[:0]
	switch k.kind {
	case kindText:
		stats.nulls = e.addLevels(k.texts.present, k.texts.nulls)
		e.page = append(e.page, k.texts.text...)
		stats.addPlain(k.texts.text)
	case kindFloat:
		stats.nulls = e.addLevels(k.floats.present, k.floats.nulls)
		floats := compact(&e.floats, &k.floats)
		stats.addFloats(floats)
		for _, f := range floats {
			e.page = binary.LittleEndian.AppendUint64(e.page, math.Float64bits(f))
		}
	case kindBool:
		stats.nulls = e.addLevels(k.bools.present, k.bools.nulls)
		bools := compact(&e.bools, &k.bools)
		stats.addBools(bools)
		e.page = packBits(e.page, bools)
	default:
		stats.nulls = e.addLevels(k.ints.present, k.ints.nulls)
		ints := compact(&e.ints, &k.ints)
		addInts(&stats, ints)
		for _, n := range ints {
			e.page = binary.LittleEndian.AppendUint64(e.page, uint64(n))
		}
	}
	return stats
}

// arrowKept returns a kept column of the chunk.
func (c *columns) arrowKept(i int, t arrow.DataType) arrow.Array {
	k := &c.kept[i]
	switch k.kind {
	case kindText:
		return newArray(t, c.rows, k.texts.present, k.texts.nulls, arrow.Int32Traits.CastToBytes(k.texts.offsets), k.texts.text)
	case kindFloat:
		return newArray(t, c.rows, k.floats.present, k.floats.nulls, arrow.Float64Traits.CastToBytes(k.floats.values))
	case kindBool:
		return newArray(t, c.rows, k.bools.present, k.bools.nulls, packBits(nil, k.bools.values))
	default:
		return newArray(t, c.rows, k.ints.present, k.ints.nulls, arrow.Int64Traits.CastToBytes(k.ints.values))
	}
}

// checkKept returns an error if b does not have the kept columns.
func (w *Writer) checkKept(b *engine.Batch) error {
	if b.Len() > 0 && len(b.Kept) != len(w.columns.kept) {
		return fmt.Errorf("%w: %d kept columns, want %d", ErrColumn, len(b.Kept), len(w.columns.kept))
	}
	return nil
}
