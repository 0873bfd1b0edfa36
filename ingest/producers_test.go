package ingest

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/schema"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest/internal/testpack"
	"github.com/robobatch/robobatch/ingest/internal/weblog"
	"github.com/robobatch/robobatch/robots"
)

// A producerRow is the expected row of a sample.
type producerRow struct {
	Line      int64
	URL       string
	Client    *string
	Time      *string
	UserAgent *string `json:"user_agent"`
	Status    *int64
	Bytes     *int64
}

// TestProducers reads the sample of each producer without naming fields, and compares all rows.
func TestProducers(t *testing.T) {
	dirs, err := filepath.Glob("testdata/producers/*/flags")
	if err != nil || len(dirs) == 0 {
		t.Fatal(err)
	}
	for _, flags := range dirs {
		dir := filepath.Dir(flags)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			var log string
			files, err := os.ReadDir(dir)
			for _, f := range files {
				if name := f.Name(); name != "expected.jsonl" && name != "flags" {
					log = filepath.Join(dir, name)
				}
			}
			flags, err2 := os.ReadFile(filepath.Join(dir, "flags"))
			expected, err3 := os.ReadFile(filepath.Join(dir, "expected.jsonl"))
			if err != nil || err2 != nil || err3 != nil {
				t.Fatal(err, err2, err3)
			}
			opt := LogOptions{Fields: Fields{Agents: true, Times: true, Clients: true}, Keep: []KeptColumn{{Field: "status", Kind: engine.KeptInt, Optional: true}, {Field: "bytes", Kind: engine.KeptInt, Optional: true}}}
			words := strings.Fields(string(flags))
			if i := slices.Index(words, "-base"); i >= 0 {
				opt.Fields.Base = robots.Origin(words[i+1])
			}
			if i := slices.Index(words, "-field"); i >= 0 {
				role, field, _ := strings.Cut(words[i+1], "=")
				opt.Fields.Named = map[string]string{role: field}
			}
			if i := slices.Index(words, "-client-at"); i >= 0 {
				opt.Fields.ClientAt = int(words[i+1][0] - '0')
			}
			if !strings.Contains(string(expected), `"client": "`) {
				opt.Fields.Clients = false
			}
			got, err := readProducer(t, log, opt)
			if err != nil && (!errors.Is(err, ErrNoURL) || strings.Contains(string(expected), `"url": "http`)) {
				t.Fatal(err)
			} else if err != nil {
				return // it says which fields exist
			}
			for line := range strings.Lines(string(expected)) {
				var want producerRow
				if err := json.Unmarshal([]byte(line), &want); err != nil {
					t.Fatal(err)
				}
				have, err := json.Marshal(got[want.Line])
				if wanted, err2 := json.Marshal(want); err != nil || err2 != nil || string(have) != string(wanted) {
					t.Errorf("line %d:\n%s, want\n%s", want.Line, have, wanted)
				}
			}
			if n := strings.Count(string(expected), "\n"); len(got) != n {
				t.Errorf("%d rows, want %d", len(got), n)
			}
		})
	}
}

// readProducer reads a sample.
func readProducer(t *testing.T, log string, opt LogOptions) (map[int64]producerRow, error) {
	t.Helper()
	l, err := OpenLogs([]string{log}, opt)
	if err != nil {
		t.Fatal(err)
	}
	rows := map[int64]producerRow{}
	text := func(b *engine.Batch, s engine.Span) *string {
		if s == engine.NoURL {
			return nil
		}
		text := string(b.Piece(s))
		return &text
	}
	var b engine.Batch
	for l.Next(&b) {
		for i, url := range b.URLs {
			row := producerRow{Line: b.Lines[i], URL: string(b.Piece(url)), UserAgent: text(&b, b.UserAgents[i])}
			if opt.Fields.Clients {
				row.Client = text(&b, b.Clients[i])
			}
			if at := b.Times[i]; at != weblog.NoTime {
				moment := time.UnixMicro(at).UTC().Format("2006-01-02T15:04:05.000000Z")
				row.Time = &moment
			}
			for k, of := range []**int64{&row.Status, &row.Bytes} {
				if b.Kept[k].Present[i] {
					n := b.Kept[k].Ints[i]
					*of = &n
				}
			}
			rows[row.Line] = row
		}
	}
	return rows, l.Err()
}

