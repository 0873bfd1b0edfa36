package s3

import (
	"bytes"
	"context"
	"crypto/md5" //nolint:gosec // required by the protocol, as a checksum
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/minio/minio-go/v7"

	"github.com/robobatch/robobatch/internal/panics"
)

// An Upload is an object that is written sequentially. It is visible once Commit has returned. It is not safe for
// concurrent use.
type Upload struct {
	store *store
	name  string
	at    object
	ctx   context.Context //nolint:containedctx // for requests that Close ends
	stop  context.CancelFunc

	buf    []byte // the part that is being filled
	spare  []byte
	id     string // of the multipart upload; "" if it has not begun
	mark   string // unique value of the metadata markName of the object, if it is written in parts
	parts  []minio.CompletePart
	under  chan partResult // of the part that is being sent; nil if there is none
	err    error           // sticky error of Write
	closed bool
}

// A partResult is the result of sending a part.
type partResult struct {
	part minio.CompletePart
	buf  []byte
	err  error
}

// Create begins an object. It makes no request.
func Create(name string) (*Upload, error) {
	s, err := processStore()
	if err != nil {
		return nil, err
	}
	return s.createUpload(name)
}

// createUpload is [Create] for this store.
func (s *store) createUpload(name string) (*Upload, error) {
	at, err := splitKey(name)
	if err != nil {
		return nil, err
	}
	u := &Upload{store: s, name: name, at: at, mark: rand.Text()}
	u.ctx, u.stop = context.WithCancel(interrupted)
	return u, nil
}

// Write adds bytes, which it copies. It may wait for a part to be stored. After an error, further calls return the same
// error, and the object never becomes visible.
func (u *Upload) Write(b []byte) (n int, err error) {
	for u.err == nil && len(b) > 0 {
		if len(u.buf) == u.store.opt.partSize {
			if u.err = u.sendPart(); u.err != nil {
				break
			}
		}
		m := min(len(b), u.store.opt.partSize-len(u.buf))
		u.buf = append(u.buf, b[:m]...)
		b, n = b[m:], n+m
	}
	return n, u.err
}

// sendPart begins to send the buffer as the next part, after waiting for the previous one, and makes an empty buffer
// the current one. It begins the multipart upload if there is none. The error may be about the previous part.
func (u *Upload) sendPart() error {
	if err := u.waitForPart(); err != nil {
		return err
	}
	if u.id == "" {
		if err := u.beginMultipart(); err != nil {
			return err
		}
	}
	number, part := len(u.parts)+1, u.buf
	if number > u.store.opt.maxParts {
		size, parts := u.store.opt.partSize, u.store.opt.maxParts
		return fmt.Errorf("it has more than %d parts of %d MiB, %d GiB, and %w", parts, size>>20, int64(size)*int64(parts)>>30, ErrTooLarge)
	}
	u.under = make(chan partResult, 1)
	panics.Send(u.under, func() partResult {
		sum := md5.Sum(part) //nolint:gosec // as above
		opt := minio.PutObjectPartOptions{Md5Base64: base64.StdEncoding.EncodeToString(sum[:])}
		result, attempts := partResult{buf: part}, 0
		result.err = u.store.try(u.ctx, toWrite, func() error {
			if attempts++; attempts > 1 {
				result.buf = nil // the connection of the previous attempt may still read it
			}
			got, err := u.store.client.part(u.ctx, u.at.bucket, u.at.key, u.id, number, bodyReader(part), int64(len(part)), opt)
			result.part = minio.CompletePart{PartNumber: number, ETag: got.ETag}
			return err
		})
		return result
	}, func(err error) partResult { return partResult{err: err} })
	u.buf, u.spare = u.spare[:0], nil
	return nil
}

// markName is a key of an object's metadata, sent as x-amz-meta-robobatch-upload.
const markName = "Robobatch-Upload"

// beginMultipart begins a multipart upload, and sets its id.
func (u *Upload) beginMultipart() error {
	return u.store.try(u.ctx, toWrite, func() (err error) {
		u.id, err = u.store.client.begin(u.ctx, u.at.bucket, u.at.key, minio.PutObjectOptions{UserMetadata: map[string]string{markName: u.mark}})
		if err == nil && u.id == "" {
			err = errShort
		}
		return err
	})
}

