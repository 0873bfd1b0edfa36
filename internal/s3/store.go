package s3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/s3utils"
)

// A store is the one named by the environment, with cached facts about its objects.
type store struct {
	client client
	creds  *chain
	secure bool // by TLS
	opt    options

	answered atomic.Bool // it has answered a request
	versions sync.Map    // the objects seen, an Info by name, see Forget
}

// options are the settings that tests change.
type options struct {
	attempts int           // of a request
	pause    time.Duration // before the second attempt; it doubles
	maxPause time.Duration
	patience time.Duration // after which no other attempt is made
	idle     time.Duration
	partSize int
	maxParts int
	answer   int64 // the most that is read from an answer that is not an object
}

// The size of an upload's parts, and how many it may have. A part more makes 156 GiB too large: stores
// take 10,000, and a part is in memory until it is stored.
const (
	PartSize = 16 << 20
	MaxParts = 10_000
)

// usual are the options of a run. If the store answers at once, ten attempts are made in half a minute,
// give or take; if it does not answer, as many as begin in three minutes.
var usual = options{attempts: 10, pause: 100 * time.Millisecond, maxPause: 10 * time.Second, patience: 3 * time.Minute, idle: idleTime, partSize: PartSize, maxParts: MaxParts, answer: 16 << 20}

// one is the store of this process, created at the first use of a name.
var one = sync.OnceValues(func() (*store, error) {
	c, err := readConfig()
	if err != nil {
		return nil, &configError{err}
	}
	return newStore(&c, usual)
})

// newStore returns a store. It makes no connection.
func newStore(c *config, opt options) (*store, error) {
	s := &store{creds: &chain{config: c}, secure: c.secure, opt: opt}
	client, err := newClient(c.host, &minio.Options{
		Creds: credentials.New(s.creds), Secure: c.secure, Region: c.region, MaxRetries: 2, // the second is for another region, where there is no body
		Transport: watched{c.transport(), opt.idle, opt.answer},
	})
	if err != nil {
		return nil, &configError{errors.New("AWS_ENDPOINT_URL is not an endpoint: write https://host or https://host:port")}
	}
	s.client = client
	return s, nil
}

// interrupted is done once the run is to end.
var interrupted, interrupt = context.WithCancel(context.Background())

// Interrupt ends all requests but those that complete or abort an upload. A call that waits for the others
// gets a context.Canceled.
func Interrupt() { interrupt() }

// lasting returns the context of a request that completes something: after Interrupt, it has a little
// time left.
func lasting() (context.Context, context.CancelFunc) {
	const grace = 5 * time.Second
	ctx, cancel := context.WithCancel(context.Background())
	stop := context.AfterFunc(interrupted, func() { time.AfterFunc(grace, cancel) })
	return ctx, func() { stop(); cancel() }
}

// try makes a request until it succeeds, fails for good, or has failed too often. need is the right
// that it takes.
func (s *store) try(ctx context.Context, need string, request func() error) error {
	began := time.Now()
	for n := 1; ; n++ {
		err := request()
		if err == nil {
			s.answered.Store(true)
			return nil
		}
		_, isAnswer := errors.AsType[minio.ErrorResponse](err)
		if isAnswer {
			s.answered.Store(true)
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case !passes(err):
			return s.explain(err, need)
		case n >= s.opt.attempts || time.Since(began) > s.opt.patience:
			remedy := "run it again later"
			if !s.answered.Load() {
				remedy = "check AWS_ENDPOINT_URL, including https:// or http://"
			}
			return &outage{fmt.Errorf("%w (%s): %s", s.explain(err, need), attempts(n), remedy), isAnswer}
		case n >= 3 && isUnreachable(err) && !s.answered.Load():
			err = s.explain(err, need)
			if _, isProxy := errors.AsType[*proxyError](err); !isProxy {
				err = fmt.Errorf("%w (%d attempts): check AWS_ENDPOINT_URL", err, n)
			}
			return &outage{err, false} // the store may be down as well
		}
		if err := s.wait(ctx, n); err != nil {
			return err
		}
	}
}

// attempts returns a number of attempts.
func attempts(n int) string {
	if n == 1 {
		return "1 attempt"
	}
	return fmt.Sprintf("%d attempts", n)
}

