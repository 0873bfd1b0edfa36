package s3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// A store is the one that the environment names, and the facts known of its objects.
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
	answer   int64 // the most that is read of an answer that is no object
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

// one is the store of this process, once a name was asked for.
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
		return nil, &configError{errors.New("the endpoint of AWS_ENDPOINT_URL is none: write https://host or https://host:port")}
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
				remedy = "is AWS_ENDPOINT_URL right, its https:// or http:// too?"
			}
			err = fmt.Errorf("%w (%s): %s", s.explain(err, need), attempts(n), remedy)
			if isAnswer {
				return err
			}
			return &outage{err}
		case n >= 3 && isUnreachable(err) && !s.answered.Load():
			err = s.explain(err, need)
			if _, isProxy := errors.AsType[*proxyError](err); isProxy {
				return err
			}
			return &configError{fmt.Errorf("%w (%d attempts): is AWS_ENDPOINT_URL right?", err, n)}
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

// errIdle is the fault of an answer that does not come.
var errIdle = errors.New("the store does not answer in time")

// watched ends answers when no byte comes any more, and those that are no objects and too long: a
// thousand keys take 4 MiB at most.
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

// A watchedBody is an answer that ends with errIdle if nothing comes.
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
