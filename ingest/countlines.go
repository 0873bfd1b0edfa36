package ingest

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/robobatch/robobatch/ingest/internal/unpack"
)

// CountLines unpacks the logs and counts their line ends, which is a lower bound for the cost of reading them. It uses
// Stdin, Ahead and Window of opt. For logs that are not text, such as Parquet or captures, it returns
// [errors.ErrUnsupported] before it reads any.
func CountLines(names []string, opt LogOptions) (lines int64, err error) {
	l, err := OpenLogs(names, opt)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	for i := range l.inputs {
		if in := &l.inputs[i]; in.content != unpack.Text {
			return 0, fmt.Errorf("count the lines of %s, which is not text: %w", in.Name, errors.ErrUnsupported)
		}
	}
	buf := make([]byte, 256<<10)
	for i := range l.inputs {
		if err := l.text.texts.Open(l.inputs[i].Name, l.opt.Stdin); err != nil {
			return lines, err
		}
		for err = nil; err == nil; {
			var n int
			n, err = l.text.texts.Read(buf)
			lines += int64(bytes.Count(buf[:n], []byte{'\n'}))
		}
		if !errors.Is(err, io.EOF) {
			return lines, err
		}
		if err := l.text.texts.Close(); err != nil {
			return lines, err
		}
	}
	return lines, nil
}
