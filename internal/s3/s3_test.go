package s3

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"

	"github.com/robobatch/robobatch/internal/testdata/fakestore"
)

// TestMain shortens the pauses of the client library.
func TestMain(m *testing.M) {
	minio.DefaultRetryUnit, minio.DefaultRetryCap = time.Millisecond, time.Millisecond
	m.Run()
}

// quick are options for tests: small parts, short pauses, and no time limit.
var quick = options{attempts: 6, pause: time.Millisecond, maxPause: 4 * time.Millisecond, patience: time.Hour, idle: time.Hour, partSize: 1 << 10, maxParts: 8, answer: 1 << 20}

// connect returns a fake store for tests, and a client of it.
func connect(t *testing.T) (*fakestore.Store, *store) {
	t.Helper()
	return connectBy(t, quick)
}

// connectBy is like connect, with other options.
func connectBy(t *testing.T, opt options) (*fakestore.Store, *store) {
	t.Helper()
	fake := fakestore.New()
	t.Cleanup(fake.Close)
	environment, err := fake.Environment(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range environment {
		t.Setenv(name, value)
	}
	t.Setenv("AWS_ENDPOINT_URL", "")
	t.Setenv("AWS_PROFILE", "")
	t.Setenv("AWS_REGION", "eu-west-1")
	c, err := readConfig()
	if err != nil {
		t.Fatal(err)
	}
	s, err := newStore(&c, opt)
	if err != nil {
		t.Fatal(err)
	}
	return fake, s
}

// noise returns incompressible bytes.
func noise(n int) []byte {
	b := make([]byte, n)
	rnd := rand.New(rand.NewPCG(1, uint64(n)))
	for i := range b {
		b[i] = byte(rnd.Uint32())
	}
	return b
}

// readAll reads an object.
func (s *store) readAll(name string) ([]byte, error) {
	o, err := s.openObject(name)
	if err != nil {
		return nil, err
	}
	defer o.Close()
	return io.ReadAll(o)
}

func TestRead(t *testing.T) {
	fake, s := connect(t)
	for _, size := range []int{0, 1, firstWindow - 1, firstWindow, firstWindow + 1, 5*firstWindow + 7} {
		want := noise(size)
		fake.Put("a", want)
		s.versions.Clear()
		if got, err := s.readAll("s3://bucket/a"); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes: got %d, %v", size, len(got), err)
		}
		info, err := s.stat("s3://bucket/a")
		if err != nil || info.Size != int64(size) || info.Tag == "" || info.Changed.Year() != 2026 {
			t.Errorf("%d bytes: %+v, %v", size, info, err)
		}
	}
}

// TestReadAt reads at random offsets from several goroutines.
func TestReadAt(t *testing.T) {
	fake, s := connect(t)
	want := noise(3 << 20)
	fake.Put("a", want)
	o, err := s.openObject("s3://bucket/a")
	if err != nil {
		t.Fatal(err)
	}
	blocks := &Blocks{object: o, blocks: map[int64]*block{}}
	var wg sync.WaitGroup
	for seed := range uint64(4) {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(seed, 1))
			for range 200 {
				from := rnd.IntN(len(want))
				b := make([]byte, rnd.IntN(blockSize/4))
				var r io.ReaderAt = o
				if rnd.IntN(2) == 0 {
					r = blocks
				}
				n, err := r.ReadAt(b, int64(from))
				if rest := len(want) - from; n != min(len(b), rest) || !bytes.Equal(b[:n], want[from:from+n]) || (n < len(b)) != (err == io.EOF) {
					t.Errorf("%d bytes at %d: %d, %v", len(b), from, n, err)
				}
			}
		})
	}
	wg.Wait()
	if err := o.Close(); err != nil {
		t.Error(err)
	}
}

