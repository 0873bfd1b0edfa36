package e2e

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/klauspost/compress/zstd"
)

// A failingStore is gofakes3 behind TLS, with a handler that makes some requests fail: with 503 or
// 500, without a response although they were carried out, in the middle of the response, or slowly.
type failingStore struct {
	http.Handler
	percent int

	mu     sync.Mutex
	random *rand.Rand

	requests, failed atomic.Int64

	open connections
}

// connections counts the connections of a server.
type connections struct {
	mu     sync.Mutex
	open   int
	closed sync.Cond // open has changed
}

// note is the ConnState of the server.
func (c *connections) note(_ net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch state {
	case http.StateNew:
		c.open++
	case http.StateClosed, http.StateHijacked:
		c.open--
	}
	c.closed.Broadcast()
}

// wait waits until there are none: all requests of ended clients are done then.
func (c *connections) wait() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.open > 0 {
		c.closed.Wait()
	}
}

func (s *failingStore) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.requests.Add(1)
	s.mu.Lock()
	fails, way := s.random.IntN(100) < s.percent, s.random.IntN(5)
	s.mu.Unlock()
	if !fails {
		s.Handler.ServeHTTP(w, r)
		return
	}
	s.failed.Add(1)
	switch way {
	case 0:
		w.WriteHeader(http.StatusServiceUnavailable)
		io.WriteString(w, "<Error><Code>SlowDown</Code></Error>")
	case 1:
		w.WriteHeader(http.StatusInternalServerError)
	case 2:
		s.Handler.ServeHTTP(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	case 3:
		answer := httptest.NewRecorder()
		s.Handler.ServeHTTP(answer, r)
		for name, values := range answer.Header() {
			w.Header()[name] = values
		}
		w.Header().Set("Content-Length", strconv.Itoa(answer.Body.Len()))
		w.WriteHeader(answer.Code)
		w.Write(answer.Body.Bytes()[:answer.Body.Len()/2])
		panic(http.ErrAbortHandler)
	default:
		// The request is slow, and does not arrive if its client is killed meanwhile.
		select {
		case <-time.After(300 * time.Millisecond):
			s.Handler.ServeHTTP(w, r)
		case <-r.Context().Done():
		}
	}
}

// TestObjects processes many objects, with one output each, while 5% of all requests fail. The outputs and their
// records must equal, byte for byte, those of a run with a store that never fails, and
// memory must stay within the limit. `make objects` uses 1,000 objects.
func TestObjects(t *testing.T) {
	count := 10
	if n, err := strconv.Atoi(os.Getenv("ROBOBATCH_OBJECTS")); err == nil {
		count = n
	}
	backend := s3mem.New()
	store := &failingStore{Handler: gofakes3.New(backend, gofakes3.WithLogger(gofakes3.DiscardLog())).Server(), random: rand.New(rand.NewPCG(1, 2))}
	server := httptest.NewUnstartedServer(store)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	store.open.closed.L = &store.open.mu
	server.Config.ConnState = store.open.note
	server.StartTLS()
	defer server.Close()
	if err := backend.CreateBucket("month"); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	bytesIn := fillStore(t, backend, count)
	environment := reach(t, server, dir)
	run := func(args ...string) {
		// A shell forks: Linux counts the memory of this process, which contains the store, as the peak of
		// programs that it starts directly.
		cmd := exec.Command("sh", append([]string{"-c", `"$0" "$@"; exit $?`, command}, args...)...)
		cmd.Dir, cmd.Env = dir, environment
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%q: %v\n%s", args, err, out)
		}
	}
	flags := []string{"-quiet", "-rules", "s3://month/rules.rbp", "-in", "s3://month/logs/", "-max-memory", "128MiB", "-workers", "2"}
	run("compile", "-quiet", "-rules", quickstartRules(t), "-out", "rules.rbp")
	pack, err := os.ReadFile(filepath.Join(dir, "rules.rbp"))
	if err != nil {
		t.Fatal(err)
	}
	putObject(t, backend, "rules.rbp", pack)
	run(append(flags, "-out", filepath.Join(dir, "want")+"/")...)
	store.percent = 5
	begun, before := time.Now(), store.requests.Load()
	run(append(flags, "-out", "s3://month/got/")...)
	took := time.Since(begun)
	run("merge", "-quiet", "-out", "s3://month/got/")
	same := compare(t, backend, "got/", filepath.Join(dir, "want"), count)
	requests, failed := store.requests.Load()-before, store.failed.Load()
	rnd, kills := rand.New(rand.NewPCG(5, 6)), 0
	for shard := range 2 { // each is killed at random moments, and said again
		args := append(slices.Clone(flags), "-out", "s3://month/killed/", "-resume", "-shard", fmt.Sprintf("%d/2", shard))
		for range 5 {
			kills += kill(t, dir, environment, args, time.Duration(rnd.Int64N(int64(took)/4)))
			store.open.wait() // what it asked for must not come after what the next run asks for
		}
		run(args...)
	}
	run("merge", "-quiet", "-out", "s3://month/killed/")
	store.percent = 0
	same += compare(t, backend, "killed/", filepath.Join(dir, "want"), count)
	var sum struct {
		Counts struct{ URLs int64 }
		Series struct{ Done int }
		Run    struct {
			Peak int64 `json:"peak_memory_bytes"`
		}
	}
	if err := json.Unmarshal(get(t, backend, "got/_SUCCESS"), &sum); err != nil || sum.Series.Done != count {
		t.Errorf("%+v, %v", sum, err)
	}
	peak := sum.Run.Peak
	t.Logf("%d objects, %d MB, %d URLs, in %v: %d requests, %d failed; peak memory %d MB; with two shards that were killed %d times, %d files are the same",
		count, bytesIn>>20, sum.Counts.URLs, took.Round(time.Millisecond), requests, failed, peak>>20, kills, same)
	if limit := int64(128<<20)*11/10 + 16<<20; peak <= 0 || peak > limit {
		t.Errorf("peak memory %d MB", peak>>20)
	}
}

