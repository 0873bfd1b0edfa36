package output

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/schema"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/output/internal/columnar"
	"github.com/robobatch/robobatch/output/internal/container"
	"github.com/robobatch/robobatch/robots"
)

const goldenParquet = `required group field_id=-1 schema {
  required int64 field_id=-1 line;
  required byte_array field_id=-1 input (String);
  optional byte_array field_id=-1 url (String);
  optional byte_array field_id=-1 origin (String);
  required byte_array field_id=-1 agent (String);
  optional boolean field_id=-1 allowed;
  required byte_array field_id=-1 reason (String);
  optional int32 field_id=-1 rule_line;
  optional byte_array field_id=-1 rule (String);
  optional byte_array field_id=-1 canonical_url (String);
  optional boolean field_id=-1 violation;
  required byte_array field_id=-1 binding (String);
  optional byte_array field_id=-1 verified (String);
  optional byte_array field_id=-1 verified_by (String);
  optional byte_array field_id=-1 content_usage (String);
  optional int32 field_id=-1 content_usage_line;
  optional byte_array field_id=-1 content_signal (String);
  optional int32 field_id=-1 content_signal_line;
  optional byte_array field_id=-1 license (String);
  optional boolean field_id=-1 use_train_ai;
  optional boolean field_id=-1 use_search;
  optional boolean field_id=-1 use_ai_input;
  optional boolean field_id=-1 policy_train_ai;
  optional int32 field_id=-1 policy_train_ai_line;
  optional boolean field_id=-1 in_sitemap;
}
`

const goldenArrow = `schema:
  fields: 25
    - line: type=int64
    - input: type=dictionary<values=utf8, indices=int32, ordered=false>
    - url: type=utf8, nullable
    - origin: type=dictionary<values=utf8, indices=int32, ordered=false>, nullable
    - agent: type=dictionary<values=utf8, indices=int32, ordered=false>
    - allowed: type=bool, nullable
    - reason: type=dictionary<values=utf8, indices=int32, ordered=false>
    - rule_line: type=int32, nullable
    - rule: type=dictionary<values=utf8, indices=int32, ordered=false>, nullable
    - canonical_url: type=utf8, nullable
    - violation: type=bool, nullable
    - binding: type=dictionary<values=utf8, indices=int32, ordered=false>
    - verified: type=dictionary<values=utf8, indices=int32, ordered=false>, nullable
    - verified_by: type=dictionary<values=utf8, indices=int32, ordered=false>, nullable
    - content_usage: type=dictionary<values=utf8, indices=int32, ordered=false>, nullable
    - content_usage_line: type=int32, nullable
    - content_signal: type=dictionary<values=utf8, indices=int32, ordered=false>, nullable
    - content_signal_line: type=int32, nullable
    - license: type=dictionary<values=utf8, indices=int32, ordered=false>, nullable
    - use_train_ai: type=bool, nullable
    - use_search: type=bool, nullable
    - use_ai_input: type=bool, nullable
    - policy_train_ai: type=bool, nullable
    - policy_train_ai_line: type=int32, nullable
    - in_sitemap: type=bool, nullable
`

func TestGoldenSchema(t *testing.T) {
	table := tableSpec{urls: 10, agents: 1, sites: 1, batch: 10}.make()
	r, err := file.NewParquetReader(bytes.NewReader(table.bytes(t, Options{Columns: Columns()})))
	if err != nil {
		t.Fatal(err)
	}
	var buf strings.Builder
	schema.PrintSchema(r.MetaData().Schema.Root(), &buf, 2)
	if buf.String() != goldenParquet {
		t.Errorf("Parquet:\n%s", buf.String())
	}
	if by := r.MetaData().GetCreatedBy(); by != "robobatch version devel" {
		t.Errorf("created by %q", by)
	}
	ir, err := ipc.NewReader(bytes.NewReader(table.bytes(t, Options{Format: ArrowStream, Columns: Columns()})))
	if err != nil {
		t.Fatal(err)
	}
	if got, _, _ := strings.Cut(ir.Schema().String(), "  metadata:"); got != goldenArrow {
		t.Errorf("Arrow:\n%s", got)
	}
}

func TestParseColumns(t *testing.T) {
	for list, want := range map[string]string{
		"":             strings.Join(Columns()[:colCanonical], ","),
		"url":          "url",
		"rule , line ": "rule,line",
	} {
		if got, err := ParseColumns(list); err != nil || strings.Join(got, ",") != want {
			t.Errorf("ParseColumns(%q) = %v, %v", list, got, err)
		}
	}
	_, err := ParseColumns("url,verdict,url,,x")
	for _, part := range []string{`"verdict" is unknown`, `"url" is named twice`, `"" is unknown`, `"x"`, "choose from line,input,url"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("no %s in %v", part, err)
		}
	}
	if !errors.Is(err, columnar.ErrColumn) {
		t.Errorf("%v is no errColumn", err)
	}
	if _, err := newWriter(nil, newFakeCatalog(0), nil, Options{Columns: []string{"x"}}, container.Metadata{}); !errors.Is(err, columnar.ErrColumn) {
		t.Errorf("New: %v", err)
	}
	if _, err := newWriter(nil, newFakeCatalog(0), nil, Options{Format: Format(container.NumFormats)}, container.Metadata{}); !errors.Is(err, ErrFormat) {
		t.Errorf("New: %v", err)
	}
}