// TestBlocksForget tests that Blocks keeps the maximum number of blocks, and not more.
func TestBlocksForget(t *testing.T) {
	fake, s := connect(t)
	want := noise((maxBlocks + 8) * blockSize)
	fake.Put("a", want)
	o, err := s.openObject("s3://bucket/a")
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	b := &Blocks{object: o, blocks: map[int64]*block{}}
	for at := 0; at < len(want); at += blockSize {
		one := make([]byte, 1)
		if _, err := b.ReadAt(one, int64(at)); err != nil || one[0] != want[at] {
			t.Fatal(at, one, err)
		}
	}
	if len(b.blocks) != maxBlocks {
		t.Errorf("%d blocks", len(b.blocks))
	}
}

// TestCutOff tests that an interrupted read continues at the next byte.
func TestCutOff(t *testing.T) {
	fake, s := connect(t)
	want := noise(3 * firstWindow)
	fake.Put("a", want)
	var n atomic.Int64
	fake.Fail = func(w http.ResponseWriter, r *http.Request) bool {
		if n.Add(1) > 5 {
			return false
		}
		rec := httptest.NewRecorder()
		fake.Answer(rec, r)
		for name, values := range rec.Header() {
			w.Header()[name] = values
		}
		w.WriteHeader(rec.Code)
		w.Write(rec.Body.Bytes()[:rec.Body.Len()*2/3])
		panic(http.ErrAbortHandler)
	}
	got, err := s.readAll("s3://bucket/a")
	if err != nil || !bytes.Equal(got, want) {
		t.Fatalf("%d of %d bytes, %v", len(got), len(want), err)
	}
	again := 0
	for _, line := range fake.Log() {
		if !strings.HasSuffix(line, "bytes=0-"+strconv.Itoa(firstWindow-1)) {
			again++
		}
	}
	if again < 2 {
		t.Errorf("went on %d times: %q", again, fake.Log())
	}
}

// TestChanges tests the error if an object changes while it is read, or between two readings.
func TestChanges(t *testing.T) {
	fake, s := connect(t)
	for _, obeys := range []bool{true, false} { // If-Match
		fake.Fail = func(_ http.ResponseWriter, r *http.Request) bool {
			if !obeys {
				r.Header.Del("If-Match")
			}
			return false
		}
		s.versions.Clear()
		fake.Put("a", noise(3*firstWindow))
		o, err := s.openObject("s3://bucket/a")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := o.ReadAt(make([]byte, 10), 0); err != nil {
			t.Error(err)
		}
		fake.Put("a", noise(3*firstWindow+1))
		if _, err := io.ReadAll(o); !errors.Is(err, ErrChanged) {
			t.Errorf("obeys %v: %v", obeys, err)
		}
		if _, ok := errors.AsType[*ReadError](err); ok {
			t.Error(err)
		}
		if err := o.Close(); err != nil {
			t.Error(err)
		}
		if _, err := s.openObject("s3://bucket/a"); !errors.Is(err, ErrChanged) {
			t.Errorf("opened again: %v", err)
		}
		if info, err := s.stat("s3://bucket/a"); err != nil || info.Size != 3*firstWindow {
			t.Errorf("asked again: %+v, %v", info, err)
		}
		fake.Put("a", nil)
		s.versions.Clear()
		if got, err := s.readAll("s3://bucket/a"); err != nil || len(got) != 0 {
			t.Error(got, err)
		}
	}
}

// TestStalls tests that a request is repeated if the response stalls.
func TestStalls(t *testing.T) {
	short := quick
	short.idle = 200 * time.Millisecond
	fake, s := connectBy(t, short)
	want := noise(firstWindow)
	fake.Put("a", want)
	var n atomic.Int64
	fake.Fail = func(w http.ResponseWriter, r *http.Request) bool {
		if n.Add(1) > 1 {
			return false
		}
		w.Header().Set("Content-Length", strconv.Itoa(len(want)))
		w.Header().Set("ETag", `"x"`)
		w.Header().Set("Content-Range", fmt.Sprintf("bytes 0-%d/%d", len(want)-1, len(want)))
		w.Header().Set("Last-Modified", time.Now().UTC().Format(http.TimeFormat))
		w.WriteHeader(http.StatusPartialContent)
		w.Write(want[:100])
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		return true
	}
	if _, err := s.readAll("s3://bucket/a"); !errors.Is(err, ErrChanged) { // the ETag of the first answer was another
		t.Errorf("%v after %d requests", err, n.Load())
	}
	if n.Load() != 2 {
		t.Errorf("%d requests", n.Load())
	}
}

