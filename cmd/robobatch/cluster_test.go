package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/series"
	"github.com/robobatch/robobatch/internal/testdata/fakestore"
)

// A monthOfLogs is a set of many inputs in directories. Three of them are damaged.
type monthOfLogs struct {
	dir   string
	rules string
	flags []string
	mend  map[string][]byte // the damaged ones, whole
	store *fakestore.Store  // nil if nothing is in one
	env   []string
}

// startStore starts an object store with the files of a directory of m.
func (m *monthOfLogs) startStore(t *testing.T, dir string) {
	t.Helper()
	m.store = fakestore.New()
	t.Cleanup(m.store.Close)
	environment, err := m.store.Environment(m.dir)
	if err != nil {
		t.Fatal(err)
	}
	m.env = append(os.Environ(), "AWS_REGION=eu-west-1")
	for name, value := range environment {
		m.env = append(m.env, name+"="+value)
	}
	for name, text := range contents(t, filepath.Join(m.dir, dir)) {
		m.store.Put(dir+"/"+name, []byte(text))
	}
}

// contents returns all files of an output of m, which may be in its store, except those that record how a run ended.
func (m *monthOfLogs) contents(t *testing.T, out string) map[string]string {
	t.Helper()
	prefix, ok := strings.CutPrefix(out, "s3://bucket/")
	if !ok {
		return contents(t, filepath.Join(m.dir, out))
	}
	files := map[string]string{}
	for _, key := range m.store.Keys() {
		if name, ok := strings.CutPrefix(key, prefix); ok && !strings.HasPrefix(name, "_stats") && !strings.HasPrefix(name, "_failed") {
			text, _ := m.store.Get(key)
			files[name] = string(text)
		}
	}
	return files
}

// newMonth makes the inputs from the sample data: lists of URLs, tables and server logs, some of them compressed.
func newMonth(t *testing.T, inputs int) *monthOfLogs {
	t.Helper()
	quickstart, err := filepath.Abs("../../testdata/quickstart")
	if err != nil {
		t.Fatal(err)
	}
	packed, err := os.ReadFile(filepath.Join(quickstart, "urls.zst"))
	if err != nil {
		t.Fatal(err)
	}
	dec, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer dec.Close()
	text, err := dec.DecodeAll(packed, nil)
	if err != nil {
		t.Fatal(err)
	}
	m := &monthOfLogs{dir: t.TempDir(), rules: filepath.Join(quickstart, "rules"), mend: map[string][]byte{}}
	m.flags = []string{"-rules", m.rules, "-in", "logs", "-agent", "Googlebot,*", "-on-error", "skip"}
	lines := bytes.SplitAfter(text, []byte("\n"))
	rnd := rand.New(rand.NewPCG(1, 2))
	for i := range inputs {
		name := fmt.Sprintf("logs/2026-01-%02d/part-%03d", i%31+1, i)
		from := rnd.IntN(len(lines) / 2)
		name, body := dress(name, i, bytes.Join(lines[from:from+200+rnd.IntN(2000)], nil))
		if i%(inputs/3) == inputs/6 { // three of them
			m.mend[name] = body
			name, body = damaged(name, body)
		}
		m.write(t, name, body)
	}
	if len(m.mend) != 3 {
		t.Fatalf("%d damaged inputs", len(m.mend))
	}
	return m
}

// dress converts a list of URLs to one of several formats.
func dress(name string, i int, body []byte) (string, []byte) {
	var b bytes.Buffer
	switch i % 4 {
	case 0:
		enc, _ := zstd.NewWriter(&b, zstd.WithEncoderConcurrency(1))
		enc.Write(body)
		enc.Close()
		return name + ".txt.zst", b.Bytes()
	case 1:
		enc := gzip.NewWriter(&b)
		enc.Write(body)
		enc.Close()
		return name + ".log.gz", b.Bytes()
	case 2:
		b.WriteString("url,clicks\n")
		for line := range strings.Lines(string(body)) {
			b.WriteString(strconv.Quote(strings.TrimSpace(line)) + ",1\n")
		}
		return name + ".csv", b.Bytes()
	}
	return name + ".txt", body
}

