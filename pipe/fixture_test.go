package pipe

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/output"
	"github.com/robobatch/robobatch/robots"
)

var alloc = memory.DefaultAllocator

// testRules are the robots.txt of the tests, by origin.
var testRules = map[robots.Origin]string{
	"https://example.com":       "User-agent: *\nDisallow: /private\nAllow: /private/ok\nDisallow: /*.pdf$\nUser-agent: botone\nDisallow: /\n",
	"http://example.com":        "User-agent: botone\nDisallow: /one\n",
	"https://caf\u00e9.example": "User-agent: *\nDisallow: /caf\xe9\nClean-param: ref&sid /\n",
	"https://open.example":      "",
}

// newStore returns a store of testRules for the agents.
func newStore(tb testing.TB, canonical bool, agents ...string) *engine.Store {
	tb.Helper()
	opt := engine.StoreOptions{Agents: agents}
	if canonical {
		opt.Directives = robots.Directives()
	}
	return buildTestStore(tb, opt)
}

// buildTestStore returns a store of testRules, in Google's dialect.
func buildTestStore(tb testing.TB, opt engine.StoreOptions) *engine.Store {
	tb.Helper()
	responses := func(yield func(robots.Response, error) bool) {
		for origin, body := range testRules {
			name, err := robots.ParseOrigin(string(origin))
			if !yield(robots.Response{Origin: name, Status: 200, Body: []byte(body)}, err) {
				return
			}
		}
	}
	opt.Dialect = robots.Google
	store, err := engine.BuildStore(responses, opt)
	if err != nil {
		tb.Fatal(err)
	}
	return store
}

// randomURL returns a random URL, valid or not; nil means null.
func randomURL(r *rand.Rand) []byte {
	hosts := []string{
		"https://example.com", "http://example.com", "https://caf\u00e9.example", "https://xn--caf-dma.example:443",
		"https://open.example", "https://stray.example", "HTTPS://EXAMPLE.com.", "ftp://[::1]:21",
	}
	paths := []string{"", "/", "/private", "/private/ok", "/one", "/x.pdf", "/caf\xe9", "/caf%E9?ref=1&a=2", "/?sid=3", "/robots.txt"}
	switch r.IntN(20) {
	case 0:
		return nil
	case 1:
		return []byte(strings.Repeat("long", maxURL/4+r.IntN(2)))
	case 2:
		return slices.Concat([]byte("https://example.com/private/"), bytes.Repeat([]byte{'x'}, maxURL-28+r.IntN(2)))
	case 3:
		return []byte([]string{"", " ", "not a URL", "/private", "https://", "\x00", "http://example.com:99999/"}[r.IntN(7)])
	}
	return []byte(hosts[r.IntN(len(hosts))] + paths[r.IntN(len(paths))])
}

// slice is the [engine.Source] of some URLs, in small batches.
type urlSource struct{ urls [][]byte }

func (s *urlSource) Next(b *engine.Batch) bool {
	b.Reset()
	n := min(len(s.urls), 7)
	for _, url := range s.urls[:n] {
		span := engine.NoURL
		if len(url) > 0 && len(url) <= maxURL {
			span = engine.Span{Off: uint32(len(b.Data)), Len: uint32(len(url))}
			b.Data = append(b.Data, url...)
		}
		b.URLs, b.Lines = append(b.URLs, span), append(b.Lines, int64(len(b.Lines)+1))
	}
	s.urls = s.urls[n:]
	return n > 0
}

func (s *urlSource) Err() error   { return nil }
func (s *urlSource) Close() error { return nil }