// TestFails tests the errors that stores return.
func TestFails(t *testing.T) {
	fake, s := connect(t)
	fake.Put("a", []byte("text"))
	for _, tt := range []struct {
		status int
		code   string
		kind   error
		text   string
		times  int
	}{
		{403, "AccessDenied", fs.ErrPermission, "the store denies access (AccessDenied): " + toRead, 1},
		{404, "NoSuchKey", fs.ErrNotExist, "the object does not exist", 1},
		{404, "NoSuchBucket", ErrNoBucket, ErrNoBucket.Error(), 1},
		{412, "PreconditionFailed", ErrChanged, "changed while it was read: run again when no other process writes to it", 1},
		{403, "RequestTimeTooSkewed", errClock, "the store rejects this machine's time (RequestTimeTooSkewed): set the clock", 1},
		{403, "SignatureDoesNotMatch", errRefused, "the store rejects the credentials: set others, or renew them (SignatureDoesNotMatch)", 1},
		{301, "PermanentRedirect", errRedirect, errRedirect.Error(), 1},
		{307, "TemporaryRedirect", errRedirect, errRedirect.Error(), 1},
		{400, "Wrong", nil, "the store answers 400, Wrong: said " + "[hidden]", 1},
		{503, "SlowDown", nil, "the store answers 503, SlowDown: said [hidden] (6 attempts): run it again later", 6},
		{500, "InternalError", nil, "the store answers 500, InternalError: said [hidden] (6 attempts): run it again later", 6},
		{502, "\x1b[31m", nil, "", 6},
	} {
		var n atomic.Int64
		fake.Fail = func(w http.ResponseWriter, _ *http.Request) bool {
			n.Add(1)
			w.Header().Set("Location", "https://elsewhere.example/")
			fakestore.Answer(w, tt.status, tt.code, "said "+fakestore.Secret)
			return true
		}
		_, err := s.readAll("s3://bucket/a")
		if err == nil || tt.kind != nil && !errors.Is(err, tt.kind) || tt.text != "" && err.Error() != tt.text {
			t.Errorf("%d %s: %v, want %s", tt.status, tt.code, err, tt.text)
		} else if strings.ContainsAny(err.Error(), "\x1b\n") {
			t.Errorf("%q", err)
		}
		if got := int(n.Load()); got < tt.times || got > 2*tt.times {
			t.Errorf("%d %s: %d requests, want %d", tt.status, tt.code, got, tt.times)
		}
	}
	fake.Fail = nil
	for name, want := range map[string]error{
		"s3://bucket/none": fs.ErrNotExist, "s3://bucket/" + strings.Repeat("k", 1025): syscall.ENAMETOOLONG,
		"s3:///a": nil, "s3://bucket": nil, "s3://bucket/": nil, "s3://b*/a": nil, "s3://bucket/\xff": nil, "s3://bucket/\x00": nil, "s3://UPPER/a": nil,
	} {
		if _, err := s.openObject(name); err == nil || want != nil && !errors.Is(err, want) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// TestWrite writes objects of all sizes around the size of a part.
func TestWrite(t *testing.T) {
	fake, s := connect(t)
	for _, size := range []int{0, 1, 1023, 1024, 1025, 2048, 8191, 8192} {
		want := noise(size)
		u, err := s.createUpload("s3://bucket/out")
		if err != nil {
			t.Fatal(err)
		}
		for piece := range slices.Chunk(want, 300) {
			if _, err := u.Write(piece); err != nil {
				t.Fatal(err)
			}
		}
		if _, there := fake.Get("out"); there {
			t.Errorf("%d bytes: visible before it is complete", size)
		}
		if err := errors.Join(u.Commit(), u.Close()); err != nil {
			t.Error(size, err)
		}
		if got, _ := fake.Get("out"); !bytes.Equal(got, want) {
			t.Errorf("%d bytes: got %d", size, len(got))
		}
		fake.Remove("out")
	}
	if open, aborted := fake.Uploads(); open != 0 || aborted != 0 {
		t.Error(open, aborted)
	}
}

// TestTooLarge tests that an object with too many parts fails rather than being truncated.
func TestTooLarge(t *testing.T) {
	fake, s := connect(t)
	for _, more := range []int{1, 5000} {
		u, err := s.createUpload("s3://bucket/out")
		if err != nil {
			t.Fatal(err)
		}
		_, err = u.Write(noise(quick.partSize*quick.maxParts + more))
		if err == nil {
			err = u.Commit()
		}
		if !errors.Is(err, ErrTooLarge) || u.Commit() == nil {
			t.Error(err)
		}
		if err := u.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, there := fake.Get("out"); there {
		t.Error("an object was cut off")
	}
	if open, aborted := fake.Uploads(); open != 0 || aborted != 2 {
		t.Error(open, aborted)
	}
	if int64(PartSize)*MaxParts>>30 != 156 {
		t.Error("documents say 156 GiB")
	}
}

// TestAborts tests that an upload which is dropped, or fails, is aborted, or that the error says what is left.
func TestAborts(t *testing.T) {
	fake, s := connect(t)
	u, err := s.createUpload("s3://bucket/out")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := u.Write(noise(5000)); err != nil {
		t.Fatal(err)
	}
	if err := u.Close(); err != nil {
		t.Error(err)
	}
	if open, aborted := fake.Uploads(); open != 0 || aborted != 1 {
		t.Error(open, aborted)
	}
	fake.Fail = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPut || r.Method == http.MethodDelete {
			fakestore.Answer(w, 403, "AccessDenied", "no")
			return true
		}
		return false
	}
	if u, err = s.createUpload("s3://bucket/out"); err != nil {
		t.Fatal(err)
	}
	u.Write(noise(5000))
	if err := u.Commit(); !errors.Is(err, ErrDenied) || !strings.Contains(err.Error(), "AbortIncompleteMultipartUpload") {
		t.Error(err)
	}
}

// TestFlaky writes and reads while every third request fails in a different way, including lost responses.
func TestFlaky(t *testing.T) {
	fake, s := connect(t)
	var n atomic.Int64
	fake.Fail = func(w http.ResponseWriter, r *http.Request) bool {
		switch i := n.Add(1); i % 12 {
		case 0:
			fakestore.Answer(w, 503, "SlowDown", "slow down")
			return true
		case 3:
			panic(http.ErrAbortHandler)
		case 6: // it is done, and the answer is lost
			fake.Answer(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		case 9:
			w.WriteHeader(http.StatusInternalServerError)
			return true
		}
		return false
	}
	for round := range 30 {
		name, want := fmt.Sprintf("s3://bucket/%d", round), noise(500+round*250)
		u, err := s.createUpload(name)
		if err != nil {
			t.Fatal(err)
		}
		u.Write(want)
		if err := u.Commit(); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		if got, err := s.readAll(name); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("round %d: %d of %d bytes, %v", round, len(got), len(want), err)
		}
	}
}

// TestLostCompletion tests that an upload is complete if the store says so, whatever its ETag, even if the response to
// its completion is lost.
func TestLostCompletion(t *testing.T) {
	fake, s := connect(t)
	for _, done := range []bool{true, false} {
		var lost, looks atomic.Int64
		fake.SetFail(func(w http.ResponseWriter, r *http.Request) bool {
			switch isCompletion := r.Method == http.MethodPost && r.URL.Query().Has("uploadId"); {
			case isCompletion && lost.Add(1) == 1 && done:
				fake.Answer(httptest.NewRecorder(), r)
				fake.Change("out", "of-a-key-2", 0)
				panic(http.ErrAbortHandler)
			case isCompletion && !done:
				fakestore.Answer(w, http.StatusNotFound, "NoSuchUpload", "aborted by a rule of the bucket")
				return true
			case r.Method == http.MethodHead && looks.Add(1) == 1:
				w.WriteHeader(http.StatusServiceUnavailable)
				return true
			}
			return false
		})
		u, err := s.createUpload("s3://bucket/out")
		if err != nil {
			t.Fatal(err)
		}
		u.Write(noise(5000))
		if err := u.Commit(); (err == nil) != done || !done && !errors.Is(err, errNoUpload) {
			t.Errorf("it is complete: %t, %v", done, err)
		}
		if looks.Load() < 2 {
			t.Errorf("%d looks", looks.Load())
		}
	}
}

// TestNoTags tests that without ETags, versions are distinguished by modification time.
func TestNoTags(t *testing.T) {
	fake, s := connect(t)
	want := noise(3 * firstWindow)
	fake.Put("a", want)
	fake.Change("a", "", 0)
	if got, err := s.readAll("s3://bucket/a"); err != nil || !bytes.Equal(got, want) {
		t.Fatal(len(got), err)
	}
	o, err := s.openObject("s3://bucket/a")
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	fake.Change("a", "", time.Minute)
	if _, err := io.ReadAll(o); !errors.Is(err, ErrChanged) {
		t.Error(err)
	}
	if _, err := s.openObject("s3://bucket/a"); !errors.Is(err, ErrChanged) {
		t.Error(err)
	}
}

// TestList lists many pages, and unusual keys.
func TestList(t *testing.T) {
	fake, s := connect(t)
	fake.PerPage = 7
	var want []string
	for i := range 100 {
		key := fmt.Sprintf("logs/%03d", i)
		fake.Put(key, []byte(key))
		want = append(want, "s3://bucket/"+key)
	}
	for _, key := range []string{"logs/\x01\n\r\x1b[31m", "logs/../up", "logs//x", "logs/a b+c%20&é", "logs/dir/", "other"} {
		fake.Put(key, nil)
		if key != "other" && !strings.HasSuffix(key, "r/") {
			want = append(want, "s3://bucket/"+key)
		}
	}
	slices.Sort(want)
	var got []string
	err := s.list("s3://bucket/logs/", func(name string, _ Info) error {
		got = append(got, name)
		return nil
	})
	if slices.Sort(got); err != nil || !slices.Equal(got, want) {
		t.Errorf("%v: %q, want %q", err, got, want)
	}
	for _, name := range want {
		if _, err := s.openObject(name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, hostile := range []string{
		`<IsTruncated>true</IsTruncated><NextContinuationToken>x</NextContinuationToken><Contents><Key>logs/a</Key></Contents>`,
		`<IsTruncated>true</IsTruncated><NextContinuationToken>x</NextContinuationToken>`,
		`<Contents><Key>secret/a</Key></Contents>`,
		`<Contents><Key>logs/a</Key><Size>-7</Size></Contents>`,
	} {
		fake.Fail = func(w http.ResponseWriter, _ *http.Request) bool {
			fmt.Fprintf(w, "<ListBucketResult>%s</ListBucketResult>", hostile)
			return true
		}
		if err := s.list("s3://bucket/logs/", func(string, Info) error { return nil }); !errors.Is(err, errListing) {
			t.Errorf("%s: %v", hostile, err)
		}
	}
}

// TestEndlessListing tests that an endless response to a listing takes limited memory.
func TestEndlessListing(t *testing.T) {
	fake, s := connect(t)
	s.opt.attempts = 2
	var sent atomic.Int64
	fake.Fail = func(w http.ResponseWriter, _ *http.Request) bool {
		io.WriteString(w, "<ListBucketResult>")
		for line := strings.Repeat("<Contents><Key>logs/a</Key></Contents>", 1000); ; {
			n, err := io.WriteString(w, line)
			if sent.Add(int64(n)); err != nil {
				return true
			}
		}
	}
	err := s.list("s3://bucket/logs/", func(string, Info) error { return nil })
	if !errors.Is(err, errShort) || sent.Load() > 32<<20 {
		t.Errorf("%v, %d bytes", err, sent.Load())
	}
}

// TestListingEnds tests that a listing ends, whatever the store returns.
func TestListingEnds(t *testing.T) {
	fake, s := connect(t)
	for name, contents := range map[string]string{
		"empty pages": "",
		"the same":    `<Contents><Key>logs/b</Key></Contents><Contents><Key>logs/c</Key></Contents>`,
	} {
		pages := 0
		fake.Fail = func(w http.ResponseWriter, _ *http.Request) bool {
			pages++
			fmt.Fprintf(w, "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>%d</NextContinuationToken>%s</ListBucketResult>", pages, contents)
			return true
		}
		if err := s.list("s3://bucket/logs/", func(string, Info) error { return nil }); !errors.Is(err, errListing) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestDown tests which errors concern the whole store, so that the state of an object is unknown.
func TestDown(t *testing.T) {
	fake, s := connect(t)
	fake.Put("a", nil)
	for _, c := range []struct {
		status int
		code   string
		down   bool
	}{{400, "ExpiredToken", true}, {403, "SignatureDoesNotMatch", true}, {403, "AccessDenied", false}, {404, "NoSuchBucket", true}, {500, "InternalError", false}} {
		fake.Fail = func(w http.ResponseWriter, _ *http.Request) bool {
			w.WriteHeader(c.status)
			fmt.Fprintf(w, "<Error><Code>%s</Code></Error>", c.code)
			return true
		}
		if _, err := s.openObject("s3://bucket/a"); err == nil || IsDown(err) != c.down || IsTemporary(err) != (c.status == 500) {
			t.Errorf("%d %s: %v: down is %t, want %t; temporary is %t", c.status, c.code, err, IsDown(err), c.down, IsTemporary(err))
		}
	}
	fake.Fail = func(http.ResponseWriter, *http.Request) bool { panic(http.ErrAbortHandler) }
	if _, err := s.openObject("s3://bucket/a"); !IsDown(err) || !IsTemporary(err) {
		t.Errorf("nobody answers: %v", err)
	}
}

// TestPutAgain tests that an object is complete, and that no request reads a body that another one rewinds, if the
// store responds before it has read the body.
func TestPutAgain(t *testing.T) {
	fake, s := connect(t)
	want := noise(8 << 20)
	refusals := 3
	fake.Fail = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPut || refusals == 0 {
			return false
		}
		refusals--
		w.WriteHeader(http.StatusServiceUnavailable)
		return true
	}
	if err := s.putObject(object{"bucket", "a"}, want); err != nil || refusals != 0 {
		t.Fatal(err, refusals)
	}
	if got, err := s.readAll("s3://bucket/a"); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes of %d, %v", len(got), len(want), err)
	}
}

// TestRedirects tests that nothing is sent to another host, whatever the store returns.
func TestRedirects(t *testing.T) {
	fake, s := connect(t)
	var stolen atomic.Int64
	other := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, _ *http.Request) { stolen.Add(1) }))
	defer other.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		fake.Fail = func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("Location", other.URL+"/bucket/a")
			w.Header().Set("X-Amz-Bucket-Region", "evil.example/")
			w.WriteHeader(status)
			return true
		}
		_, errRead := s.readAll("s3://bucket/a")
		errPut := s.putObject(object{"bucket", "a"}, []byte("x"))
		errList := s.list("s3://bucket/", func(string, Info) error { return nil })
		for _, err := range []error{errRead, errPut, errList} {
			if err == nil || strings.Contains(err.Error(), "https://") {
				t.Errorf("%d: %v", status, err)
			}
		}
	}
	if stolen.Load() != 0 {
		t.Errorf("%d requests went to another host", stolen.Load())
	}
}

