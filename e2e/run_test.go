package e2e

import (
	"archive/tar"
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/robobatch/robobatch/internal/testdata/repcase"
)

// command is the path of the command under test, built once.
var command string

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	dir, err := os.MkdirTemp("", "robobatch-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	defer os.RemoveAll(dir)
	command = filepath.Join(dir, "robobatch")
	build := exec.Command("go", "build", "-o", command, "./cmd/robobatch")
	build.Dir = ".."
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%v: %v\n%s", build, err, out)
		return 2
	}
	return m.Run()
}

// A job is a run of the command.
type job struct {
	rules  string
	inputs []string
	agents []string // nil means the command's default, one agent
	flags  []string // and others
}

// run writes the job's output in the given format, and returns its name and the counts of the command.
func (j job) run(t *testing.T, ext string) (string, counts) {
	t.Helper()
	dir := t.TempDir()
	out, stats := filepath.Join(dir, "out"+ext), filepath.Join(dir, "stats.json")
	args := []string{"-rules", j.rules, "-out", out, "-stats", stats, "-progress", "off"}
	for _, in := range j.inputs {
		args = append(args, "-in", in)
	}
	for _, agent := range j.agents {
		args = append(args, "-agent", agent)
	}
	args = append(args, j.flags...)
	cmd := exec.Command(command, args...)
	cmd.Dir = dir
	if msg, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, msg)
	}
	return out, readStats(t, stats)
}

// check runs the job in every format, and lets every reader count.
func (j job) check(t *testing.T) {
	t.Helper()
	var want counts
	t.Run("parquet/duckdb", func(t *testing.T) {
		out, stats := j.run(t, ".parquet")
		d := openDuck(t)
		want = d.counts(out)
		want.equal(t, "DuckDB", stats)
		d.invariants(out)
		j.checkURLs(t, d, out)
		j.checkMetadata(t, d.metadata(out), stats)
		t.Logf("%d rows, %d denied, reasons %v", want.Rows, want.Denied, want.Reasons)
	})
	for _, r := range []struct{ ext, script string }{
		{".parquet", "clickhouse.js"},
		{".arrow", "clickhouse.js"},
		{".arrow", "arrow.js"},
		{".arrows", "clickhouse.js"},
		{".arrows", "arrow.js"},
	} {
		t.Run(r.ext[1:]+"/"+strings.TrimSuffix(r.script, ".js"), func(t *testing.T) {
			out, stats := j.run(t, r.ext)
			got := nodeCounts(t, r.script, out)
			got.equal(t, r.script, stats)
			got.equal(t, r.script, want)
		})
	}
}

// checkURLs compares the url column with the lines of the inputs, for the first agent.
func (j job) checkURLs(t *testing.T, d duck, out string) {
	t.Helper()
	rows, err := d.db.Query("select input, line, url from " + quote(out) +
		" where agent = (select agent from " + quote(out) + " limit 1) order by file_row_number")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for _, in := range j.inputs {
		line := int64(0)
		eachLine(t, in, func(text []byte) {
			line++
			text = bytes.TrimSuffix(text, []byte("\r"))
			if len(text) == 0 || t.Failed() {
				return
			}
			var input string
			var got int64
			var url *string
			if !rows.Next() || rows.Scan(&input, &got, &url) != nil {
				t.Errorf("%s ends before line %d: %v", out, line, rows.Err())
				return
			}
			if input != in || got != line {
				t.Errorf("row is line %d of %s, want line %d of %s", got, input, line, in)
			}
			switch want := strings.ToValidUTF8(string(text), ""); {
			case len(text) > 64<<10:
				if url != nil {
					t.Errorf("line %d: %d bytes are kept", line, len(*url))
				}
			case url == nil || len(want) == len(text) && *url != want || len(*url) != len(text)+2*(len(text)-len(want)):
				t.Errorf("line %d: %q became %v", line, text, url)
			}
		})
	}
	if rows.Next() {
		t.Errorf("%s has more rows than the inputs have lines", out)
	}
}