// mainJob returns the verdicts on URLs that the main job writes, by column.
func mainJob(t *testing.T, store *engine.Store, urls [][]byte, columns []string) map[string][]string {
	t.Helper()
	opt := output.Options{Format: output.ArrowStream, Columns: columns, Inputs: []string{"x"}}
	if len(store.Options().Agents) > 1 {
		opt.Layout = output.Wide
	}
	var b bytes.Buffer
	w, err := output.NewWriter(&b, store, opt)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := engine.Run(t.Context(), store, &urlSource{urls}, w, engine.Options{Workers: 1}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	values := map[string][]string{}
	for _, rec := range readStream(t, &b).records {
		for i, f := range rec.Schema().Fields() {
			for row := range int(rec.NumRows()) {
				values[f.Name] = append(values[f.Name], value(rec.Column(i), row))
			}
		}
	}
	return values
}

// value returns a value as text. The text for null differs from that of any text value.
func value(a arrow.Array, row int) string {
	if a.IsNull(row) {
		return "\x00null"
	}
	return a.ValueStr(row)
}

// A stream is a stream that was read with the Arrow library.
type stream struct {
	schema  *arrow.Schema
	records []arrow.Record
}

// readStream reads a stream to its end.
func readStream(t *testing.T, r io.Reader) (s stream) {
	t.Helper()
	in, err := ipc.NewReader(r)
	if err != nil {
		t.Fatal(err)
	}
	s.schema = in.Schema()
	for in.Next() {
		rec := in.Record()
		rec.Retain()
		s.records = append(s.records, rec)
	}
	if err := in.Err(); err != nil {
		t.Fatalf("after %d record batches: %v", len(s.records), err)
	}
	return s
}

// urlTypes are the types that a column of URLs may have.
func urlTypes() []arrow.DataType {
	texts := []arrow.DataType{
		arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString, arrow.BinaryTypes.StringView,
		arrow.BinaryTypes.Binary, arrow.BinaryTypes.LargeBinary, arrow.BinaryTypes.BinaryView,
	}
	types := slices.Clone(texts)
	for i, index := range []arrow.DataType{
		arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Uint16,
		arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Uint64,
	} {
		types = append(types, &arrow.DictionaryType{IndexType: index, ValueType: texts[i%2]}, // the library builds no others
			&arrow.DictionaryType{IndexType: index, ValueType: texts[3+i%2]})
	}
	return types
}

// texts returns texts as an array of the given type; nil means null.
func textArray(t *testing.T, dt arrow.DataType, texts [][]byte) arrow.Array {
	t.Helper()
	d, ok := dt.(*arrow.DictionaryType)
	if !ok {
		b := array.NewBuilder(alloc, dt)
		defer b.Release()
		for _, text := range texts {
			switch b := b.(type) {
			case *array.BinaryBuilder:
				appendText(b, text, text)
			case *array.StringBuilder:
				appendText(b, text, string(text))
			case *array.LargeStringBuilder:
				appendText(b, text, string(text))
			case *array.StringViewBuilder:
				appendText(b, text, string(text))
			case *array.BinaryViewBuilder:
				appendText(b, text, text)
			default:
				t.Fatalf("no builder of %v: %T", dt, b)
			}
		}
		return b.NewArray()
	}
	var distinct [][]byte
	numbers := array.NewBuilder(alloc, d.IndexType)
	defer numbers.Release()
	for _, text := range texts {
		i := slices.IndexFunc(distinct, func(other []byte) bool { return bytes.Equal(text, other) && (text == nil) == (other == nil) })
		if i < 0 {
			i = len(distinct)
			distinct = append(distinct, text) // for dictionaries, the text or the number may be null
		}
		var err error
		if text == nil && len(texts)%2 == 0 {
			numbers.AppendNull()
		} else {
			err = numbers.AppendValueFromString(strconv.Itoa(i))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return array.NewDictionaryArray(dt, numbers.NewArray(), textArray(t, d.ValueType, distinct))
}

// appendText appends a text, or a null.
func appendText[T any](b interface {
	Append(T)
	AppendNull()
}, text []byte, value T,
) {
	if text == nil {
		b.AppendNull()
	} else {
		b.Append(value)
	}
}

// companions returns fields of many types, and columns of n rows for them. The columns are slices of longer ones,
// except unions and runs, slices of which the library cannot write.
func companions(t *testing.T, r *rand.Rand, n int) ([]arrow.Field, []arrow.Array) {
	t.Helper()
	dense, skip, drop := r.IntN(2) == 0, r.IntN(3), r.IntN(3)
	list := arrow.ListOf(arrow.StructOf(arrow.Field{Name: "s", Type: arrow.BinaryTypes.String, Nullable: true},
		arrow.Field{Name: "v", Type: arrow.BinaryTypes.StringView, Nullable: true}))
	fields := []arrow.Field{
		{Name: "i", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		{Name: "nested", Type: list, Nullable: true, Metadata: arrow.NewMetadata([]string{"k"}, []string{"v"})},
		{Name: "map", Type: arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int32), Nullable: true},
		{Name: "fixed", Type: arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Float32), Nullable: true},
		{Name: "bytes", Type: &arrow.FixedSizeBinaryType{ByteWidth: 3}, Nullable: true},
		{Name: "time", Type: arrow.FixedWidthTypes.Timestamp_us, Nullable: true},
		{Name: "none", Type: arrow.Null, Nullable: true},
		{Name: "bool", Type: arrow.FixedWidthTypes.Boolean},
		{Name: "view", Type: arrow.BinaryTypes.BinaryView, Nullable: true},
		{Name: "large", Type: arrow.LargeListOf(arrow.PrimitiveTypes.Uint8), Nullable: true},
		{Name: "word", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int16, ValueType: arrow.BinaryTypes.String}, Nullable: true},
		{Name: "decimal", Type: &arrow.Decimal128Type{Precision: 20, Scale: 2}, Nullable: true},
	}
	var rows strings.Builder
	for i := range skip + n + drop {
		fmt.Fprintf(&rows, `{"i":%d,"nested":[{"s":"x","v":"a view of more than twelve bytes %d"},{"s":null,"v":"short"}],"map":[{"key":"k","value":%d}],`+
			`"fixed":[1.5,%d],"bytes":"AQID","time":"2026-01-31 18:00:0%d","none":null,"bool":%v,"view":"AAAAAAAAAAAAAAAAAAAAAAA%d","large":[%d],"word":"w%d","decimal":"12.34"}`+"\n",
			i, i, i, i, i%10, i%2 == 0, i%10, i%100, r.IntN(5))
	}
	all := strings.Join(strings.Split(strings.TrimSpace(rows.String()), "\n"), ",")
	rec, _, err := array.RecordFromJSON(alloc, arrow.NewSchema(fields, nil), strings.NewReader("["+all+"]"))
	if err != nil {
		t.Fatal(err)
	}
	columns := slices.Clone(rec.NewSlice(int64(skip), int64(skip+n)).Columns())
	fields, columns = append(fields, arrow.Field{Name: "union", Type: nil}), append(columns, unionArray(n, dense))
	fields[len(fields)-1].Type = columns[len(columns)-1].DataType()
	runs := array.NewRunEndEncodedBuilder(alloc, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64)
	for i := range n {
		runs.Append(1)
		runs.ValueBuilder().(*array.Int64Builder).Append(int64(i / 3))
	}
	columns = append(columns, runs.NewArray())
	fields = append(fields, arrow.Field{Name: "runs", Type: columns[len(columns)-1].DataType(), Nullable: true})
	return fields, columns
}

// unionArray returns a union of numbers and texts.
func unionArray(n int, dense bool) arrow.Array {
	var (
		b       array.UnionBuilder = array.NewEmptySparseUnionBuilder(alloc)
		numbers                    = array.NewInt32Builder(alloc)
		texts                      = array.NewStringBuilder(alloc)
	)
	if dense {
		b = array.NewEmptyDenseUnionBuilder(alloc)
	}
	number, text := b.AppendChild(numbers, "n"), b.AppendChild(texts, "t")
	for i := range n {
		if i%2 == 0 {
			b.Append(number)
			numbers.Append(int32(i))
			if !dense {
				texts.AppendEmptyValue()
			}
		} else {
			b.Append(text)
			texts.Append(fmt.Sprint("text ", i))
			if !dense {
				numbers.AppendEmptyValue()
			}
		}
	}
	return b.NewArray()
}
