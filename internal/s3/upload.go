package s3

import (
	"bytes"
	"context"
	"crypto/md5" //nolint:gosec // the protocol's check of what was sent
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/minio/minio-go/v7"

	"github.com/robobatch/robobatch/internal/panics"
)

// An Upload is an object that is written from front to back. It is visible once Commit has returned.
// Its methods are for one goroutine at a time.
type Upload struct {
	store *store
	name  string
	at    object
	ctx   context.Context //nolint:containedctx // of the parts under way, which Close ends
	stop  context.CancelFunc

	buf    []byte // the part that is being filled
	spare  []byte
	id     string // of the upload in parts; "" if there is none yet
	mark   string // the metadata markName of an object written in parts: no other object has it
	parts  []minio.CompletePart
	under  chan sent // a part that is under way; nil if there is none
	err    error     // of Write, which comes again
	closed bool
}

// A sent is the result of a part.
type sent struct {
	part minio.CompletePart
	buf  []byte
	err  error
}

// Create begins an object. It makes no request.
func Create(name string) (*Upload, error) {
	s, err := one()
	if err != nil {
		return nil, err
	}
	return s.create(name)
}

// create returns an upload, and asks nothing of the store yet.
func (s *store) create(name string) (*Upload, error) {
	at, err := splitKey(name)
	if err != nil {
		return nil, err
	}
	u := &Upload{store: s, name: name, at: at, mark: rand.Text()}
	u.ctx, u.stop = context.WithCancel(interrupted)
	return u, nil
}

// Write adds bytes. Every later call returns the same error, and the object never becomes visible.
func (u *Upload) Write(b []byte) (n int, err error) {
	for u.err == nil && len(b) > 0 {
		if len(u.buf) == u.store.opt.partSize {
			if u.err = u.send(); u.err != nil {
				break
			}
		}
		m := min(len(b), u.store.opt.partSize-len(u.buf))
		u.buf = append(u.buf, b[:m]...)
		b, n = b[m:], n+m
	}
	return n, u.err
}

// send sends the part that is full, once the one before it is stored.
func (u *Upload) send() error {
	if err := u.wait(); err != nil {
		return err
	}
	if u.id == "" {
		if err := u.begin(); err != nil {
			return err
		}
	}
	number, part := len(u.parts)+1, u.buf
	if number > u.store.opt.maxParts {
		size, parts := u.store.opt.partSize, u.store.opt.maxParts
		return fmt.Errorf("it has more than %d parts of %d MiB, %d GiB, and %w", parts, size>>20, int64(size)*int64(parts)>>30, ErrTooLarge)
	}
	u.under = make(chan sent, 1)
	panics.Send(u.under, func() sent {
		// Store a part.
		sum := md5.Sum(part) //nolint:gosec // as above
		opt := minio.PutObjectPartOptions{Md5Base64: base64.StdEncoding.EncodeToString(sum[:])}
		result, attempts := sent{buf: part}, 0
		result.err = u.store.try(u.ctx, toWrite, func() error {
			if attempts++; attempts > 1 {
				result.buf = nil // the connection of the attempt before may still read it
			}
			got, err := u.store.client.part(u.ctx, u.at.bucket, u.at.key, u.id, number, body(part), int64(len(part)), opt)
			result.part = minio.CompletePart{PartNumber: number, ETag: got.ETag}
			return err
		})
		return result
	}, func(err error) sent { return sent{err: err} })
	u.buf, u.spare = u.spare[:0], nil
	return nil
}

// markName is the name of metadata: x-amz-meta-robobatch-upload.
const markName = "Robobatch-Upload"

// begin begins an upload in parts.
func (u *Upload) begin() error {
	return u.store.try(u.ctx, toWrite, func() (err error) {
		u.id, err = u.store.client.begin(u.ctx, u.at.bucket, u.at.key, minio.PutObjectOptions{UserMetadata: map[string]string{markName: u.mark}})
		if err == nil && u.id == "" {
			err = errShort
		}
		return err
	})
}

// wait waits for the current part.
func (u *Upload) wait() error {
	if u.under == nil {
		return nil
	}
	result := <-u.under
	u.under = nil
	if result.err != nil {
		return result.err
	}
	u.spare, u.parts = result.buf, append(u.parts, result.part)
	return nil
}

// Commit completes the object: after it, all of it is visible. On an error nothing is, and the
// upload is aborted, unless the error says that it could not be.
func (u *Upload) Commit() error {
	if u.closed {
		return errNoUpload
	}
	if u.err == nil {
		u.err = u.commit()
	}
	if u.err != nil {
		return errors.Join(u.err, u.Close())
	}
	u.closed = true
	u.stop()
	u.store.versions.Delete(u.name)
	return nil
}

