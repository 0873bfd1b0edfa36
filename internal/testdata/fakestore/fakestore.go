// Package fakestore is a store of objects in memory, behind TLS, for tests: it speaks as much of the
// protocol of Amazon S3 as package s3 uses, and fails as tests ask it to. Only tests import it.
package fakestore

import (
	"bytes"
	"crypto/md5" //nolint:gosec // the protocol's own
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"encoding/xml"
	"fmt"
	"io"
	"log" //nolint:depguard // as below
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// The credentials that the store knows.
const (
	Key    = "AKIDEXAMPLEOFTESTS"
	Secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
	Token  = "FwoGZXIvYXdzEXAMPLETOKEN=="
)

// Bucket is the only bucket.
const Bucket = "bucket"

// A Store is a store.
type Store struct {
	*httptest.Server

	// Fail is asked before a request is answered. It answers the request itself if it returns true. Where
	// connections may be open, set it with SetFail.
	Fail func(w http.ResponseWriter, r *http.Request) bool

	mu      sync.Mutex
	objects map[string]object
	uploads map[string]upload // by id
	aborted int
	next    int
	log     []string
	PerPage int // objects of a page of a listing
}

type object struct {
	data    []byte
	tag     string
	mark    string // metadata of objects uploaded in parts
	changed time.Time
}

// markHeader has the metadata that package s3 looks at.
const markHeader = "X-Amz-Meta-Robobatch-Upload"

// An upload is one in parts.
type upload struct {
	parts map[int][]byte
	mark  string
}

// New starts a store. Close ends it.
func New() *Store {
	s := &Store{objects: map[string]object{}, uploads: map[string]upload{}, PerPage: 1000}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(s.serve))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	return s
}

// Environment returns variables that lead to the store. It writes the certificate into dir.
func (s *Store) Environment(dir string) (map[string]string, error) {
	bundle := filepath.Join(dir, "store.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	err := os.WriteFile(bundle, text, 0o600)
	return map[string]string{
		"AWS_ENDPOINT_URL_S3": s.URL, "AWS_CA_BUNDLE": bundle, "AWS_ACCESS_KEY_ID": Key, "AWS_SECRET_ACCESS_KEY": Secret, "AWS_SESSION_TOKEN": Token,
		"AWS_EC2_METADATA_DISABLED": "true", "AWS_CONFIG_FILE": filepath.Join(dir, "none"), "AWS_SHARED_CREDENTIALS_FILE": filepath.Join(dir, "none"),
	}, err
}

// Put stores an object.
func (s *Store) Put(key string, data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sum := md5.Sum(data) //nolint:gosec // as above
	s.putObject(key, data, hex.EncodeToString(sum[:]), "")
}

func (s *Store) putObject(key string, data []byte, tag, mark string) {
	s.objects[key] = object{bytes.Clone(data), tag, mark, time.Unix(1_767_225_600, 0)}
}

// Change changes the facts known of an object: the ETag, "" being none, and how much later it was written.
func (s *Store) Change(key, tag string, later time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.objects[key]
	o.tag, o.changed = tag, o.changed.Add(later)
	s.objects[key] = o
}

// Get returns an object.
func (s *Store) Get(key string) (data []byte, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, ok := s.objects[key]
	return o.data, ok
}

// Remove removes an object.
func (s *Store) Remove(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.objects, key)
}

// Keys returns the keys of all objects, sorted.
func (s *Store) Keys() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.objects))
}

// Uploads returns how many uploads are open, and how many were aborted.
func (s *Store) Uploads() (open, aborted int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.uploads), s.aborted
}

// Log returns the requests so far: "GET /bucket/key bytes=0-9".
func (s *Store) Log() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.log)
}

// SetFail sets Fail.
func (s *Store) SetFail(fail func(w http.ResponseWriter, r *http.Request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Fail = fail
}

// Answer answers with an error of the protocol.
func Answer(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	fmt.Fprintf(w, "<Error><Code>%s</Code><Message>%s</Message></Error>", code, message) //nolint:errcheck // a test finds out
}

// serve notes the request, and answers it unless Fail has done so.
func (s *Store) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.log = append(s.log, strings.TrimSpace(r.Method+" "+r.URL.Path+" "+r.Header.Get("Range")))
	fail := s.Fail
	s.mu.Unlock()
	if fail == nil || !fail(w, r) {
		s.Answer(w, r)
	}
}

// Answer answers a request as if nothing failed.
func (s *Store) Answer(w http.ResponseWriter, r *http.Request) {
	if !strings.Contains(r.Header.Get("Authorization"), "Credential="+Key+"/") || r.Header.Get("X-Amz-Security-Token") != Token {
		Answer(w, http.StatusForbidden, "InvalidAccessKeyId", "who are you")
		return
	}
	body, err := io.ReadAll(r.Body)
	if sum := md5.Sum(body); err != nil || r.Header.Get("Content-MD5") != "" && r.Header.Get("Content-MD5") != base64.StdEncoding.EncodeToString(sum[:]) { //nolint:gosec // as above
		Answer(w, http.StatusBadRequest, "BadDigest", "other bytes came")
		return
	}
	bucket, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	q := r.URL.Query()
	if bucket == Bucket && key != "" && !q.Has("uploads") && !q.Has("uploadId") && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
		s.mu.Lock()
		o, ok := s.objects[key]
		s.mu.Unlock()
		getObject(w, r, o, ok) // without the lock: a client may read it as slowly as it writes others
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case bucket != Bucket:
		Answer(w, http.StatusNotFound, "NoSuchBucket", "no such bucket")
	case key == "":
		s.list(w, q)
	case q.Has("uploads"), q.Has("uploadId"):
		s.multipart(w, r, key, body)
	case r.Method == http.MethodPut:
		sum := md5.Sum(body) //nolint:gosec // as above
		tag := hex.EncodeToString(sum[:])
		s.putObject(key, body, tag, "")
		w.Header().Set("ETag", `"`+tag+`"`)
	case r.Method == http.MethodDelete:
		delete(s.objects, key)
		w.WriteHeader(http.StatusNoContent)
	default:
		Answer(w, http.StatusMethodNotAllowed, "MethodNotAllowed", "no such method")
	}
}