// wait waits after the n-th attempt.
func (s *store) wait(ctx context.Context, n int) error {
	pause := min(s.opt.maxPause, s.opt.pause<<min(n-1, 20))
	pause = pause/2 + rand.N(pause/2+1) // not all tasks of a cluster at once
	select {
	case <-time.After(pause):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// checkVersion returns an error if an object has another version than this process saw before.
func (s *store) checkVersion(name string, info Info) error {
	if before, seen := s.versions.LoadOrStore(name, info); seen && !info.isSame(before.(Info)) {
		return ErrChanged
	}
	return nil
}

// Forget forgets which version of an object was seen, so that another may be read.
func Forget(name string) {
	if s, err := one(); err == nil {
		s.versions.Delete(name)
	}
}

// errIdle is the error of an answer that stops arriving.
var errIdle = errors.New("the store does not respond in time")

// watched ends answers that stop arriving, and too long ones other than objects: a thousand keys take at most 4 MiB.
type watched struct {
	http.RoundTripper
	idle   time.Duration
	answer int64
}

// RoundTrip sends a request.
func (w watched) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(r.Context())
	resp, err := w.RoundTripper.RoundTrip(r.WithContext(ctx))
	if err != nil {
		cancel(nil)
		return nil, err
	}
	body := &watchedBody{ReadCloser: resp.Body, ctx: ctx, cancel: cancel, idle: w.idle}
	resp.Body = body
	if r.Method != http.MethodGet || r.URL.RawQuery != "" { // it is not an object
		resp.Body = limited{io.LimitReader(body, w.answer), body}
	}
	return resp, nil
}

// limited is an answer that breaks off where it is too long.
type limited struct {
	io.Reader
	io.Closer
}

// A watchedBody is an answer that ends with errIdle if no bytes arrive.
type watchedBody struct {
	io.ReadCloser
	ctx    context.Context //nolint:containedctx // of the request, which ends with the body
	cancel context.CancelCauseFunc
	idle   time.Duration
}

// Read reads.
func (b *watchedBody) Read(p []byte) (int, error) {
	timer := time.AfterFunc(b.idle, func() { b.cancel(errIdle) })
	n, err := b.ReadCloser.Read(p)
	timer.Stop()
	if err != nil && errors.Is(context.Cause(b.ctx), errIdle) {
		err = errIdle
	}
	return n, err
}

// Close ends the request.
func (b *watchedBody) Close() error {
	err := b.ReadCloser.Close()
	b.cancel(nil)
	return err
}

// A client makes the requests of the protocol, as the functions of a [minio.Core] do. It is not one:
// html/template calls methods by their names, so the linker keeps all methods of a type that a value
// in an interface leads to. Methods of the library that nothing calls take 1.4 MB of the program.
type client struct {
	stat     func(ctx context.Context, bucket, key string, opt minio.StatObjectOptions) (minio.ObjectInfo, error)
	get      func(ctx context.Context, bucket, key string, opt minio.GetObjectOptions) (io.ReadCloser, minio.ObjectInfo, http.Header, error)
	list     func(bucket, prefix, after, token, delimiter string, most int) (minio.ListBucketV2Result, error)
	put      func(ctx context.Context, bucket, key string, data io.Reader, size int64, md5, sha256 string, opt minio.PutObjectOptions) (minio.UploadInfo, error)
	remove   func(ctx context.Context, bucket, key string, opt minio.RemoveObjectOptions) error
	begin    func(ctx context.Context, bucket, key string, opt minio.PutObjectOptions) (upload string, err error)
	part     func(ctx context.Context, bucket, key, upload string, number int, data io.Reader, size int64, opt minio.PutObjectPartOptions) (minio.ObjectPart, error)
	complete func(ctx context.Context, bucket, key, upload string, parts []minio.CompletePart, opt minio.PutObjectOptions) (minio.UploadInfo, error)
	abort    func(ctx context.Context, bucket, key, upload string) error
}

// newClient returns a client of the store at that address. It makes no connection.
func newClient(host string, opt *minio.Options) (client, error) {
	c, err := minio.NewCore(host, opt)
	if err != nil {
		return client{}, err
	}
	c.SetS3EnableDualstack(false) // gateways of private networks have no other names
	c.SetAppInfo("robobatch", "s3")
	return client{
		stat: c.StatObject, get: c.GetObject, list: c.ListObjectsV2, put: c.PutObject, remove: c.RemoveObject,
		begin: c.NewMultipartUpload, part: c.PutObjectPart, complete: c.CompleteMultipartUpload, abort: c.AbortMultipartUpload,
	}, nil
}

// Scheme begins the names of objects.
const Scheme = "s3://"

// maxKey is the length of the longest key, in bytes.
const maxKey = 1024

// Is reports whether a name is the name of an object, a bucket, or a part of one.
func Is(name string) bool { return strings.HasPrefix(name, Scheme) }

// An object is a bucket and a key in it.
type object struct{ bucket, key string }

// split returns the bucket and the key of a name. The key may be empty.
func split(name string) (o object, err error) {
	o.bucket, o.key, _ = strings.Cut(strings.TrimPrefix(name, Scheme), "/")
	switch {
	case o.bucket == "":
		return o, errors.New("missing bucket: write s3://bucket/key")
	case strings.ContainsAny(o.bucket, "*?["):
		return o, errors.New("wildcard in the bucket name: name one bucket")
	case s3utils.CheckValidBucketName(o.bucket) != nil:
		return o, errors.New("invalid bucket name: use 3 to 63 lower-case letters, digits, dots and hyphens")
	case !utf8.ValidString(o.key):
		return o, errors.New("the key is not valid UTF-8")
	case strings.Contains(o.key, "\x00"):
		return o, errors.New("the key contains a NUL byte")
	case len(o.key) > maxKey:
		return o, fmt.Errorf("the key has %d bytes; the limit is %d: %w", len(o.key), maxKey, syscall.ENAMETOOLONG)
	}
	return o, nil
}

// splitKey is split for the name of one object.
func splitKey(name string) (object, error) {
	o, err := split(name)
	if err == nil && o.key == "" {
		err = errors.New("names a bucket without an object: write s3://bucket/key")
	}
	return o, err
}

// List calls found for each object whose name begins with a prefix, such as s3://bucket/logs/, in the order of the
// store, until found returns an error, which List returns. Objects whose keys end in a slash are omitted: programs make
// such to show a directory.
func List(prefix string, found func(name string, info Info) error) error {
	s, err := one()
	if err != nil {
		return err
	}
	return s.list(prefix, found)
}

// errListing is the error of a store that lists names outside of the request.
var errListing = errors.New("the listing of the store contradicts itself: name its objects in a list")

// list calls found for each object below a prefix. A listing that repeats itself, or is out of order,
// is an error.
func (s *store) list(prefix string, found func(name string, info Info) error) error {
	o, err := split(prefix)
	if err != nil {
		return err
	}
	last, token, empty := "", "", 0
	for {
		var page minio.ListBucketV2Result
		var err error
		const most = 1000
		err = s.try(interrupted, toList, func() (err error) {
			page, err = s.client.list(o.bucket, o.key, "", token, "", most)
			return err
		})
		if err != nil {
			return err
		}
		if empty++; len(page.Contents) > 0 {
			empty = 0
		}
		for i := range page.Contents {
			c := &page.Contents[i]
			if !strings.HasPrefix(c.Key, o.key) || c.Size < 0 || c.Key <= last && !strings.HasSuffix(o.bucket, "--x-s3") {
				return errListing
			}
			last = c.Key
			if strings.HasSuffix(c.Key, "/") {
				continue
			}
			if err := found(Scheme+o.bucket+"/"+c.Key, Info{c.Size, strings.Trim(c.ETag, `"`), c.LastModified.UTC()}); err != nil {
				return err
			}
		}
		if !page.IsTruncated {
			return nil
		}
		if page.NextContinuationToken == token || empty == maxEmpty {
			return errListing
		}
		token = page.NextContinuationToken
	}
}

// maxEmpty is the number of pages without objects that may come one after the other: stores that filter deleted objects
// have some.
const maxEmpty = 1000