// TestUntrusted tests that an untrusted certificate ends the run immediately.
func TestUntrusted(t *testing.T) {
	fake, _ := connect(t)
	s, err := newStore(&config{host: strings.TrimPrefix(fake.URL, "https://"), secure: true, region: "x", roots: x509.NewCertPool()}, quick)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.stat("s3://bucket/a"); !errors.Is(err, errTLS) {
		t.Error(err)
	}
	_, port, err := net.SplitHostPort(strings.TrimPrefix(fake.URL, "https://"))
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(fake.Certificate())
	if s, err = newStore(&config{host: net.JoinHostPort("localhost", port), secure: true, region: "x", roots: roots}, quick); err != nil {
		t.Fatal(err)
	}
	if _, err := s.stat("s3://bucket/a"); !errors.Is(err, errOtherHost) {
		t.Error(err)
	}
	if err := classifyNetError(&tls.CertificateVerificationError{Err: x509.CertificateInvalidError{Reason: x509.Expired}}); !errors.Is(err, errExpired) {
		t.Error(err)
	}
	plain := httptest.NewServer(fake.Config.Handler)
	defer plain.Close()
	if s, err = newStore(&config{host: strings.TrimPrefix(plain.URL, "http://"), secure: true, region: "x"}, quick); err != nil {
		t.Fatal(err)
	}
	if _, err := s.stat("s3://bucket/a"); !errors.Is(err, errNoTLS) {
		t.Error(err)
	}
	plain.Close()
	if _, err := s.stat("s3://bucket/a"); err == nil || !strings.Contains(err.Error(), "(3 attempts): check AWS_ENDPOINT_URL") {
		t.Error(err)
	}
}