// commit completes the upload, or stores an object of one part by itself.
func (u *Upload) commit() error {
	if u.id == "" && len(u.buf) <= u.store.opt.partSize {
		return u.store.putObject(u.at, u.buf)
	}
	if len(u.buf) > 0 {
		if err := u.send(); err != nil {
			return err
		}
	}
	if err := u.wait(); err != nil {
		return err
	}
	ctx, cancel := lasting()
	defer cancel()
	err := u.store.try(ctx, toWrite, func() error {
		_, err := u.store.client.complete(ctx, u.at.bucket, u.at.key, u.id, u.parts, minio.PutObjectOptions{})
		return err
	})
	if errors.Is(err, errNoUpload) && u.isComplete(ctx) { // an attempt before succeeded, and its answer was lost
		err = nil
	}
	return err
}

// isComplete reports whether the object is the one of this upload. Its ETag would not say so: the ETag of an
// encrypted object depends on more than its bytes.
func (u *Upload) isComplete(ctx context.Context) bool {
	var got minio.ObjectInfo
	err := u.store.try(ctx, toRead, func() (err error) {
		got, err = u.store.client.stat(ctx, u.at.bucket, u.at.key, minio.StatObjectOptions{})
		return err
	})
	return err == nil && got.UserMetadata[markName] == u.mark
}

// Close drops the output, unless it was committed: the upload is aborted. The error says that it
// could not be.
func (u *Upload) Close() error {
	if u.closed {
		return nil
	}
	u.closed = true
	u.stop()
	if u.under != nil {
		<-u.under
	}
	u.buf, u.spare = nil, nil
	if u.id == "" {
		return nil
	}
	const patience = 5 * time.Second
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	err := u.store.try(ctx, toAbort, func() error {
		return u.store.client.abort(ctx, u.at.bucket, u.at.key, u.id)
	})
	if err == nil || errors.Is(err, errNoUpload) || errors.Is(err, ErrNotExist) {
		return nil
	}
	return &AbortError{err}
}

// An AbortError says that an upload could not be aborted.
type AbortError struct{ Err error }

// Error names the parts that are left, and the command that removes them.
func (e *AbortError) Error() string {
	return fmt.Sprintf("abort the upload: %v: its parts remain stored, at a cost, until a bucket rule removes them (AbortIncompleteMultipartUpload)", e.Err)
}

// Unwrap returns why.
func (e *AbortError) Unwrap() error { return e.Err }

// body returns the reader of a text for a request, once. It has no Seek: a client that tries again with
// the same reader winds it back, while the connection of the request before may still read (net/http says
// so of a RoundTrip that has returned). So store.try makes each request again.
func body(text []byte) io.Reader { return struct{ io.Reader }{bytes.NewReader(text)} }

// putObject stores a small object.
func (s *store) putObject(at object, text []byte) error {
	ctx, cancel := lasting()
	defer cancel()
	sum := md5.Sum(text) //nolint:gosec // as above
	return s.try(ctx, toWrite, func() error {
		_, err := s.client.put(ctx, at.bucket, at.key, body(text), int64(len(text)), base64.StdEncoding.EncodeToString(sum[:]), "", minio.PutObjectOptions{})
		return err
	})
}

// replaced returns the store, and where in it an object is that is about to be another or none.
func replaced(name string) (s *store, at object, err error) {
	if s, err = one(); err != nil {
		return s, at, err
	}
	if at, err = splitKey(name); err == nil {
		s.versions.Delete(name)
	}
	return s, at, err
}

// Write stores a small object, replacing any object of that name.
func Write(name string, text []byte) error {
	s, at, err := replaced(name)
	if err != nil {
		return err
	}
	return s.putObject(at, text)
}

// Remove removes an object. One that is not there is removed already.
func Remove(name string) error {
	s, at, err := replaced(name)
	if err != nil {
		return err
	}
	err = s.try(interrupted, toRemove, func() error {
		return s.client.remove(interrupted, at.bucket, at.key, minio.RemoveObjectOptions{})
	})
	if errors.Is(err, ErrNotExist) {
		return nil
	}
	return err
}

// Probe finds out whether an object of that name can be written: it begins an upload, and aborts it.
func Probe(name string) error {
	u, err := Create(name)
	if err != nil {
		return err
	}
	return errors.Join(u.begin(), u.Close())
}
