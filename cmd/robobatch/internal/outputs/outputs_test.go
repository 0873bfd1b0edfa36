package outputs

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/ingest"
	"github.com/robobatch/robobatch/output"
)

func TestForLog(t *testing.T) {
	for log, want := range map[string]string{
		"urls.zst":           "urls.verdicts.parquet",
		"logs/a.urls.zst":    "a.verdicts.parquet",
		"crawl.warc.gz":      "crawl.verdicts.parquet",
		"a.urls.txt.gz":      "a.verdicts.parquet",
		"A.URLS.GZ":          "A.verdicts.parquet",
		"urls":               "urls.verdicts.parquet",
		"access.log.1.gz":    "access.log.1.verdicts.parquet",
		"www.example.com":    "www.example.com.verdicts.parquet",
		".zst":               ".zst.verdicts.parquet",
		".txt.zst":           ".txt.verdicts.parquet",
		"-":                  "stdin.verdicts.parquet",
		"/dev/stdin":         "stdin.verdicts.parquet",
		"a.verdicts.parquet": "a.verdicts.parquet.verdicts.parquet",
	} {
		if got := ForLog(log, output.Parquet); got != want {
			t.Errorf("ForLog(%q) = %q, want %q", log, got, want)
		}
	}
	if got := ForLog("a.urls.zst", output.CSVZstd); got != "a.verdicts.csv.zst" {
		t.Errorf("default name %q", got)
	}
}

func TestCheck(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"a.parquet", "b.partial.parquet"} {
		if err := os.WriteFile(name, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Mkdir("dir", 0o777), os.Link("a.parquet", "hard.parquet")); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ in, out, stats, want string }{
		{"a.parquet", "c.parquet", "c.json", ""},
		{"a.parquet", "-", "", ""},
		{"-", "-", "", ""},
		{"/dev/null", "/dev/null", "/dev/null", ""},
		{"a.parquet", "./a.parquet", "", "-out: a.parquet is an input"},
		{"a.parquet", "hard.parquet", "", "-out: a.parquet is an input"},
		{"b.partial.parquet", "b.parquet", "", "-out: b.partial.parquet is an input"},
		{"a.parquet", "c.parquet", "dir/../c.parquet", "-stats: c.parquet is also the output"},
		{"a.parquet", "-", "-", "-stats: standard output is also the output"},
		{"a.parquet", "c.parquet", "dir", "-stats: dir is a directory"},
		{"a.parquet", "dir", "", "-out: dir is a directory"},
		{"a.parquet", "c.parquet", "no/c.json", "create no/c.json: directory does not exist"},
	} {
		err := Check(Outputs{Out: tt.out, Stats: tt.stats, Options: &output.Options{}}, Inputs{Path: "dir", Logs: []ingest.Input{{Name: tt.in}}})
		if got := errorText(err); !strings.HasPrefix(got, tt.want) || (tt.want == "") != (err == nil) {
			t.Errorf("in %s, out %s, stats %s: %q, want %q", tt.in, tt.out, tt.stats, got, tt.want)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