// TestProducerParquet reads CloudFront's Parquet columns, in which URLs and times are split and User-Agents are
// encoded.
func TestProducerParquet(t *testing.T) {
	columns := [][2]string{
		{"date", "2026-03-03"},
		{"time", "10:15:00"},
		{"x_edge_location", "FRA60"},
		{"c_ip", "192.0.2.7"},
		{"cs_host", "d1.cloudfront.net"},
		{"cs_uri_stem", "/list"},
		{"cs_uri_query", "a=1"},
		{"cs_user_agent", "a%20b"},
		{"x_host_header", "www.example.org"},
		{"sc_status", "404"},
		{"sc_bytes", "7"},
	}
	rows, err := readProducer(t, rowParquet(t, columns), LogOptions{
		Fields: Fields{Agents: true, Times: true, Clients: true}, Keep: []KeptColumn{{Field: "status", Kind: engine.KeptInt}, {Field: "bytes", Kind: engine.KeptInt}},
	})
	have, errJSON := json.Marshal(rows[1])
	const want = `{"Line":1,"URL":"https://www.example.org/list?a=1","Client":"192.0.2.7","Time":"2026-03-03T10:15:00.000000Z","user_agent":"a b","Status":404,"Bytes":7}`
	if err := errors.Join(err, errJSON); err != nil || string(have) != want {
		t.Errorf("%s, %v, want %s", have, err, want)
	}
}

// TestParquetLeft checks that a column with an unknown name is reported if it has content that a role lacks.
func TestParquetLeft(t *testing.T) {
	name := rowParquet(t, [][2]string{{"path", "/list"}, {"asked_for", "a=1"}, {"sent_to", "www.example.org"}, {"by", "192.0.2.7"}, {"note", "x y"}})
	l, err := OpenLogs([]string{name}, LogOptions{Fields: Fields{Base: "https://www.example.org", Times: true}})
	if err != nil {
		t.Fatal(err)
	}
	for b := (engine.Batch{}); l.Next(&b); {
	}
	took := l.Inputs()[0].Took
	if err := l.Close(); err != nil || l.Err() != nil || took == nil {
		t.Fatal(err, l.Err(), took)
	}
	want := []weblog.Left{{Role: "query", Field: "asked_for", Value: "a=1"}, {Role: "host", Field: "sent_to", Value: "www.example.org"}}
	if !slices.Equal(took.Left, want) {
		t.Errorf("%v, want %v", took.Left, want)
	}
}

// rowParquet writes a Parquet file with one row of these columns, and returns its name.
func rowParquet(t *testing.T, columns [][2]string) string {
	t.Helper()
	var nodes schema.FieldList
	for _, c := range columns {
		nodes = append(nodes, schema.MustPrimitive(schema.NewPrimitiveNodeLogical(c[0], parquet.Repetitions.Required, schema.StringLogicalType{}, parquet.Types.ByteArray, 0, -1)))
	}
	var buf bytes.Buffer
	w := file.NewParquetWriter(&buf, schema.MustGroup(schema.NewGroupNode("schema", parquet.Repetitions.Required, nodes, -1)))
	g := w.AppendRowGroup()
	for _, c := range columns {
		column, err := g.NextColumn()
		if err == nil {
			_, err = column.(*file.ByteArrayColumnChunkWriter).WriteBatch([]parquet.ByteArray{[]byte(c[1])}, nil, nil)
		}
		if err = errors.Join(err, column.Close()); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(g.Close(), w.Close()); err != nil {
		t.Fatal(err)
	}
	return testpack.WriteFile(t, t.TempDir(), "x.parquet", buf.Bytes())
}
