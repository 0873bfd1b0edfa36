package s3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
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

// A store is the object storage named by the environment.
type store struct {
	client client
	creds  *chain
	secure bool // use TLS
	opt    options

	answered atomic.Bool // the store has answered a request
	versions sync.Map    // name to the Info of the version seen first, see Forget
}

// options are settings that tests change.
type options struct {
	attempts int           // maximum attempts of a request
	pause    time.Duration // before the second attempt; it doubles for each further one
	maxPause time.Duration
	patience time.Duration // no attempt begins later than that
	idle     time.Duration
	partSize int
	maxParts int
	answer   int64 // maximum bytes of a response other than an object
}

// The size of an upload's parts in bytes, and their maximum number, which is that of most stores. So an object can have
// 156 GiB. A part is in memory until it is stored.
const (
	PartSize = 16 << 20
	MaxParts = 10_000
)

// usual are the options outside tests. If the store answers with errors, ten attempts take about half a minute; if it
// does not answer, attempts begin for three minutes.
var usual = options{attempts: 10, pause: 100 * time.Millisecond, maxPause: 10 * time.Second, patience: 3 * time.Minute, idle: idleTime, partSize: PartSize, maxParts: MaxParts, answer: 16 << 20}

// processStore returns the store of this process. It is created at the first call.
var processStore = sync.OnceValues(func() (*store, error) {
	c, err := readConfig()
	if err != nil {
		return nil, &configError{err}
	}
	return newStore(&c, usual)
})

// newStore returns a store. It makes no connection. The error is a configError about the endpoint.
func newStore(c *config, opt options) (*store, error) {
	s := &store{creds: &chain{config: c}, secure: c.secure, opt: opt}
	core, err := minio.NewCore(c.host, &minio.Options{
		Creds: credentials.New(s.creds), Secure: c.secure, Region: c.region, MaxRetries: 2, // the second one in the correct region, for requests without a body
		Transport: watched{c.transport(), opt.idle, opt.answer},
	})
	if err != nil {
		return nil, &configError{errors.New("AWS_ENDPOINT_URL is not an endpoint: write https://host or https://host:port")}
	}
	core.SetS3EnableDualstack(false) // gateways of private networks lack the other host names
	core.SetAppInfo("robobatch", "s3")
	s.client = client{
		stat: core.StatObject, get: core.GetObject, list: core.ListObjectsV2, put: core.PutObject, remove: core.RemoveObject,
		begin: core.NewMultipartUpload, part: core.PutObjectPart, complete: core.CompleteMultipartUpload, abort: core.AbortMultipartUpload,
	}
	return s, nil
}

// interrupted is done after Interrupt.
var interrupted, interrupt = context.WithCancel(context.Background())

// Interrupt ends all requests except those that complete or abort an upload. Calls that wait for them return
// context.Canceled.
func Interrupt() { interrupt() }

// lastingContext returns the context of a request that completes an object. It lasts for five seconds after Interrupt.
// The caller must call the function to release it.
func lastingContext() (context.Context, context.CancelFunc) {
	const grace = 5 * time.Second
	ctx, cancel := context.WithCancel(context.Background())
	stop := context.AfterFunc(interrupted, func() { time.AfterFunc(grace, cancel) })
	return ctx, func() { stop(); cancel() }
}

// try calls request until it succeeds, fails permanently, or has failed too often. need is the text about the
// permission that the request requires. The error has a remedy (see explain); it is an outage if further attempts might
// succeed, or that of ctx once it is done.
func (s *store) try(ctx context.Context, need string, request func() error) error {
	began := time.Now()
	for n := 1; ; n++ {
		err := request()
		if err == nil {
			s.answered.Store(true)
			return nil
		}
		_, isDNS := errors.AsType[*net.DNSError](err)
		_, isAnswer := errors.AsType[minio.ErrorResponse](err)
		if isAnswer {
			s.answered.Store(true)
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case !isPassing(err):
			return s.explain(err, need)
		case n >= s.opt.attempts || time.Since(began) > s.opt.patience:
			remedy := "run it again later"
			if !s.answered.Load() {
				remedy = "check AWS_ENDPOINT_URL, including https:// or http://"
			}
			return &outage{fmt.Errorf("%w (%s): %s", s.explain(err, need), attemptsText(n), remedy), isAnswer}
		case n >= 3 && (isDNS || errors.Is(err, syscall.ECONNREFUSED)) && !s.answered.Load(): // no connection was possible
			err = s.explain(err, need)
			if _, isProxy := errors.AsType[*proxyError](err); !isProxy {
				err = fmt.Errorf("%w (%d attempts): check AWS_ENDPOINT_URL", err, n)
			}
			return &outage{err, false} // or the store is down
		}
		if err := s.pauseAfter(ctx, n); err != nil {
			return err
		}
	}
}

