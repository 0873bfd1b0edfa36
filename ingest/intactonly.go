package ingest

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"sync/atomic"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest/internal/capture"
	"github.com/robobatch/robobatch/ingest/internal/fault"
	"github.com/robobatch/robobatch/ingest/internal/unpack"
	"github.com/robobatch/robobatch/ingest/internal/weblog"
	"github.com/robobatch/robobatch/internal/atomicfile"
	"github.com/robobatch/robobatch/internal/place"
)

// LogOptions.IntactOnly reads packed files twice. The first reading unpacks to the end, and finds
// how much of the text is verified; the second one gives the rows, and ends there. A file read only
// once, such as a pipe, is stored in a temporary file, as it is packed. So memory stays bounded
// however long a frame is, and no output has to be cut back. Unpacking is a small part of a run.

// A sureLog is a log whose verified text is known.
type sureLog struct {
	name  string    // to open
	stdin io.Reader // to open if the name is standard input's
	owned io.Closer // to be closed after it; nil if there is none

	window   int64 // see LogOptions
	verified int64 // bytes of text that are verified, if there is a fault
	fault    error // that ended the first reading; nil if all is verified
}

// check reads a log, and returns how to read its verified text.
func (o *LogOptions) check(name string) (log sureLog, err error) {
	log = sureLog{name: name, stdin: o.Stdin, window: o.Window}
	if info, err := place.Of(name).Stat(name); name != fault.Stdin && (err != nil || info.Size >= 0) {
		return log, log.read(name, nil, o.Ahead)
	}
	in := o.Stdin
	if name != fault.Stdin {
		f, err := os.Open(name)
		if err != nil {
			return log, fault.OfFile(name, err, "check the name and the permissions")
		}
		in, log.owned = f, f
	}
	if f, ok := in.(*os.File); ok && unpack.SizeOf(f) >= 0 {
		at, err := f.Seek(0, io.SeekCurrent)
		if err != nil {
			return log, err
		}
		return log, log.read(fault.Stdin, io.NewSectionReader(f, at, math.MaxInt64-at), 0)
	}
	return log, log.store(in, o.TempDir)
}

// store reads a pipe. It stores its bytes if they are packed.
func (log *sureLog) store(pipe io.Reader, dir string) error {
	in := bufio.NewReaderSize(pipe, chunkSize)
	log.name, log.stdin = fault.Stdin, in
	if head, _ := in.Peek(unpack.HeadLen); unpack.Detect(head).Packing == unpack.None {
		return nil
	}
	temp, err := atomicfile.CreateTemp(dir, ".robobatch-*.packed")
	if err != nil {
		return fmt.Errorf("store the log, to read it twice: %w", err)
	}
	log.owned = closers{log.owned, removed{temp}}
	log.stdin = temp.File
	copied := &storing{temp: temp}
	if err := log.read(fault.Stdin, io.TeeReader(in, copied), 0); err != nil && copied.err == nil {
		return err
	}
	if copied.err != nil { // that is no fault of the log
		return fmt.Errorf("store the log, to read it twice: %w", copied.err)
	}
	_, err = temp.Seek(0, io.SeekStart)
	return err
}

// storing writes to a temporary file, and keeps the error of that.
type storing struct {
	temp *atomicfile.Temp
	err  error
}

// Write writes b to the file.
func (s *storing) Write(b []byte) (n int, err error) {
	n, err = s.temp.Write(b)
	s.err = cmp.Or(s.err, s.temp.Wrap(err))
	return n, err
}

// read reads a log to its end, or to a fault.
func (log *sureLog) read(name string, stdin io.Reader, ahead int) error {
	texts := unpack.NewTexts([]string{name}, ahead, log.window, new(atomic.Int64))
	defer texts.Release()
	if err := texts.Open(name, stdin); err != nil {
		return err
	}
	if texts.Verified() == math.MaxInt64 {
		return nil
	}
	buf := make([]byte, unpack.TextSize)
	for log.fault == nil {
		_, log.fault = texts.Read(buf)
	}
	if log.fault == io.EOF {
		log.fault = nil
	}
	log.verified = texts.Verified()
	return nil
}

// close closes everything open beside the text.
func (log *sureLog) close() (err error) {
	if log.owned != nil {
		err = log.owned.Close()
		log.owned = nil
	}
	return err
}

// closers are closed together. Those that are nil are left out.
type closers []io.Closer

// Close closes all.
func (c closers) Close() (err error) {
	for _, one := range c {
		if one != nil {
			err = errors.Join(err, one.Close())
		}
	}
	return err
}

// removed closes a temporary file by removing it.
type removed struct{ *atomicfile.Temp }

// Close removes the file.
func (r removed) Close() error { return r.Remove() }

// A verifiedText is the verified text of a log with a fault. It ends in the fault.
type verifiedText struct {
	unpack.Texts
	left  int64
	fault error
}

// Read reads the text.
func (t *verifiedText) Read(p []byte) (int, error) {
	if t.left == 0 {
		return 0, fmt.Errorf("nothing has verified what follows: %w", t.fault)
	}
	n, err := t.Texts.Read(p[:min(int64(len(p)), t.left)])
	t.left -= int64(n)
	return n, err
}

// Verified returns math.MaxInt64: all of the text was verified before.
func (*verifiedText) Verified() int64 { return math.MaxInt64 }

// A sureWARC says where the verified records of a WARC file end.
type sureWARC struct {
	to    int64 // the first record that is not verified; 0 if all are
	fault error // that ended the first reading
}

// checkWARC reads a WARC file.
func checkWARC(in *Input, fields Fields) (sure sureWARC, err error) {
	w, err := openWARC(in, fields)
	if err != nil {
		return sure, err
	}
	for !w.Done() && sure.fault == nil {
		sure.fault = w.Next(noRows{})
	}
	if sure.fault != nil {
		sure.to = w.Unverified()
	}
	return sure, w.close()
}

// noRows takes no rows.
type noRows struct{}

func (noRows) Row(*weblog.Row, int64, int64)      {}
func (noRows) Refuse(weblog.Result, int64, int64) {}
func (noRows) Skip()                              {}

// stop returns an error once a record was read that is the first of those that are not verified. It
// gives the row that waited for that record.
func (w *warcLog) stop(to capture.Rows, b *engine.Batch) error {
	record, _ := w.At()
	if w.sure.to == 0 || record < w.sure.to {
		return nil
	}
	w.Flush(to)
	for b.Len() > 0 && b.Lines[b.Len()-1] >= w.sure.to {
		b.Truncate(b.Len() - 1)
	}
	return fmt.Errorf("nothing has verified what follows: %w", w.sure.fault)
}