// TestScheme tests the errors if one side uses TLS and the other does not.
func TestScheme(t *testing.T) {
	fake, _ := connect(t)
	page := func(text string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, text, http.StatusBadRequest) }))
		t.Cleanup(s.Close)
		return strings.TrimPrefix(s.URL, "http://")
	}
	for name, c := range map[string]struct {
		host   string
		secure bool
		want   error
	}{
		"Go":     {strings.TrimPrefix(fake.URL, "https://"), false, errOnlyTLS},
		"nginx":  {page("<title>400 The plain HTTP request was sent to HTTPS port</title>"), false, errOnlyTLS},
		"Apache": {page("You're speaking plain HTTP to an SSL-enabled server port."), false, errOnlyTLS},
		"alert":  {speaking(t, "\x15\x03\x01\x00\x02\x02\x16"), false, errOnlyTLS},
		"SSH":    {speaking(t, "SSH-2.0-x\r\n"), true, errNoTLS},
	} {
		s, err := newStore(&config{host: c.host, secure: c.secure, region: "x"}, quick)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.stat("s3://bucket/a"); !errors.Is(err, c.want) || !IsDown(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// speaking returns the address of a server that sends the same bytes to every client.
func speaking(t *testing.T, text string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Read(make([]byte, 1<<10))
			io.WriteString(c, text)
			c.Close()
		}
	}()
	return l.Addr().String()
}

