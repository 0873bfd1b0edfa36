package main

import (
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/console"
)

// A pipeEnds is a run of the command pipe, with the test's ends of its standard input and output.
type pipeEnds struct {
	in       *os.File
	out      *os.File
	exit     chan int
	messages *os.File
}

// startPipe runs the command pipe with rules of https://example.com.
func startPipe(t *testing.T) pipeEnds {
	t.Helper()
	rules := filepath.Join(t.TempDir(), "https_example.com.txt")
	if err := os.WriteFile(rules, []byte("User-agent: *\nDisallow: /private\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var ends [6]*os.File
	for i := 0; i < len(ends); i += 2 {
		var err error
		if ends[i], ends[i+1], err = os.Pipe(); err != nil {
			t.Fatal(err)
		}
	}
	p := pipeEnds{in: ends[1], out: ends[2], messages: ends[4], exit: make(chan int, 1)}
	t.Cleanup(func() {
		for _, f := range ends {
			f.Close()
		}
	})
	go func() {
		p.exit <- run([]string{"pipe", "-rules", rules, "-origin", "https://example.com"}, console.Streams{In: ends[0], Out: ends[3], Err: ends[5]})
		ends[3].Close()
		ends[5].Close()
	}()
	return p
}

// urlRecord returns a record batch of URLs.
func urlRecord(urls ...string) arrow.Record {
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{{Name: "url", Type: arrow.BinaryTypes.String}}, nil))
	b.Field(0).(*array.StringBuilder).AppendValues(urls, nil)
	return b.NewRecord()
}

// TestPipeAnswersAtOnce checks that the command answers a record batch before it receives another batch or the end of
// the stream.
func TestPipeAnswersAtOnce(t *testing.T) {
	p := startPipe(t)
	rec := urlRecord("https://example.com/private/x", "https://example.com/y")
	w := ipc.NewWriter(p.in, ipc.WithSchema(rec.Schema()))
	var r *ipc.Reader
	for i := range 3 {
		if err := w.Write(rec); err != nil {
			t.Fatal(err)
		}
		if r == nil {
			var err error
			if r, err = ipc.NewReader(p.out); err != nil {
				t.Fatal(err)
			}
		}
		if !r.Next() {
			t.Fatalf("no answer to record batch %d: %v", i+1, r.Err())
		}
		allowed := r.Record().Column(2).(*array.Boolean)
		if r.Record().ColumnName(2) != "allowed" || allowed.Len() != 2 || allowed.Value(0) || !allowed.Value(1) {
			t.Errorf("record batch %d is answered by %v", i+1, r.Record())
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if r.Next() || r.Err() != nil {
		t.Errorf("the stream goes on, or ends in %v", r.Err())
	}
	p.in.Close()
	if code := <-p.exit; code != exitDone {
		t.Errorf("exit code %d", code)
	}
}

// TestPipeNobodyReads checks that the command ends without an error when its output is closed, even if more input
// could follow.
func TestPipeNobodyReads(t *testing.T) {
	p := startPipe(t)
	p.out.Close()
	rec := urlRecord("https://example.com/")
	if err := ipc.NewWriter(p.in, ipc.WithSchema(rec.Schema())).Write(rec); err != nil {
		t.Fatal(err)
	}
	select {
	case code := <-p.exit:
		if code != exitDone {
			t.Errorf("exit code %d", code)
		}
	case <-time.After(5 * time.Minute):
		t.Fatal("it waits for more")
	}
	if text, err := io.ReadAll(p.messages); err != nil || len(text) > 0 {
		t.Errorf("it says %q, %v", text, err)
	}
}
