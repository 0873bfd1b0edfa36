package main

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/robobatch/robobatch/internal/testdata/fakestore"
)

// A scriptStore is the object store of a script. The zero value has none yet.
type scriptStore struct {
	*fakestore.Store
	variables []string // of the environment
}

// storeOf is the key of a script's store.
type storeOf struct{}

// storeFor returns the store of a script.
func storeFor(ts *testscript.TestScript) *scriptStore { return ts.Value(storeOf{}).(*scriptStore) }

// store DIR: starts an object store with TLS, unless one is running, sets the environment variables with which
// robobatch reaches it, and puts the files below the directory into its bucket, named "bucket".
func startStore(ts *testscript.TestScript, _ bool, args []string) {
	s := storeFor(ts)
	if s.Store == nil {
		s.Store = fakestore.New()
		ts.Defer(s.Close)
		environment, err := s.Environment(ts.MkAbs("."))
		ts.Check(err)
		for name, value := range environment {
			ts.Setenv(name, value)
			s.variables = append(s.variables, name)
		}
		ts.Setenv("AWS_REGION", "eu-west-1")
	}
	dir := ts.MkAbs(args[0])
	ts.Check(filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		key, _ := filepath.Rel(dir, path)
		text, err := os.ReadFile(path)
		s.Put(filepath.ToSlash(key), text)
		return err
	}))
}

// objects PREFIX DIR: writes all objects whose keys begin with the prefix to a directory, which it replaces.
func getObjects(ts *testscript.TestScript, _ bool, args []string) {
	s, dir := storeFor(ts), ts.MkAbs(args[1])
	ts.Check(os.RemoveAll(dir))
	for _, key := range s.Keys() {
		if rest, ok := strings.CutPrefix(key, args[0]); ok {
			text, _ := s.Get(key)
			name := filepath.Join(dir, rest)
			ts.Check(os.MkdirAll(filepath.Dir(name), 0o777))
			ts.Check(os.WriteFile(name, text, 0o666))
		}
	}
}

// [!] object KEY [FILE]: checks that an object exists, or with ! that it does not, and writes it to the file.
func getObject(ts *testscript.TestScript, neg bool, args []string) {
	text, ok := storeFor(ts).Get(args[0])
	if ok == neg {
		ts.Fatalf("there are: %q", storeFor(ts).Keys())
	}
	if len(args) > 1 {
		ts.Check(os.WriteFile(ts.MkAbs(args[1]), text, 0o666))
	}
}

// putobject KEY TEXT: puts an object with any key. In the key and in the text, \\n and the like are escapes.
func putObject(ts *testscript.TestScript, _ bool, args []string) {
	key, err := strconv.Unquote(`"` + args[0] + `"`)
	ts.Check(err)
	text, err := strconv.Unquote(`"` + args[1] + `"`)
	ts.Check(err)
	storeFor(ts).Put(key, []byte(text))
}

// uploads OPEN ABORTED: compares the numbers of multipart uploads that are open, and that were aborted.
func checkUploads(ts *testscript.TestScript, _ bool, args []string) {
	open, aborted := storeFor(ts).Uploads()
	if strconv.Itoa(open) != args[0] || strconv.Itoa(aborted) != args[1] {
		ts.Fatalf("%d uploads are open, %d were aborted", open, aborted)
	}
}

// [!] requests PATTERN: checks that the store has received a request that matches, or with ! that it has not. A
// request looks like "GET /bucket/key bytes=0-9".
func checkRequests(ts *testscript.TestScript, neg bool, args []string) {
	log := storeFor(ts).Log()
	if slices.ContainsFunc(log, regexp.MustCompile(args[0]).MatchString) == neg {
		ts.Fatalf("%d requests:\n%s", len(log), strings.Join(log, "\n"))
	}
}

// storefail none | flaky | change KEY | answer STATUS CODE [METHOD] | stall METHOD: sets how the store fails from now
// on. With flaky, every fifth request fails, each in a different way. With change, an object changes each time after
// it was read. With answer, all requests (with that method) get this response. With stall, requests with that method
// get none.
func failStore(ts *testscript.TestScript, _ bool, args []string) {
	s := storeFor(ts)
	switch args[0] {
	case "none":
		s.SetFail(nil)
	case "flaky":
		s.SetFail(flaky(s.Store))
	case "change":
		s.SetFail(func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/"+args[1]) {
				text, _ := s.Get(args[1])
				s.Answer(w, r)
				s.Put(args[1], append(bytes.Clone(text), "https://example.com/more\n"...))
				return true
			}
			return false
		})
	case "answer":
		status, err := strconv.Atoi(args[1])
		ts.Check(err)
		s.SetFail(func(w http.ResponseWriter, r *http.Request) bool {
			if len(args) > 3 && args[3] != r.Method {
				return false
			}
			fakestore.Answer(w, status, args[2], fmt.Sprintf("%s and %v", fakestore.Secret, r.Header))
			return true
		})
	default:
		ts.Fatalf("unknown: %s", args[0])
	}
}

// flaky returns how a store fails now and then.
func flaky(s *fakestore.Store) func(w http.ResponseWriter, r *http.Request) bool {
	var n atomic.Int64
	return func(w http.ResponseWriter, r *http.Request) bool {
		switch n.Add(1) % 25 {
		case 0:
			fakestore.Answer(w, http.StatusServiceUnavailable, "SlowDown", "slow down")
			return true
		case 5:
			panic(http.ErrAbortHandler)
		case 10: // it is done, and the answer is lost
			s.Answer(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		case 15: // half of the answer comes
			answer := httptest.NewRecorder()
			s.Answer(answer, r)
			for name, values := range answer.Header() {
				w.Header()[name] = values
			}
			w.Header().Set("Content-Length", strconv.Itoa(answer.Body.Len()))
			w.WriteHeader(answer.Code)
			w.Write(answer.Body.Bytes()[:answer.Body.Len()/2])
			panic(http.ErrAbortHandler)
		case 20:
			w.WriteHeader(http.StatusInternalServerError)
			return true
		}
		return false
	}
}

// interruptUpload CODE SIGNAL abort|noabort ARG...: runs robobatch, and sends it the signal once the store has
// received a part of an upload, to which the store never responds. With noabort, the store refuses to abort the
// upload.
func interruptUpload(ts *testscript.TestScript, _ bool, args []string) {
	s := storeFor(ts)
	came := make(chan struct{})
	var once sync.Once
	var begun atomic.Bool
	s.SetFail(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodDelete && args[2] == "noabort" && begun.Load() {
			fakestore.Answer(w, http.StatusForbidden, "AccessDenied", "no")
			return true
		}
		if r.Method != http.MethodPut || !r.URL.Query().Has("partNumber") {
			return false
		}
		begun.Store(true)
		io.Copy(io.Discard, r.Body) // so that the server sees the connection end
		once.Do(func() { close(came) })
		<-r.Context().Done()
		return true
	})
	sig := map[string]os.Signal{"INT": os.Interrupt, "TERM": syscall.SIGTERM}[args[1]]
	heeded := make(chan os.Signal, 1)
	signal.Notify(heeded, sig) // a child ignores signals that are ignored here
	defer signal.Stop(heeded)
	cmd := robobatch(ts, args[3:])
	cmd.Env = os.Environ()
	for _, name := range s.variables {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	ts.Check(cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case <-came:
	case err := <-ended:
		ts.Fatalf("it ended before a part was sent: %v", err)
	}
	ts.Check(cmd.Process.Signal(sig))
	checkExit(ts, args[0], <-ended)
	s.SetFail(nil)
}