// TestProxy tests that errors of a proxy are distinguished from those of the store.
func TestProxy(t *testing.T) {
	connect(t)
	closed := httptest.NewServer(nil)
	closed.Close()
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusProxyAuthRequired) }))
	defer refusing.Close()
	for name, c := range map[string]struct {
		proxy  string
		secure bool
		want   string
	}{
		"closed":   {closed.URL, true, "cannot be reached (dial tcp " + strings.TrimPrefix(closed.URL, "http://") + ": connect: connection refused)"},
		"407":      {refusing.URL, true, "answers 407 Proxy Authentication Required"},
		"407 HTTP": {refusing.URL, false, "answers 407 Proxy Authentication Required"},
	} {
		u, err := url.Parse(c.proxy)
		if err != nil {
			t.Fatal(err)
		}
		s, err := newStore(&config{host: "store.example", secure: c.secure, region: "x", proxy: http.ProxyURL(u)}, quick)
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.stat("s3://bucket/a")
		if want := "the proxy of HTTPS_PROXY or HTTP_PROXY " + c.want + ": correct that variable, or name the store in NO_PROXY"; err == nil || err.Error() != want || !IsDown(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCanceled tests that requests end with the run.
func TestCanceled(t *testing.T) {
	_, s := connect(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.try(ctx, toRead, func() error { return errors.New("it may pass") }); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