// getObject answers with an object or a range of it, if it is there and the version that is asked for.
func getObject(w http.ResponseWriter, r *http.Request, o object, ok bool) {
	switch {
	case !ok:
		Answer(w, http.StatusNotFound, "NoSuchKey", "no such key")
		return
	case r.Header.Get("If-Match") != "" && strings.Trim(r.Header.Get("If-Match"), `"`) != o.tag:
		Answer(w, http.StatusPreconditionFailed, "PreconditionFailed", "another version")
		return
	case r.Header.Get("Range") != "" && len(o.data) == 0:
		Answer(w, http.StatusRequestedRangeNotSatisfiable, "InvalidRange", "empty")
		return
	}
	if o.tag != "" {
		w.Header().Set("ETag", `"`+o.tag+`"`)
	}
	if o.mark != "" {
		w.Header().Set(markHeader, o.mark)
	}
	http.ServeContent(w, r, "", o.changed, bytes.NewReader(o.data))
}

// list answers with a page of a listing.
func (s *Store) list(w http.ResponseWriter, q url.Values) {
	type content struct {
		Key, LastModified, ETag string
		Size                    int
	}
	var page struct {
		XMLName               xml.Name `xml:"ListBucketResult"`
		IsTruncated           bool
		EncodingType          string
		NextContinuationToken string
		Contents              []content
	}
	page.EncodingType = "url"
	for _, key := range slices.Sorted(maps.Keys(s.objects)) {
		if !strings.HasPrefix(key, q.Get("prefix")) || key <= q.Get("continuation-token") && q.Has("continuation-token") {
			continue
		}
		if len(page.Contents) == s.PerPage {
			page.IsTruncated = true
			break
		}
		o := s.objects[key]
		page.Contents = append(page.Contents, content{url.QueryEscape(key), o.changed.UTC().Format(time.RFC3339), `"` + o.tag + `"`, len(o.data)})
		page.NextContinuationToken = key
	}
	if !page.IsTruncated {
		page.NextContinuationToken = ""
	}
	writeXML(w, page)
}

func writeXML(w http.ResponseWriter, v any) {
	text, err := xml.Marshal(v)
	if err != nil {
		panic(err)
	}
	w.Header().Set("Content-Type", "application/xml")
	w.Write(text) //nolint:errcheck // a test finds out
}

// multipart answers a request about an upload in parts.
func (s *Store) multipart(w http.ResponseWriter, r *http.Request, key string, body []byte) {
	id := r.URL.Query().Get("uploadId")
	if r.Method == http.MethodPost && id == "" {
		s.next++
		id = "upload-" + strconv.Itoa(s.next)
		s.uploads[id] = upload{map[int][]byte{}, r.Header.Get(markHeader)}
		writeXML(w, struct {
			XMLName               xml.Name `xml:"InitiateMultipartUploadResult"`
			Bucket, Key, UploadId string   //nolint:revive // as it is written
		}{Bucket: Bucket, Key: key, UploadId: id})
		return
	}
	under, ok := s.uploads[id]
	if !ok {
		Answer(w, http.StatusNotFound, "NoSuchUpload", "no such upload")
		return
	}
	switch r.Method {
	case http.MethodPut:
		number, _ := strconv.Atoi(r.URL.Query().Get("partNumber"))
		under.parts[number] = body
		sum := md5.Sum(body) //nolint:gosec // as above
		w.Header().Set("ETag", `"`+hex.EncodeToString(sum[:])+`"`)
	case http.MethodDelete:
		s.aborted++
		delete(s.uploads, id)
		w.WriteHeader(http.StatusNoContent)
	default:
		s.complete(w, key, id)
	}
}

// complete makes an object of parts.
func (s *Store) complete(w http.ResponseWriter, key, id string) {
	var data, sums []byte
	parts := s.uploads[id].parts
	for i, number := range slices.Sorted(maps.Keys(parts)) {
		if number != i+1 {
			Answer(w, http.StatusBadRequest, "InvalidPart", "a part is missing")
			return
		}
		sum := md5.Sum(parts[number]) //nolint:gosec // as above
		data, sums = append(data, parts[number]...), append(sums, sum[:]...)
	}
	tag := fmt.Sprintf("%x-%d", md5.Sum(sums), len(parts)) //nolint:gosec // as above
	s.putObject(key, data, tag, s.uploads[id].mark)
	delete(s.uploads, id)
	writeXML(w, struct {
		XMLName           xml.Name `xml:"CompleteMultipartUploadResult"`
		Bucket, Key, ETag string
	}{Bucket: Bucket, Key: key, ETag: `"` + tag + `"`})
}