func (j job) checkMetadata(t *testing.T, md map[string]string, want counts) {
	t.Helper()
	for _, key := range []string{
		"robobatch.version", "robobatch.dialect", "robobatch.agents", "robobatch.rules_hash", "robobatch.rules_name", "robobatch.inputs", "robobatch.counts",
		"robobatch.rows", "robobatch.invalid_bytes",
	} {
		if md[key] == "" {
			t.Errorf("metadata without %s", key)
		}
	}
	for _, key := range []string{"robobatch.agents", "robobatch.inputs", "robobatch.counts"} {
		if !json.Valid([]byte(md[key])) {
			t.Errorf("metadata %s is not JSON: %q", key, md[key])
		}
	}
	if md["robobatch.rows"] != strconv.FormatInt(want.Rows, 10) {
		t.Errorf("metadata says %s rows, want %d", md["robobatch.rows"], want.Rows)
	}
}

// eachLine calls f with the lines of a zstd file, without line endings.
func eachLine(t *testing.T, name string, f func([]byte)) {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	dec, err := zstd.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	defer dec.Close()
	lines := bufio.NewReaderSize(dec, 1<<20)
	for {
		line, err := lines.ReadSlice('\n')
		if len(line) > 0 {
			f(bytes.TrimSuffix(line, []byte("\n")))
		}
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
}

// quickstart returns the path of a file of testdata/quickstart.
func quickstart(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "testdata", "quickstart", name))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestQuickstart(t *testing.T) {
	job{rules: quickstart(t, "rules"), inputs: []string{quickstart(t, "urls.zst")}}.check(t)
}

func TestAgents(t *testing.T) {
	job{
		rules:  quickstart(t, "rules"),
		inputs: []string{quickstart(t, "urls.zst")},
		agents: []string{"Googlebot", "GPTBot", "*"},
	}.check(t)
}

// TestCrafted tests input that real logs rarely contain: bytes that are not UTF-8, long lines, invalid
// URLs, empty lines, and so many origins without rules that the dictionaries end a row group.
func TestCrafted(t *testing.T) {
	var log bytes.Buffer
	enc, err := zstd.NewWriter(&log)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(enc)
	for i := range 600_000 {
		fmt.Fprintf(w, "https://host-%d.of-many.example:8443/some/path/%d\n", i, i%7)
		switch i % 10_000 {
		case 1:
			fmt.Fprintf(w, "http://example.com/caf\xe9/\xff\xfe/%d\r\n", i)
		case 2:
			fmt.Fprintf(w, "http://example.com/%s\n", strings.Repeat("x", 64<<10))
		case 3:
			fmt.Fprint(w, "\n\r\nnot a URL\n\xf0\x9f\x98\n")
		case 4:
			fmt.Fprintf(w, "http://example.com/é/%s\n", strings.Repeat("y", 60<<10))
		}
	}
	name := filepath.Join(t.TempDir(), "crafted.zst")
	if err := errors.Join(w.Flush(), enc.Close(), os.WriteFile(name, log.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
	job{rules: quickstart(t, "rules"), inputs: []string{name}}.check(t)
}

// TestShared runs over all of the large test data: 666,620 URLs, three agents.
func TestShared(t *testing.T) {
	t.Chdir("..") // where the helper looks from
	data := filepath.Join(repcase.SharedDir(t), "data")
	t.Chdir("e2e")
	dir := t.TempDir()
	untar(t, filepath.Join(data, "rules.tar.zst"), dir)
	var inputs []string
	for _, name := range []string{"urls_real_hostgrouped", "synth_300k"} {
		inputs = append(inputs, filepath.Join(data, name+".urls.zst"))
	}
	job{rules: filepath.Join(dir, "rules"), inputs: inputs, agents: []string{"*", "Googlebot", "GPTBot"}}.check(t)
}

// untar unpacks a zstd tar of plain files.
func untar(t *testing.T, name, dir string) {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	dec, err := zstd.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	defer dec.Close()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for r := tar.NewReader(dec); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		body, err := io.ReadAll(r)
		if err == nil {
			err = errors.Join(root.MkdirAll(filepath.Dir(h.Name), 0o755), root.WriteFile(h.Name, body, 0o644))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
