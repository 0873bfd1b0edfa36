package ingest

import (
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest/internal/capture"
	"github.com/robobatch/robobatch/ingest/internal/weblog"
)

// A warcLog reads the fetches of a WARC file as rows.
type warcLog struct {
	*capture.Fetches
	size int64
}

// openWARC opens a WARC file.
func openWARC(in *Input, fields Fields) (*warcLog, error) {
	f, err := capture.OpenFetches(in.Name, fields)
	if err != nil {
		return nil, err
	}
	return &warcLog{Fetches: f, size: in.Size}, nil
}

// fill adds at most that many rows, of about that many bytes, to b. It returns why it stopped before the end.
func (w *warcLog) fill(r *rowReader, b *engine.Batch, rows, size int) error {
	var to capture.Rows = warcRows{r, b}
	for b.Len() < rows && len(b.Data) < size && !w.Done() { // each iteration adds at most one row
		if err := w.Next(to); err != nil {
			return err
		}
	}
	return nil
}

// packed returns how far the file was read: all of it at the end, whatever lies after the last record.
func (w *warcLog) packed() int64 {
	if w.Done() {
		return w.size
	}
	return w.BytesRead()
}

// at returns the record that was read last.
func (w *warcLog) at() where {
	record, offset := w.At()
	return where{record, offset}
}

func (w *warcLog) unverified() int64 { return w.Unverified() }
func (w *warcLog) done() bool        { return w.Done() }
func (w *warcLog) format() Format    { return weblog.WARC }
func (w *warcLog) close() error      { return w.Close() }

// warcRows add the rows of a WARC file to a batch.
type warcRows struct {
	r *rowReader
	b *engine.Batch
}

// Row adds a fetch.
func (w warcRows) Row(row *weblog.Row, record, offset int64) {
	w.r.row = *row
	w.r.row.Blank = weblog.HasBlank(row.Target) // as of a header in two lines
	w.r.addRow(w.b, row.Target, where{record, offset})
}

// Refuse counts a record that is of no use.
func (w warcRows) Refuse(why weblog.Result, record, offset int64) {
	w.r.refuse(w.b, why, nil, where{record, offset})
}

// Skip counts a record that is not of a fetch.
func (w warcRows) Skip() { w.r.headers++ }