// damaged damages an input so that it fails: a compressed input is truncated, and any other is replaced by bytes that
// are not a log.
func damaged(name string, body []byte) (string, []byte) {
	if strings.HasSuffix(name, "t.zst") || strings.HasSuffix(name, ".gz") {
		return name, body[:len(body)*2/3]
	}
	return name, []byte("\xfd7zXZ\x00 this is xz, by its first bytes")
}

func (m *monthOfLogs) write(t *testing.T, name string, body []byte) {
	t.Helper()
	name = filepath.Join(m.dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o777), os.WriteFile(name, body, 0o666)); err != nil {
		t.Fatal(err)
	}
}

// command returns a command of the program.
func (m *monthOfLogs) command(args ...string) *exec.Cmd {
	cmd := exec.Command("robobatch", args...)
	cmd.Dir, cmd.Env = m.dir, m.env
	return cmd
}

// run runs the command to its end, and returns its exit code, standard output and standard error.
func (m *monthOfLogs) run(t *testing.T, args ...string) (int, string) {
	t.Helper()
	out, err := m.command(args...).CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		t.Fatal(err)
	} else if ok {
		return exit.ExitCode(), string(out)
	}
	return 0, string(out)
}

// shards runs all shards at once, kills each of them at random moments, and runs it again until it completes. Each
// shard is killed a limited number of times. It returns the number of kills.
func (m *monthOfLogs) shards(t *testing.T, rnd *rand.Rand, out string, whole time.Duration) (kills int) {
	t.Helper()
	const count = 4
	var wg sync.WaitGroup
	var mu sync.Mutex
	for i := range count {
		seed := rand.NewPCG(rnd.Uint64(), rnd.Uint64())
		wg.Go(func() {
			rnd := rand.New(seed)
			args := append(slices.Clone(m.flags), "-quiet", "-resume", "-out", out, "-shard", fmt.Sprintf("%d/%d", i, count))
			for patience := 2 + rnd.IntN(6); ; patience-- {
				cmd := m.command(args...)
				var stderr bytes.Buffer
				cmd.Stderr = &stderr
				if err := cmd.Start(); err != nil {
					t.Error(err)
					return
				}
				ended := make(chan error, 1)
				go func() { ended <- cmd.Wait() }()
				after := time.Duration(rnd.Int64N(int64(whole)))
				if patience <= 0 {
					after = time.Hour
				}
				select {
				case err := <-ended:
					if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && (!ok || exit.ExitCode() != 1) {
						t.Errorf("shard %d: %v\n%s", i, err, stderr.String())
					}
					return
				case <-time.After(after):
					cmd.Process.Kill()
					<-ended
					mu.Lock()
					kills++
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
	return kills
}

// contents returns all files of a directory except those that record how a run ended.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || strings.HasPrefix(e.Name(), "_stats") || strings.HasPrefix(e.Name(), "_failed") {
			return err
		}
		text, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		files[filepath.ToSlash(rel)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// failures returns the lines of all lists of failed inputs, sorted.
func failures(t *testing.T, dir string) (lines []string) {
	t.Helper()
	names, _ := filepath.Glob(filepath.Join(dir, "_failed*.jsonl"))
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, strings.Split(strings.TrimSpace(string(text)), "\n")...)
	}
	slices.Sort(lines)
	return lines
}

// equal compares the files of a directory with those of one undisturbed run.
func equal(t *testing.T, what string, got, want map[string]string) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if _, ok := got[name]; !ok {
			t.Errorf("%s: %s is missing", what, name)
		} else if got[name] != want[name] {
			t.Errorf("%s: %s differs", what, name)
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s: %s is one too many", what, name)
		}
	}
}

// TestShardsKilled runs many inputs, three of them damaged, in four shards that are killed repeatedly: the outputs
// must be those of one undisturbed run, byte for byte, and the three failed inputs must be listed. `make shards` runs
// it in full.
func TestShardsKilled(t *testing.T) {
	rounds, inputs := 2, 30
	if n, err := strconv.Atoi(os.Getenv("ROBOBATCH_SHARDS")); err == nil {
		rounds, inputs = n, 200
	}
	m := newMonth(t, inputs)
	begun := time.Now()
	code, text := m.run(t, append(slices.Clone(m.flags), "-out", "whole/")...)
	whole := time.Since(begun)
	want, wantFailed := contents(t, filepath.Join(m.dir, "whole")), failures(t, filepath.Join(m.dir, "whole"))
	if code != 1 || len(wantFailed) != 3 || len(want) != 2*(inputs-3) {
		t.Fatalf("exit code %d, %d failed, %d files:\n%s", code, len(wantFailed), len(want), text)
	}
	for name := range m.mend {
		if !slices.ContainsFunc(wantFailed, func(line string) bool { return strings.Contains(line, name) }) {
			t.Errorf("%s is not in the list: %q", name, wantFailed)
		}
	}
	seed := cmp.Or(uint64(time.Now().UnixNano()), 1)
	rnd, kills, window := rand.New(rand.NewPCG(seed, 0)), 0, whole/2
	for round := range rounds {
		out := fmt.Sprintf("round%d", round)
		killed := m.shards(t, rnd, out+"/", window)
		if kills += killed; killed < 8 { // the run that was timed may have been slower, because the machine was busier
			window = window * 2 / 3
		}
		dir := filepath.Join(m.dir, out)
		equal(t, out, contents(t, dir), want)
		if got := failures(t, dir); !slices.Equal(got, wantFailed) {
			t.Errorf("%s: failed %q, want %q", out, got, wantFailed)
		}
		if code, text := m.run(t, "merge", "-quiet", "-out", out); code != 1 || !strings.Contains(text, "3 inputs failed") {
			t.Errorf("%s: merge ends with %d:\n%s", out, code, text)
		}
		if round < rounds-1 || t.Failed() {
			os.RemoveAll(dir)
		}
		if t.Failed() {
			t.Fatalf("round %d with the seed %d", round, seed)
		}
	}
	t.Logf("%d rounds of %d inputs in 4 shards, %d kills; a whole run takes %v", rounds, inputs, kills, whole.Round(time.Millisecond))
	m.finish(t, fmt.Sprintf("round%d", rounds-1), rnd, whole)
}

// finish replaces the damaged inputs by intact ones. Then all shards must succeed, and together leave the same files
// as one run.
func (m *monthOfLogs) finish(t *testing.T, out string, rnd *rand.Rand, whole time.Duration) {
	t.Helper()
	for name, body := range m.mend {
		m.write(t, name, body)
	}
	m.shards(t, rnd, out+"/", whole)
	if code, text := m.run(t, append(slices.Clone(m.flags), "-quiet", "-resume", "-out", "whole/")...); code != 0 {
		t.Errorf("exit code %d:\n%s", code, text)
	}
	for _, dir := range []string{out, "whole"} {
		if code, text := m.run(t, "merge", "-quiet", "-out", dir); code != 0 {
			t.Errorf("merge %s: exit code %d:\n%s", dir, code, text)
		}
	}
	got, want := contents(t, filepath.Join(m.dir, out)), contents(t, filepath.Join(m.dir, "whole"))
	if a, b := counts(t, got["_SUCCESS"]), counts(t, want["_SUCCESS"]); a != b {
		t.Errorf("the sum is\n%s, of one run\n%s", a, b)
	}
	delete(got, "_SUCCESS")
	delete(want, "_SUCCESS")
	equal(t, "mended", got, want)
}

// counts returns the part of a summary that depends neither on times nor on shards.
func counts(t *testing.T, text string) string {
	t.Helper()
	var s struct {
		Counts    json.RawMessage `json:"counts"`
		ByAgent   json.RawMessage `json:"by_agent"`
		RulesHash string          `json:"rules_hash"`
		Series    struct {
			List json.RawMessage `json:"list"`
			Done int             `json:"done"`
		} `json:"series"`
	}
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s %s %s %s %d", s.Counts, s.ByAgent, s.RulesHash, s.Series.List, s.Series.Done)
}

// TestSplitKilled runs one large log in four shards that are killed repeatedly, as text, as zstd and as Parquet. The
// outputs of the pieces must have the rows of one undisturbed run, in the same order, and about the same number of
// rows each. `make shards` runs it in full.
func TestSplitKilled(t *testing.T) {
	rounds, lines := 1, 400_000
	if n, err := strconv.Atoi(os.Getenv("ROBOBATCH_SHARDS")); err == nil {
		rounds, lines = n/5, 2_000_000 // 200 MB
	}
	quickstart, err := filepath.Abs("../../testdata/quickstart")
	if err != nil {
		t.Fatal(err)
	}
	m := &monthOfLogs{dir: t.TempDir(), rules: filepath.Join(quickstart, "rules")}
	if code, text := m.run(t, "compile", "-quiet", "-rules", m.rules, "-out", "rules.rbp"); code != 0 {
		t.Fatal(text)
	}
	rnd := rand.New(rand.NewPCG(9, uint64(time.Now().UnixNano())))
	var text bytes.Buffer
	for i := range lines {
		fmt.Fprintf(&text, "https://www.usaid.gov/%d/%x/%x/%x/%s", i, rnd.Uint64(), rnd.Uint64(), rnd.Uint64(), strings.Repeat("a page/", rnd.IntN(9))+"\n")
	}
	m.write(t, "text/u.txt", text.Bytes())
	m.write(t, "parquet/u.parquet", nil)
	m.write(t, "zstd/u.txt.zst", slices.Concat(compress(t, text.Bytes()[:text.Len()/3]), compress(t, text.Bytes()[text.Len()/3:])))
	if code, out := m.run(t, "-quiet", "-rules", "rules.rbp", "-in", "text/u.txt", "-out", "parquet/u.parquet", "-columns", "url", "-row-group", strconv.Itoa(lines/40), "-compression", "none"); code != 0 {
		t.Fatal(out)
	}
	m.startStore(t, "text")
	forms := []string{"s3://bucket/text", "zstd", "parquet", "text"}
	if raced {
		forms = forms[:3] // the race detector sees the goroutines that read text in the first
	}
	for _, form := range forms {
		m.flags = []string{"-rules", "rules.rbp", "-in", form + "/", "-out-format", "jsonl"}
		begun := time.Now()
		if code, out := m.run(t, append(slices.Clone(m.flags), "-quiet", "-out", form+"-whole/")...); code != 0 {
			t.Fatal(out)
		}
		whole := time.Since(begun)
		want := concat(m.contents(t, form+"-whole/"))
		kills := 0
		for round := range rounds {
			out := fmt.Sprintf("%s-%d/", form, round)
			if round == 0 { // an earlier run with another number of shards, whose outputs must not stay
				for i := range 2 {
					if code, text := m.run(t, append(slices.Clone(m.flags), "-quiet", "-out", out, "-shard", fmt.Sprintf("%d/2", i))...); code != 0 {
						t.Fatal(text)
					}
					stats := out + fmt.Sprintf("_stats.%d-of-2.json", i)
					os.Remove(filepath.Join(m.dir, stats))
					m.store.Remove(strings.TrimPrefix(stats, "s3://bucket/"))
				}
			}
			kills += m.shards(t, rnd, out, whole)
			if code, text := m.run(t, "merge", "-quiet", "-out", out); code != 0 {
				t.Fatalf("merge ends with %d:\n%s", code, text)
			}
			if code, text := m.run(t, "check-output", "-quiet", out); code != 0 {
				t.Errorf("check-output ends with %d:\n%s", code, text)
			}
			pieces := m.contents(t, out)
			most, least := 0, lines
			for name, text := range pieces {
				if rows := strings.Count(text, "\n"); strings.HasSuffix(name, ".jsonl") {
					most, least = max(most, rows), min(least, rows)
				}
			}
			all, err := filepath.Glob(filepath.Join(m.dir, out, "_stats.*"))
			if !strings.HasPrefix(out, "s3:") && (err != nil || len(all) != 4) {
				t.Fatal(all, err)
			}
			read, stats := int64(0), series.Stats{}
			for _, name := range all {
				text, err := os.ReadFile(name)
				if err := errors.Join(err, json.Unmarshal(text, &stats)); err != nil {
					t.Fatal(err)
				}
				read += stats.Inputs[0].Bytes
			}
			if len(all) > 0 && read != stats.Series.List.Bytes {
				t.Errorf("%s: the statistics of the pieces name %d bytes of %d", out, read, stats.Series.List.Bytes)
			}
			if got := concat(pieces); got != want {
				t.Fatalf("%s: %d bytes, and %d in one run", out, len(got), len(want))
			}
			if len(pieces) != 4+4+1 || float64(most) > 1.3*float64(least) {
				t.Errorf("%s: %d files; pieces of %d to %d rows", out, len(pieces), least, most)
			}
		}
		t.Logf("%s: %d rounds of %d rows in 4 shards, %d kills", form, rounds, lines, kills)
	}
}

// TestPartitionsKilled writes the rows of many inputs, three of them damaged, to partitions, in four shards that are
// killed repeatedly, alternately on disk and in an object store. The files must be those of one undisturbed run, byte
// for byte, also after inputs have changed so that their rows belong to other partitions, and after a day was added.
// `make shards` runs it in full.
func TestPartitionsKilled(t *testing.T) {
	rounds, inputs := 3, 30
	if raced {
		rounds = 2 // on disk and in a store
	}
	if n, err := strconv.Atoi(os.Getenv("ROBOBATCH_SHARDS")); err == nil {
		rounds, inputs = n, 60
	}
	m := newMonth(t, inputs)
	m.startStore(t, "logs")
	m.write(t, "more/2026-02-01/a.txt", []byte("https://www.usaid.gov/x\nhttps://www.usaid.gov/y\n"))
	for name, text := range contents(t, filepath.Join(m.dir, "more")) {
		m.store.Put("more/"+name, []byte(text))
	}
	seed := uint64(time.Now().UnixNano())
	rnd, kills := rand.New(rand.NewPCG(seed, 1)), 0
	for round := range rounds {
		prefix := ""
		if round%2 == 1 {
			prefix = "s3://bucket/"
		}
		common := []string{"-rules", m.rules, "-agent", "Googlebot,*", "-on-error", "skip", "-partition-by", "agent,reason"}
		m.flags = append(slices.Clone(common), "-in", prefix+"logs/")
		whole, out := fmt.Sprintf("%swhole%d/", prefix, round), fmt.Sprintf("%sparts%d/", prefix, round)
		// compare runs all shards and kills them repeatedly, makes one undisturbed run, and compares the files.
		compare := func(what string, codes ...int) {
			t.Helper()
			begun := time.Now()
			if code, text := m.run(t, append(slices.Clone(m.flags), "-quiet", "-resume", "-out", whole)...); code != codes[0] {
				t.Fatalf("%s: exit code %d:\n%s", what, code, text)
			}
			kills += m.shards(t, rnd, out, time.Since(begun)/2)
			want := m.contents(t, whole)
			delete(want, "_SUCCESS")
			equal(t, what+" "+out, m.contents(t, out), want)
			if code, text := m.run(t, "merge", "-quiet", out); code != codes[0] {
				t.Errorf("%s: merge ends with %d:\n%s", what, code, text)
			}
			if code, text := m.run(t, "check-output", "-quiet", out); code != 0 {
				t.Errorf("%s: check-output ends with %d:\n%s", what, code, text)
			}
			if t.Failed() {
				t.Fatalf("round %d with the seed %d", round, seed)
			}
		}
		compare("damaged", 1)
		for i, name := range slices.Sorted(maps.Keys(m.mend)) { // repair the damaged inputs, and give others rows of only one kind
			m.put(t, prefix, name, m.mend[name])
			m.put(t, prefix, fmt.Sprintf("logs/2026-01-%02d/part-%03d.txt", 4*i+4, 4*i+3), []byte("https://www.usaid.gov/z\n"))
		}
		compare("changed", 0)
		files := len(m.contents(t, out))
		m.flags = append(slices.Clone(common), "-in", prefix+"more/")
		compare("added", 0)
		if n := len(m.contents(t, out)); n <= files {
			t.Errorf("%d files, and %d before a day was added", n, files)
		}
		fresh := newMonth(t, inputs) // damaged as before
		for name := range m.mend {
			text, err := os.ReadFile(filepath.Join(fresh.dir, name))
			if err != nil {
				t.Fatal(err)
			}
			m.put(t, prefix, name, text)
		}
	}
	t.Logf("%d rounds of %d inputs in 4 shards, %d kills", rounds, inputs, kills)
}

// put writes an input of m, which may be in its store.
func (m *monthOfLogs) put(t *testing.T, prefix, name string, text []byte) {
	t.Helper()
	if prefix != "" {
		m.store.Put(name, text)
		return
	}
	m.write(t, name, text)
}

// concat returns all outputs in the order of their names.
func concat(files map[string]string) string {
	var all strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if strings.HasSuffix(name, ".verdicts.jsonl") {
			all.WriteString(files[name])
		}
	}
	return all.String()
}

// compress returns a zstd frame.
func compress(t *testing.T, text []byte) []byte {
	t.Helper()
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	return enc.EncodeAll(text, nil)
}
