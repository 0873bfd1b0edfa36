package flags

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/ipc"

	"github.com/robobatch/robobatch/crawlers"
	"github.com/robobatch/robobatch/crawlers/ranges"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest"
	"github.com/robobatch/robobatch/output"
	"github.com/robobatch/robobatch/robots"
	"github.com/robobatch/robobatch/sitemap"
)

// TestColumnDocs compares the help texts for columns with the schema of an output.
func TestColumnDocs(t *testing.T) {
	fields := map[string]arrow.Field{}
	for _, opt := range []engine.StoreOptions{{Directives: robots.Directives(), Sitemaps: sitemap.NewBuilder(robots.Google, 0).Set()}, {LogAgents: engine.LogAgentsStar, Ranges: new(ranges.Lists)}} {
		store, err := engine.BuildStore(func(func(robots.Response, error) bool) {}, opt)
		if err != nil {
			t.Fatal(err)
		}
		columns := slices.DeleteFunc(output.Columns(), func(name string) bool {
			return output.NeedsOf(name).Check(opt) != nil
		})
		var file bytes.Buffer
		w, err := output.NewWriter(&file, store, output.Options{Format: output.ArrowStream, Columns: columns})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		r, err := ipc.NewReader(&file)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range r.Schema().Fields() {
			fields[f.Name] = f
		}
		r.Release()
	}
	kinds := map[arrow.Type]string{arrow.INT64: "int64", arrow.INT32: "int32", arrow.BOOL: "bool", arrow.STRING: "string", arrow.DICTIONARY: "dictionary string"}
	if len(columnDocs) != len(fields) || len(fields) != len(output.Columns()) {
		t.Errorf("%d columns described, %d written", len(columnDocs), len(fields))
	}
	for name, f := range fields {
		d, ok := columnDocs[name]
		if !ok || d.kind != kinds[f.Type.ID()] || (d.null != "") != f.Nullable || d.about == "" {
			t.Errorf("%s is described as %+v, and written as %v, null %v", name, d, f.Type, f.Nullable)
		}
	}
}

// TestTopics checks that the help topics name all formats, crawlers, columns and dialects, and that their lines are
// not too long.
func TestTopics(t *testing.T) {
	texts := map[string]string{}
	for _, topic := range Topics {
		texts[topic.Name] = topic.Text()
	}
	sets := crawlers.Sets()
	wide, err := output.Options{Layout: output.Wide, Columns: []string{"url", "allowed", "rule"}}.ColumnNames([]string{"*", "GPTBot"})
	if err != nil {
		t.Fatal(err)
	}
	for name, words := range map[string][]string{
		"formats":  slices.Concat(Formats(), keptTypeNames(), []string{".parquet", ".arrow", ".arrows"}),
		"agents":   slices.Concat(tokensOf(crawlers.Set("all")), sets),
		"columns":  slices.Concat(output.Columns(), wide, []string{"url,allowed,rule"}),
		"dialects": robots.Dialects(),
		"fields":   append(ingest.FieldRoles(), "RequestPath", "Traefik", "request_uri"),
	} {
		for _, word := range words {
			if !hasWord(texts[name], word) {
				t.Errorf("help %s lacks %s", name, word)
			}
		}
		for line := range strings.Lines(texts[name]) {
			if utf8.RuneCountInString(line) > 101 {
				t.Errorf("help %s has a line of %d bytes: %s", name, len(line), line)
			}
		}
	}
	for _, f := range ingest.Formats() {
		if f.About() == "" {
			t.Errorf("nothing about the format %s", f)
		}
	}
	for r := range engine.Reason(engine.NumReasons) {
		if !hasWord(texts["columns"], r.String()) {
			t.Errorf("help columns lacks the reason %s", r)
		}
	}
	if len(aboutDialects) != len(robots.Dialects()) {
		t.Errorf("%d dialects described, there are %d", len(aboutDialects), len(robots.Dialects()))
	}
}

// hasWord reports whether the text has the word with no letter, digit, dot, minus or underscore
// next to it; a comma, a full stop at the end of a sentence or the like may follow.
func hasWord(text, word string) bool {
	return regexp.MustCompile(`(^|[^\w.-])` + regexp.QuoteMeta(word) + `($|[^\w.-]|[.]\s)`).MatchString(text)
}