func TestFormatOf(t *testing.T) {
	for name, want := range map[string]Format{
		"a.parquet": Parquet, "d/a.b.PARQUET": Parquet, "a.arrow": ArrowFile, "a.arrows": ArrowStream, "-": ArrowStream,
		"a.csv": CSV, "a.csv.zst": CSVZstd, "A.CSV.GZ": CSVGzip, "a.jsonl": JSONL, "a.csv.jsonl.zst": JSONLZstd, "a.jsonl.gz": JSONLGzip, ".csv": CSV,
	} {
		if got, err := FormatOf(name); err != nil || got != want {
			t.Errorf("FormatOf(%q) = %v, %v", name, got, err)
		}
	}
	for _, name := range []string{"", "a", "a.txt", "a.zst", "a.parquet.zst", "acsv", "parquet"} {
		if _, err := FormatOf(name); !errors.Is(err, ErrFormat) {
			t.Errorf("FormatOf(%q): %v", name, err)
		}
	}
	if _, err := FormatOf("x.parquet.zst"); err == nil || !strings.HasSuffix(err.Error(), "name it x.parquet") {
		t.Errorf("FormatOf says of packed Parquet: %v", err)
	}
	for name, want := range map[string]string{
		"d/urls.verdicts.parquet": "d/urls.verdicts.partial.parquet", "a.arrow": "a.partial.arrow", "a.arrows": "a.partial.arrows",
		"a.csv": "a.partial.csv", "a.b.CSV.zst": "a.b.partial.CSV.zst", "a.jsonl.gz": "a.partial.jsonl.gz", "a.txt": "a.partial.txt", "a": "a.partial",
	} {
		if got := (Options{}).PartialName(name); got != want {
			t.Errorf("PartialName(%q) = %q, want %q", name, got, want)
		}
	}
}

func TestChooseFormat(t *testing.T) {
	for _, tt := range []struct {
		name, format string
		want         Format
		err          string // a part of the error; "" is none
	}{
		{"", "", Parquet, ""},
		{"", "csv.zst", CSVZstd, ""},
		{"-", "", ArrowStream, ""},
		{"-", "csv", CSV, ""},
		{"-", "parquet", Parquet, ""},
		{"a.csv", "", CSV, ""},
		{"a.csv", "csv", CSV, ""},
		{"a.CSV.GZ", "csv.gz", CSVGzip, ""},
		{"a.txt", "csv", CSV, ""},
		{"/dev/stdout", "jsonl", JSONL, ""},
		{"a.zst", "csv.zst", CSVZstd, ""},
		{"a.txt", "", 0, "unknown output format of a.txt: its name must end in .parquet"},
		{"a.csv", "jsonl", 0, "jsonl does not match the name a.csv: end it in .jsonl, or let the name determine the format"},
		{"a.csv", "csv.zst", 0, "csv.zst does not match the name a.csv"},
		{"a.csv.zst", "csv", 0, "csv does not match the name a.csv.zst"},
		{"a.zst", "csv", 0, "csv does not match the name a.zst"},
		{"a.parquet.zst", "parquet", 0, "parquet does not match the name"},
		{"a.csv", "cvs", 0, `unknown output format "cvs": use one of parquet, arrow, arrows, csv, csv.zst, csv.gz, jsonl, jsonl.zst, jsonl.gz`},
		{"", "CSV", 0, `unknown output format "CSV"`},
	} {
		got, err := ChooseFormat(tt.name, tt.format)
		if tt.err == "" && (err != nil || got != tt.want) || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
			t.Errorf("ChooseFormat(%q, %q) = %v, %v; want %v, %s", tt.name, tt.format, got, err, tt.want, tt.err)
		}
	}
	for f := range Format(container.NumFormats) {
		if got, err := container.ParseFormat(f.Name()); got != f || err != nil {
			t.Errorf("ParseFormat(%q) = %v, %v", f.Name(), got, err)
		}
	}
}

// TestCanonicalNeedsStore asks for canonical URLs of a store that has none.
func TestCanonicalNeedsStore(t *testing.T) {
	store, err := engine.BuildStore(func(func(robots.Response, error) bool) {}, engine.StoreOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewWriter(io.Discard, store, Options{Columns: []string{CanonicalURL}}); !errors.Is(err, columnar.ErrDirectives) {
		t.Errorf("New: %v", err)
	}
}
