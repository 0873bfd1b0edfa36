package output

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/internal/fieldtext"
	"github.com/robobatch/robobatch/output/internal/columnar"
	"github.com/robobatch/robobatch/output/internal/container"
	"github.com/robobatch/robobatch/output/internal/order"
	"github.com/robobatch/robobatch/output/internal/partition"
	"github.com/robobatch/robobatch/robots"
)

// errClosed is the error of a Write after Close.
var errClosed = errors.New("write after close")

// A Writer is an [engine.Sink] that writes rows to a stream of bytes, in one of the formats. After an error, all
// further calls return the same error. It is not safe for concurrent use.
type Writer struct {
	chunk     *columnar.Chunk
	filter    *filter // nil if all rows are written
	sink      *container.Sink
	lookup    *engine.Lookup // finds the rules of verdicts; nil if the catalog is not a Store (in tests)
	old       *engine.Lookup // the same for Options.Old
	container container.Container
	metadata  container.Metadata
	written   int64 // rows passed to the container
	invalid   int64 // bytes of these rows that were not valid UTF-8
	formulas  Formulas
	closed    bool
	err       error // the first error, sticky
}

// NewWriter returns a Writer of the verdicts of store, which writes to w. It writes nothing before the first full
// chunk or Close. The errors are those of ParseColumns, [Options.ColumnNames] and [Options.CheckContainer], ErrFormat,
// ErrPartition because a stream has no partitions, and errors about columns that the store was not built for.
func NewWriter(w io.Writer, store *engine.Store, opt Options) (*Writer, error) {
	if err := opt.Needs().Check(store.Options()); err != nil {
		return nil, err
	}
	fromLog := store.Options().LogAgents != engine.LogAgentsOff
	if opt.Old != nil && (opt.Layout == Wide || opt.Where != 0) {
		return nil, columnar.ErrChanges
	}
	if fromLog && opt.Layout == Wide {
		return nil, fmt.Errorf("%w: the wide layout needs named agents, but the agents of this store come from the log", columnar.ErrLayout)
	}
	if fromLog {
		opt.perURL = 1
	}
	md := container.Metadata{}
	md.Set(KeyDialect, store.Options().Dialect.String())
	md.Set(container.KeyAgents, container.JSONText(store.Options().Agents))
	md.Set(container.KeyRulesHash, store.RulesHash())
	md.Set(KeyInputs, container.JSONText(opt.Inputs))
	if needs := opt.Needs(); needs.HasUsage() {
		md.Set(container.KeyPreferences, robots.UsageRevision)
	}
	if opt.Old != nil {
		md.Set(container.KeyRulesHashOld, opt.Old.RulesHash())
	}
	cat := store.NewLookup()
	out, err := newWriter(w, cat, store.Options().Agents, opt, md)
	if err == nil {
		out.lookup = cat
		if opt.Old != nil {
			out.old = opt.Old.NewLookup()
			out.chunk.Names.Old = columnar.NewOldRules(out.old)
		}
	}
	return out, err
}

// newWriter is like NewWriter for any catalog, and does not check the store. It sets KeyVersion in md. w may be nil if
// the output is partitioned.
func newWriter(w io.Writer, cat columnar.Catalog, agents []string, opt Options, md container.Metadata) (*Writer, error) {
	parts := opt.partitionOptions()
	if err := parts.File.CheckFormat(); err != nil {
		return nil, err
	}
	all, written, err := opt.shape().Schemas(agents)
	if err != nil {
		return nil, err
	}
	if err := opt.CheckContainer(agents); err != nil {
		return nil, err
	}
	md.Set(KeyVersion, parts.File.Version)
	if opt.Terminal && !opt.Format.HasMetadata() && w != nil {
		w = fieldtext.NewVisible(w)
	}
	out := &Writer{sink: container.NewSink(w), metadata: md}
	parts.File.Formulas = &out.formulas
	names := columnar.NewNumbering(cat, opt.Inputs, agents, all)
	names.SetLocation(opt.Location)
	var lim columnar.Limits
	if len(opt.Partition) > 0 {
		target, err := partition.NewTarget(all, written, parts, &out.metadata)
		if err != nil {
			return nil, err
		}
		out.container, lim = order.NewSplitter(all, opt.sortOptions(), target, opt.openFileMemory()), order.SortChunk
	} else if out.container, lim, err = parts.File.Begin(out.sink, written, &out.metadata); err != nil {
		return nil, err
	}
	if opt.Sort != SortNone && len(opt.Partition) == 0 {
		target := order.NewFileTarget(out.container, written, lim, &out.metadata)
		out.container, lim = order.NewArranger(all, opt.sortOptions(), target), order.SortChunk
	}
	perURL := cmp.Or(opt.perURL, len(agents))
	if opt.Where != 0 || opt.Old != nil {
		out.filter = &filter{where: opt.Where, wide: opt.Layout == Wide, agents: perURL, change: opt.Old != nil}
		out.filter.access[engine.Denied] = opt.Where&WhereDisallowed != 0
		out.filter.access[engine.Allowed] = opt.Where&WhereAllowed != 0
		perURL = 1
	}
	out.chunk = columnar.NewChunk(all, perURL, names, lim.ForSchema(all))
	return out, nil
}