// attemptsText returns "1 attempt" or "n attempts".
func attemptsText(n int) string {
	if n == 1 {
		return "1 attempt"
	}
	return fmt.Sprintf("%d attempts", n)
}

// pauseAfter waits after the n-th attempt, counted from 1, for a random time that doubles with n. It returns early,
// with an error, when ctx is done.
func (s *store) pauseAfter(ctx context.Context, n int) error {
	pause := min(s.opt.maxPause, s.opt.pause<<min(n-1, 20))
	pause = pause/2 + rand.N(pause/2+1) // so that the tasks of a cluster do not retry at the same time
	select {
	case <-time.After(pause):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// checkVersion returns ErrChanged if this process saw another version of the object before. Otherwise it remembers this
// one.
func (s *store) checkVersion(name string, info Info) error {
	if before, seen := s.versions.LoadOrStore(name, info); seen && !info.isSame(before.(Info)) {
		return ErrChanged
	}
	return nil
}

// Forget forgets the version of an object that this process saw, so that it can read another one.
func Forget(name string) {
	if s, err := processStore(); err == nil {
		s.versions.Delete(name)
	}
}

// errIdle is the error of a response that stalls.
var errIdle = errors.New("the store does not respond in time")

// watched is a transport that ends responses which stall, and limits the length of those other than objects. A page of
// a listing, with a thousand keys, has at most 4 MiB.
type watched struct {
	http.RoundTripper
	idle   time.Duration
	answer int64
}

// RoundTrip sends a request. The body of the response must be closed.
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

// limited is the body of a response, truncated to a maximum length.
type limited struct {
	io.Reader
	io.Closer
}

// A watchedBody is the body of a response. Read returns errIdle if no bytes arrive in time.
type watchedBody struct {
	io.ReadCloser
	ctx    context.Context //nolint:containedctx // of the request, which lasts as long as the body
	cancel context.CancelCauseFunc
	idle   time.Duration
}

// Read reads. The error is errIdle if no bytes arrive within idle.
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

// A client has the functions of a [minio.Core] that this package calls. It is not a minio.Core itself, because the
// linker would then keep all of its methods, which add 1.4 MB to the binary: html/template calls methods by name.
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

// Scheme is the prefix of the names of objects.
const Scheme = "s3://"

// maxKey is the maximum length of a key, in bytes.
const maxKey = 1024

// Is reports whether a name refers to object storage.
func Is(name string) bool { return strings.HasPrefix(name, Scheme) }

// An object is a bucket and a key in it.
type object struct{ bucket, key string }

// splitName divides a name, which begins with Scheme, into bucket and key, and checks both. The key may be empty.
func splitName(name string) (o object, err error) {
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

// splitKey is like splitName, but requires a key.
func splitKey(name string) (object, error) {
	o, err := splitName(name)
	if err == nil && o.key == "" {
		err = errors.New("names a bucket without an object: write s3://bucket/key")
	}
	return o, err
}

// List calls found for each object whose name begins with a prefix, such as s3://bucket/logs/, in the order of the
// store, until found returns an error, which List returns. It omits objects whose keys end in a slash, by which
// programs represent directories.
func List(prefix string, found func(name string, info Info) error) error {
	s, err := processStore()
	if err != nil {
		return err
	}
	return s.list(prefix, found)
}

// errListing is the error of a listing that is out of order, repeats itself, or has names that were not requested.
var errListing = errors.New("the listing of the store contradicts itself: name its objects in a list")

// list is [List] for this store. The error is errListing if the pages of the store contradict each other.
func (s *store) list(prefix string, found func(name string, info Info) error) error {
	o, err := splitName(prefix)
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

// maxEmpty is the maximum number of consecutive pages of a listing without objects, which stores return if they filter
// deleted objects.
const maxEmpty = 1000
