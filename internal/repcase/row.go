package repcase

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A Row is one verdict of one source: for this robots.txt, this agent may or may not fetch this URL.
type Row struct {
	ID         string   `json:"id"`
	Source     string   `json:"source"`
	Tier       string   `json:"tier"`       // "normative", "oracle" or "peer"
	Dialect    string   `json:"dialect"`    // that the source speaks
	Robots     string   `json:"robots"`     // the file, if it is text
	RobotsB64  []byte   `json:"robots_b64"` // the file, if it is not
	Agent      string   `json:"agent"`
	AgentToken *string  `json:"agent_token"` // Agent cut to a product token; nil if it is one
	Agents     []string `json:"agents"`      // all names of a query by several, see Multi
	Multi      any      `json:"multi"`       // not nil: a query by several names at once
	URL        string   `json:"url"`
	URLB64     []byte   `json:"url_b64"`
	Allow      *bool    `json:"allow"` // nil: the source leaves it undefined
	Note       string   `json:"note"`
	Class      string   `json:"class"` // of the disagreement between the source and google/robotstxt, if any

	// What google/robotstxt answers.

	Oracle      string `json:"google_oracle"`       // "allow" or "disallow"
	OracleLine  int32  `json:"google_line"`         // the winning line, 0 if none
	OracleToken string `json:"google_oracle_token"` // its answer when asked by AgentToken
	Agrees      *bool  `json:"agrees_with_google"`
}

// Body returns the robots.txt.
func (r *Row) Body() []byte {
	if r.RobotsB64 != nil {
		return r.RobotsB64
	}
	return []byte(r.Robots)
}

// Address returns the URL.
func (r *Row) Address() []byte {
	if r.URLB64 != nil {
		return r.URLB64
	}
	return []byte(r.URL)
}

// A File is one file of rows.
type File struct {
	Name string // without extensions: the source's name
	Rows []Row
}

// notVerdicts are the files whose lines are no Rows.
var notVerdicts = map[string]bool{"google-functions": true, "google-lines": true, "http-status": true, "origins": true}

// directives ends the names of the files about directives that decide no access.
const directives = ".directives"

// Files returns the files of verdicts, by name.
func Files(tb testing.TB) []File {
	tb.Helper()
	names, err := filepath.Glob(filepath.Join(Dir(tb), "conformance", "*.jsonl.gz"))
	if err != nil || len(names) == 0 {
		tb.Fatalf("no conformance cases in %s: %v", Dir(tb), err)
	}
	var files []File
	for _, name := range names {
		base := strings.TrimSuffix(filepath.Base(name), ".jsonl.gz")
		if !notVerdicts[base] && !strings.HasSuffix(base, directives) {
			files = append(files, File{base, Lines[Row](tb, base)})
		}
	}
	return files
}

// Lines returns the JSON values of one file of testdata/rep/conformance, named without its extensions.
func Lines[T any](tb testing.TB, name string) []T {
	tb.Helper()
	data := Content(tb, name)
	values, err := decode[T](bytes.NewReader(data))
	if err != nil {
		tb.Fatalf("read %s: %v", name, err)
	}
	return values
}

// Content returns the decompressed content of one file of testdata/rep/conformance, named without its extensions.
func Content(tb testing.TB, name string) []byte {
	tb.Helper()
	f, err := os.Open(filepath.Join(Dir(tb), "conformance", name+".jsonl.gz"))
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // nothing was written
	z, err := gzip.NewReader(f)
	if err != nil {
		tb.Fatalf("read %s: %v", name, err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		tb.Fatalf("read %s: %v", name, err)
	}
	return data
}

func decode[T any](r io.Reader) ([]T, error) {
	var values []T
	d := json.NewDecoder(bufio.NewReader(r))
	for d.More() {
		var v T
		if err := d.Decode(&v); err != nil {
			return nil, fmt.Errorf("value %d: %w", len(values)+1, err)
		}
		values = append(values, v)
	}
	return values, nil
}
