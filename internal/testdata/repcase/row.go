package repcase

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A Case has the fields of all rows: a robots.txt, and an agent that asks.
type Case struct {
	ID        string `json:"id"`
	Dialect   string `json:"dialect"`    // that the source speaks; "" is none in particular
	Robots    string `json:"robots"`     // the file, if it is text
	RobotsB64 []byte `json:"robots_b64"` // the file, if it is not
	Agent     string `json:"agent"`
	Note      string `json:"note"`
}

// Body returns the robots.txt.
func (c *Case) Body() []byte { return either(c.Robots, c.RobotsB64) }

// either returns the text, or the bytes if there are any.
func either(text string, data []byte) []byte {
	if data != nil {
		return data
	}
	return []byte(text)
}

// A Row is one verdict of one source: for this robots.txt, this agent may or may not fetch this
// URL.
type Row struct {
	Case
	Source     string   `json:"source"`
	Tier       string   `json:"tier"`        // "normative", "oracle", "observed" or "peer"
	AgentToken *string  `json:"agent_token"` // Agent cut to a product token; nil if it is one
	Agents     []string `json:"agents"`      // all names of a query by several, see Multi
	Multi      any      `json:"multi"`       // not nil: a query by several names at once
	URL        string   `json:"url"`
	URLB64     []byte   `json:"url_b64"`
	Allow      *bool    `json:"allow"` // nil: the source leaves it undefined
	Line       int32    `json:"line"`  // of an observed row: the line that wins, 0 if none
	Class      string   `json:"class"` // of the disagreement between the source and google/robotstxt, if any

	// The answer of google/robotstxt.

	Oracle      string `json:"google_oracle"`       // "allow" or "disallow"
	OracleLine  int32  `json:"google_line"`         // the winning line, 0 if none
	OracleToken string `json:"google_oracle_token"` // its answer when asked by AgentToken
	Agrees      *bool  `json:"agrees_with_google"`
}

// Address returns the URL.
func (r *Row) Address() []byte { return either(r.URL, r.URLB64) }

// notVerdicts are the files whose lines are neither Rows nor Directives.
var notVerdicts = map[string]bool{"google-functions": true, "google-lines": true, "http-status": true, "origins": true}

// directives ends the names of the files of Directives.
const directives = ".directives"

// files returns the names without extensions of the files of Directives, or of Rows.
func files(tb testing.TB, ofDirectives bool) (all []string) {
	tb.Helper()
	names, err := filepath.Glob(filepath.Join(Dir(tb), "conformance", "*.jsonl.gz"))
	for _, name := range names {
		base := strings.TrimSuffix(filepath.Base(name), ".jsonl.gz")
		if !notVerdicts[base] && strings.HasSuffix(base, directives) == ofDirectives {
			all = append(all, base)
		}
	}
	if err != nil || len(all) == 0 {
		tb.Fatalf("no conformance cases in %s: %v", Dir(tb), err)
	}
	return all
}

// Lines returns the JSON values of one file of testdata/rep/conformance, named without its
// extensions.
func Lines[T any](tb testing.TB, name string) (values []T) {
	tb.Helper()
	for d := json.NewDecoder(bytes.NewReader(Content(tb, name))); d.More(); {
		var v T
		if err := d.Decode(&v); err != nil {
			tb.Fatalf("read %s: value %d: %v", name, len(values)+1, err)
		}
		values = append(values, v)
	}
	return values
}

// Content returns the decompressed content of one file of testdata/rep/conformance, named without
// its extensions.
func Content(tb testing.TB, name string) []byte {
	tb.Helper()
	packed, err := os.ReadFile(filepath.Join(Dir(tb), "conformance", name+".jsonl.gz"))
	if err != nil {
		tb.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		tb.Fatalf("read %s: %v", name, err)
	}
	data, err := io.ReadAll(z)
	if err = errors.Join(err, z.Close()); err != nil {
		tb.Fatalf("read %s: %v", name, err)
	}
	return data
}
