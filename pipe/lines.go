package pipe

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/robobatch/robobatch/engine"
)

// RunLines is like Run, for single questions as lines of text: a URL, a tab, and the name of an agent. The answer to
// each is a line, sent immediately: true, false or null. An empty line ends a stream; it is answered by an empty line,
// after the call of Options.Ended. Of the other options, only CheckAgent is used. A question takes a tenth of the time
// of a record batch with one row.
func RunLines(ctx context.Context, store *engine.Store, r io.Reader, w io.Writer, opt Options) (engine.Stats, error) {
	src := &lineSource{r: bufio.NewReaderSize(r, 2*maxURL), names: agentNames{check: opt.CheckAgent}}
	dst := &lineSink{w: bufio.NewWriter(w)}
	for {
		stats, err := engine.Run(ctx, store, src, dst, engine.Options{Workers: 1})
		if source, ok := errors.AsType[*engine.SourceError](err); ok {
			err = source.Err
		}
		if err != nil || !src.ended {
			return stats, err
		}
		if opt.Ended != nil {
			opt.Ended(stats)
		}
		src.ended = false
		if err := dst.writeAnswer("\n"); err != nil {
			return stats, err
		}
	}
}

// A lineSource is the [engine.Source] of the lines of one stream.
type lineSource struct {
	r       *bufio.Reader
	names   agentNames
	ended   bool // the stream was ended by an empty line
	batches int64
	err     error
}

// Next reads a line, and the following lines that are already buffered. It returns false at an empty line, at the end
// and after an error, unless it has read other lines before.
func (s *lineSource) Next(b *engine.Batch) bool {
	b.Reset()
	for !s.ended && s.err == nil && b.Len() < chunkRows && (b.Len() == 0 || s.r.Buffered() > 0) {
		line, err := s.r.ReadSlice('\n')
		if s.batches++; err != nil {
			if !errors.Is(err, io.EOF) || len(line) > 0 {
				s.err = &StreamError{Batch: s.batches, Err: damagedError("no end of line after %d bytes: %v", len(line), err)}
			}
			break
		}
		if line = line[:len(line)-1]; len(line) == 0 {
			s.ended = true
			break
		}
		url, agent, _ := bytes.Cut(line, []byte{'\t'})
		b.URLs = append(b.URLs, engine.NoURL)
		if len(url) > 0 && len(url) <= maxURL {
			b.URLs[b.Len()-1] = addPiece(b, url)
		}
		name := engine.NoURL
		if s.names.checkName(agent, false) == nil {
			name = addPiece(b, agent)
		}
		b.UserAgents = append(b.UserAgents, name)
	}
	return b.Len() > 0
}

// Err returns the error that ended the lines.
func (s *lineSource) Err() error { return s.err }

// Close does nothing.
func (s *lineSource) Close() error { return nil }

// A lineSink is the [engine.Sink] that answers lines.
type lineSink struct{ w *bufio.Writer }

// Write answers the rows of b, at least one, and flushes.
func (s *lineSink) Write(b *engine.Batch) error {
	texts := [...]string{engine.Unknown: "null\n", engine.Denied: "false\n", engine.Allowed: "true\n"}
	for _, v := range b.Verdicts[:max(0, len(b.Verdicts)-1)] {
		s.w.WriteString(texts[v.Access])
	}
	return s.writeAnswer(texts[b.Verdicts[len(b.Verdicts)-1].Access])
}

// writeAnswer writes the last line and flushes.
func (s *lineSink) writeAnswer(line string) error {
	s.w.WriteString(line)
	return s.w.Flush()
}

// Close does nothing.
func (s *lineSink) Close() error { return nil }