// Write adds the rows of an evaluated batch that Options.Where selects. It does not keep b. It returns an error after
// Close, and if b has fewer columns than Options.Kept.
func (w *Writer) Write(b *engine.Batch) error {
	if w.err != nil {
		return w.err
	}
	if w.closed {
		return errClosed
	}
	if have, want := len(b.Kept), w.chunk.Schema.Kept; b.Len() > 0 && have < want {
		w.err = fmt.Errorf("%w: %d kept columns, want %d", columnar.ErrColumn, have, want)
		return w.err
	}
	if w.lookup != nil {
		w.lookup.Use(b)
	}
	if w.old != nil {
		w.old.Use(b.Old)
	}
	if w.filter != nil {
		b = w.filter.selectRows(b)
	}
	for from := 0; from < b.Len(); {
		to := w.chunk.Fit(b, from)
		w.chunk.Append(b, from, to)
		from = to
		if w.chunk.Full() {
			if w.err = w.flush(); w.err != nil {
				return w.err
			}
		}
	}
	return nil
}

// flush passes the chunk to the container, and continues with the empty chunk that it returns. After an error, it
// aborts the container. It does nothing if the chunk has no rows.
func (w *Writer) flush() error {
	c := w.chunk
	if c.Rows == 0 {
		return nil
	}
	c.CountInvalid()
	w.invalid += c.Invalid
	rows := int64(c.Rows)
	next, err := w.container.Write(c)
	if err != nil {
		w.container.Abort()
		return fmt.Errorf("write rows %d to %d: %w", w.written+1, w.written+rows, err)
	}
	w.written += rows
	w.chunk = next
	return nil
}

// Close completes the table, and returns the first error of the Writer. It does not close the stream. Further calls
// return the same error.
func (w *Writer) Close() error {
	if w.closed || w.err != nil {
		w.abort()
		return w.err
	}
	w.closed = true
	defer w.container.Abort()
	if w.err = w.flush(); w.err != nil {
		return w.err
	}
	w.metadata.Set(container.KeyRows, strconv.FormatInt(w.written, 10))
	w.metadata.Set(container.KeyInvalidUTF8, strconv.FormatInt(w.InvalidBytes(), 10))
	if w.err = w.container.Close(w.chunk, w.metadata); w.err == nil {
		w.err = w.sink.Flush()
	}
	if w.err != nil {
		w.err = fmt.Errorf("write the end: %w", w.err)
	}
	return w.err
}

// abort stops the work. The output stays incomplete.
func (w *Writer) abort() {
	w.closed = true
	w.container.Abort()
}

// SetMetadata sets a value of the metadata, which text formats do not have. Call it before Close, and for Arrow
// before the first Write, because Arrow writes metadata before the rows.
func (w *Writer) SetMetadata(key, value string) { w.metadata.Set(key, value) }

// Rows returns the number of rows written. Without a Where, it is the number of URLs in the wide layout, otherwise
// the number of URLs times the number of agents.
func (w *Writer) Rows() int64 { return w.written + int64(w.chunk.Rows) }

// Formulas returns the cells that spreadsheets would run as formulas. The count is complete after Close.
func (w *Writer) Formulas() Formulas { return w.formulas }

// InvalidBytes returns the number of bytes that were not valid UTF-8 and were written as %XX. It is complete after
// Close.
func (w *Writer) InvalidBytes() int64 { return w.invalid + w.chunk.Invalid }