// waitForPart waits for the part that is being sent, if there is one, and returns its error. The memory of the part is
// then free for the next one.
func (u *Upload) waitForPart() error {
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

// Commit completes the object, which then becomes visible. After an error, it is not visible, and the upload is
// aborted, unless the error is an [AbortError]. After Commit or Close, the error is errNoUpload.
func (u *Upload) Commit() error {
	if u.closed {
		return errNoUpload
	}
	if u.err == nil {
		u.err = u.finish()
	}
	if u.err != nil {
		return errors.Join(u.err, u.Close())
	}
	u.closed = true
	u.stop()
	u.store.versions.Delete(u.name)
	return nil
}

// finish completes the upload. It stores an object of one part by a single request. It continues for some seconds after
// Interrupt.
func (u *Upload) finish() error {
	if u.id == "" && len(u.buf) <= u.store.opt.partSize {
		return u.store.putObject(u.at, u.buf)
	}
	if len(u.buf) > 0 {
		if err := u.sendPart(); err != nil {
			return err
		}
	}
	if err := u.waitForPart(); err != nil {
		return err
	}
	ctx, cancel := lastingContext()
	defer cancel()
	err := u.store.try(ctx, toWrite, func() error {
		_, err := u.store.client.complete(ctx, u.at.bucket, u.at.key, u.id, u.parts, minio.PutObjectOptions{})
		return err
	})
	if errors.Is(err, errNoUpload) && u.isComplete(ctx) { // an earlier attempt succeeded, but its response was lost
		err = nil
	}
	return err
}

// isComplete reports whether the object is that of this upload; false if that cannot be determined. It does not compare
// ETags, because those of encrypted objects depend on more than the content.
func (u *Upload) isComplete(ctx context.Context) bool {
	var got minio.ObjectInfo
	err := u.store.try(ctx, toRead, func() (err error) {
		got, err = u.store.client.stat(ctx, u.at.bucket, u.at.key, minio.StatObjectOptions{})
		return err
	})
	return err == nil && got.UserMetadata[markName] == u.mark
}

// Close aborts the upload, unless it was committed, and waits for at most a few seconds. The error is an [AbortError].
// Further calls do nothing.
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

// An AbortError means that an upload could not be aborted.
type AbortError struct{ Err error }

// Error says that parts remain stored, and how to remove them.
func (e *AbortError) Error() string {
	return fmt.Sprintf("abort the upload: %v: its parts remain stored, at a cost, until a bucket rule removes them (AbortIncompleteMultipartUpload)", e.Err)
}

// Unwrap returns the cause.
func (e *AbortError) Unwrap() error { return e.Err }

// bodyReader returns a reader of text for one attempt of a request. It has no Seek method, so that the client library
// cannot rewind and resend it: according to net/http, the connection may still read a body after RoundTrip has
// returned.
func bodyReader(text []byte) io.Reader { return struct{ io.Reader }{bytes.NewReader(text)} }

// putObject creates or replaces an object by a single request, so text should have at most PartSize bytes. The request
// continues for some seconds after Interrupt.
func (s *store) putObject(at object, text []byte) error {
	ctx, cancel := lastingContext()
	defer cancel()
	sum := md5.Sum(text) //nolint:gosec // as above
	return s.try(ctx, toWrite, func() error {
		_, err := s.client.put(ctx, at.bucket, at.key, bodyReader(text), int64(len(text)), base64.StdEncoding.EncodeToString(sum[:]), "", minio.PutObjectOptions{})
		return err
	})
}

// prepareReplacement returns the store and the object of a name. It forgets the version that this process saw, so the
// new one can be read.
func prepareReplacement(name string) (s *store, at object, err error) {
	if s, err = processStore(); err != nil {
		return s, at, err
	}
	if at, err = splitKey(name); err == nil {
		s.versions.Delete(name)
	}
	return s, at, err
}

// Write creates or replaces an object by a single request, so text should have at most PartSize bytes.
func Write(name string, text []byte) error {
	s, at, err := prepareReplacement(name)
	if err != nil {
		return err
	}
	return s.putObject(at, text)
}

// Remove removes an object, and forgets its version. It does nothing if the object does not exist.
func Remove(name string) error {
	s, at, err := prepareReplacement(name)
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

// Probe returns an error if an object of that name cannot be written. It begins and aborts an upload.
func Probe(name string) error {
	u, err := Create(name)
	if err != nil {
		return err
	}
	return errors.Join(u.beginMultipart(), u.Close())
}