// compare compares the outputs in the store, and their records except for tag and seal, with those in a directory. It
// returns the number of equal ones.
func compare(t *testing.T, backend gofakes3.Backend, prefix, want string, count int) (same int) {
	t.Helper()
	for i := range count {
		output := fmt.Sprintf("2026/%03d/part-%04d.verdicts.parquet", i%31, i)
		for _, name := range []string{output, "_done/" + output + ".json"} {
			a, err := os.ReadFile(filepath.Join(want, name))
			b := get(t, backend, prefix+name)
			if name != output {
				tag := ""
				a, _ = untagged(t, a)
				if b, tag = untagged(t, b); tag != tagOf(t, backend, prefix+output) {
					t.Errorf("%s: the tag of the output is %q, want %q", prefix+name, tag, tagOf(t, backend, prefix+output))
				}
			}
			if err != nil || !bytes.Equal(a, b) {
				t.Errorf("%s: %d bytes, want %d, %v", prefix+name, len(b), len(a), err)
				continue
			}
			same++
		}
	}
	return same
}

// seal matches the end of a record: the hash of all bytes before it.
var seal = regexp.MustCompile(`,\n  "seal": "[0-9a-f]{32}"\n}\n$`)

// outputTag matches the tag of an output in its record, which only objects have.
var outputTag = regexp.MustCompile(`(\n  "xxh3": "[0-9a-f]{32}"),\n  "etag": "([^"]*)"`)

// untagged returns a record without its seal and the tag of its output, and that tag.
func untagged(t *testing.T, record []byte) (rest []byte, tag string) {
	t.Helper()
	if !seal.Match(record) {
		t.Errorf("a record without a seal: %s", record)
	}
	record = seal.ReplaceAll(record, nil)
	if found := outputTag.FindSubmatch(record); found != nil {
		tag = string(found[2])
	}
	return outputTag.ReplaceAll(record, []byte("$1")), tag
}

// tagOf returns the tag of an object in the store.
func tagOf(t *testing.T, backend gofakes3.Backend, key string) string {
	t.Helper()
	o, err := backend.HeadObject("month", key)
	if err != nil {
		t.Fatal(err)
	}
	defer o.Contents.Close()
	return hex.EncodeToString(o.Hash)
}

// kill starts the command, and kills it after some time. It returns 1 if the command was still running.
func kill(t *testing.T, dir string, environment, args []string, after time.Duration) int {
	t.Helper()
	cmd := exec.Command(command, args...)
	cmd.Dir, cmd.Env = dir, environment
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(after, func() { cmd.Process.Kill() })
	defer timer.Stop()
	if err := cmd.Wait(); err == nil {
		return 0
	}
	return 1
}

// fillStore writes logs of the sample data into the store, with zstd, plain and empty, and returns their size.
func fillStore(t *testing.T, backend gofakes3.Backend, count int) (size int) {
	t.Helper()
	packed, err := os.ReadFile("../testdata/quickstart/urls.zst")
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
	lines := bytes.SplitAfter(text, []byte("\n"))
	rnd := rand.New(rand.NewPCG(3, 4))
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range count {
		var body []byte
		switch i % 10 {
		case 9: // one that is read in several ranges
			body = bytes.Repeat(text, 1)
		case 8:
		default:
			from := rnd.IntN(len(lines) / 2)
			body = bytes.Join(lines[from:from+200+rnd.IntN(4000)], nil)
		}
		end := ".txt"
		if i%2 == 0 {
			end, body = ".txt.zst", enc.EncodeAll(body, nil)
		}
		putObject(t, backend, fmt.Sprintf("logs/2026/%03d/part-%04d%s", i%31, i, end), body)
		size += len(body)
	}
	return size
}

func putObject(t *testing.T, backend gofakes3.Backend, key string, body []byte) {
	t.Helper()
	if _, err := backend.PutObject("month", key, map[string]string{"Last-Modified": "Thu, 01 Jan 2026 00:00:00 GMT"}, bytes.NewReader(body), int64(len(body)), nil); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, backend gofakes3.Backend, key string) []byte {
	t.Helper()
	o, err := backend.GetObject("month", key, nil)
	if err != nil {
		t.Errorf("%s: %v", key, err)
		return nil
	}
	defer o.Contents.Close()
	body, err := io.ReadAll(o.Contents)
	if err != nil {
		t.Error(err)
	}
	return body
}

// reach returns the environment with which a command can access the store.
func reach(t *testing.T, server *httptest.Server, dir string) []string {
	t.Helper()
	bundle := filepath.Join(dir, "store.pem")
	if err := os.WriteFile(bundle, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	var environment []string
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "AWS_") {
			environment = append(environment, v)
		}
	}
	return append(environment, "AWS_ENDPOINT_URL="+server.URL, "AWS_CA_BUNDLE="+bundle, "AWS_ACCESS_KEY_ID=key", "AWS_SECRET_ACCESS_KEY=secret",
		"AWS_EC2_METADATA_DISABLED=true", "AWS_CONFIG_FILE="+dir+"/none", "AWS_SHARED_CREDENTIALS_FILE="+dir+"/none")
}

// quickstartRules returns the directory of the sample data's rules.
func quickstartRules(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../testdata/quickstart/rules")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
