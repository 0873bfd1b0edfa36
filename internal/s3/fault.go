package s3

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/minio/minio-go/v7"
)

// Kinds of errors.
var (
	// ErrNotExist: the object does not exist. It is an fs.ErrNotExist.
	ErrNotExist error = &kindError{"the object does not exist", fs.ErrNotExist}
	// ErrDenied: the credentials lack a permission. It is an fs.ErrPermission.
	ErrDenied error = &kindError{"the store denies access", fs.ErrPermission}

	ErrNoBucket    = errors.New("the bucket does not exist: check its name, and that AWS_ENDPOINT_URL names its store")
	ErrCredentials = errors.New("no credentials for object storage")
	ErrChanged     = errors.New("changed while it was read: run again when no other process writes to it")
	ErrTooLarge    = errors.New("is too large for one object: write one output per input, or a file")
	errClock       = errors.New("the store rejects this machine's time (RequestTimeTooSkewed): set the clock")
	errRefused     = errors.New("the store rejects the credentials: set others, or renew them")
	errRedirect    = errors.New("the store answers with a redirect, which is not followed: set AWS_REGION to the region of the bucket, or AWS_ENDPOINT_URL to its store")
	errTLS         = errors.New("the store's certificate is not trusted: name the CA certificate in AWS_CA_BUNDLE")
	errOtherHost   = errors.New("the certificate of the store is for another host: use a host of the certificate in AWS_ENDPOINT_URL")
	errExpired     = errors.New("the certificate of the store is not valid at this time: renew it, or set the clock of this machine")
	errNoTLS       = errors.New("the store does not support TLS: write http:// in AWS_ENDPOINT_URL if the network is trusted")
	errOnlyTLS     = errors.New("the store requires TLS: write https:// in AWS_ENDPOINT_URL")
	errShort       = errors.New("the response of the store is incomplete")
	errNoUpload    = errors.New("the upload no longer exists: run it again, and make sure that no other process aborts uploads")
	errRange       = errors.New("the store does not support range requests: copy the object to a file")
)

// A kindError is an error with its own text that also matches another error.
type kindError struct {
	text string
	kind error
}

func (e *kindError) Error() string { return e.text }
func (e *kindError) Unwrap() error { return e.kind }

// The permissions that requests require, for messages about a denied request.
const (
	toRead   = "these credentials need s3:GetObject for it; without s3:ListBucket, access to a missing object is denied as well"
	toList   = "these credentials need s3:ListBucket for the bucket"
	toWrite  = "these credentials need s3:PutObject for it"
	toRemove = "these credentials need s3:DeleteObject for it"
	toAbort  = "these credentials need s3:AbortMultipartUpload for it"
)

// A proxyError is an error of a proxy.
type proxyError struct {
	does  string // end of a sentence: "answers 502", "cannot be reached"
	lasts bool   // retrying is useless
}

// Error names the variables to correct.
func (e *proxyError) Error() string {
	return "the proxy of HTTPS_PROXY or HTTP_PROXY " + e.does + ": correct that variable, or name the store in NO_PROXY"
}

// proxy returns the proxy of a request; nil if there is none. The error does not contain its URL, which may contain
// a password.
func proxy(r *http.Request) (*url.URL, error) {
	u, err := http.ProxyFromEnvironment(r)
	if err != nil {
		return nil, &proxyError{"is not a URL", true}
	}
	return u, nil
}

// kinds maps error codes of stores to kinds of errors.
var kinds = map[string]error{
	"NoSuchKey": ErrNotExist, "NoSuchBucket": ErrNoBucket, "NoSuchUpload": errNoUpload,
	"AccessDenied": ErrDenied, "AllAccessDisabled": ErrDenied, "AccountProblem": ErrDenied,
	"InvalidAccessKeyId": errRefused, "SignatureDoesNotMatch": errRefused, "ExpiredToken": errRefused, "InvalidToken": errRefused,
	"TokenRefreshRequired": errRefused, "RequestTimeTooSkewed": errClock,
	"PreconditionFailed": ErrChanged, "EntityTooLarge": ErrTooLarge,
	"PermanentRedirect": errRedirect, "TemporaryRedirect": errRedirect, "Redirect": errRedirect,
}

// statuses maps status codes to kinds of errors, for responses without a known error code.
var statuses = map[int]error{
	http.StatusNotFound: ErrNotExist, http.StatusForbidden: ErrDenied, http.StatusUnauthorized: errRefused, http.StatusPreconditionFailed: ErrChanged,
	http.StatusMovedPermanently: errRedirect, http.StatusFound: errRedirect, http.StatusSeeOther: errRedirect,
	http.StatusTemporaryRedirect: errRedirect, http.StatusPermanentRedirect: errRedirect,
	http.StatusProxyAuthRequired: &proxyError{"answers 407 Proxy Authentication Required", true},
}

// explain returns a message for the error of a request, with a remedy and without secrets. It returns nil, cancellation
// and errors of this package unchanged. need is the text about the permission that the request requires, which is added
// if access is denied.
func (s *store) explain(err error, need string) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	answer, ok := errors.AsType[minio.ErrorResponse](err)
	switch {
	case err == nil, isOurs(err), errors.Is(err, context.Canceled):
		return err
	case ok && answer.StatusCode != 0:
		kind := kinds[answer.Code]
		if kind == nil {
			kind = statuses[answer.StatusCode]
		}
		if text := answer.Message; kind == nil && !s.secure && (strings.Contains(text, "HTTPS") || strings.Contains(text, "SSL-enabled")) {
			return errOnlyTLS
		}
		if kind == nil {
			return fmt.Errorf("the store answers %d, %s: %s", answer.StatusCode, printable(s.creds.redact(answer.Code), 60), printable(s.creds.redact(answer.Message), 200))
		}
		code := ""
		if _, known := kinds[answer.Code]; known {
			code = " (" + answer.Code + ")"
		}
		switch {
		case errors.Is(kind, ErrDenied):
			return fmt.Errorf("%w%s: %s", kind, code, need)
		case errors.Is(kind, errRefused):
			return fmt.Errorf("%w%s", kind, code)
		}
		return kind
	case ok:
		return fmt.Errorf("the request cannot be made: %s", printable(s.creds.redact(answer.Message), 200))
	}
	if err = classifyNetError(err); isOurs(err) || errors.Is(err, errIdle) {
		return err
	}
	return errors.New(printable(s.creds.redact(err.Error()), 300))
}

// isOurs reports whether an error is one of this package.
func isOurs(err error) bool {
	return concernsStore(err) || isOneOf(err, ErrNotExist, ErrDenied, ErrChanged, ErrTooLarge, errShort, errNoUpload, errRange)
}

// concernsStore reports whether an error concerns the whole store, or the connection to it, rather than one object.
func concernsStore(err error) bool {
	_, isProxy := errors.AsType[*proxyError](err)
	return isProxy || isOneOf(err, ErrCredentials, ErrNoBucket, errRefused, errClock, errRedirect, errTLS, errOtherHost, errExpired, errNoTLS, errOnlyTLS)
}

// isOneOf reports whether an error is of one of these kinds.
func isOneOf(err error, kinds ...error) bool {
	return slices.ContainsFunc(kinds, func(kind error) bool { return errors.Is(err, kind) })
}

// classifyNetError returns the error of this package for an error of the network. It returns an unknown error without
// its URL.
func classifyNetError(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	invalid, isInvalid := errors.AsType[x509.CertificateInvalidError](err)
	certificate, isCertificate := errors.AsType[*tls.CertificateVerificationError](err)
	syntax, isSyntax := errors.AsType[*xml.SyntaxError](err)
	_, isRecord := errors.AsType[tls.RecordHeaderError](err)
	op, isOp := errors.AsType[*net.OpError](err)
	switch {
	case isOp && op.Op == "proxyconnect":
		return &proxyError{"cannot be reached (" + op.Err.Error() + ")", false}
	case errors.As(err, new(x509.HostnameError)):
		return errOtherHost
	case isInvalid && invalid.Reason == x509.Expired:
		return errExpired
	case isCertificate && certificate != nil, errors.As(err, new(x509.UnknownAuthorityError)):
		return errTLS
	case isRecord, strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		return errNoTLS
	case strings.Contains(err.Error(), `malformed HTTP response "\x15\x03`): // a TLS alert
		return errOnlyTLS
	case isSyntax && syntax != nil, errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF), strings.HasPrefix(err.Error(), "Connection closed by foreign host"):
		return errShort
	case errors.Is(err, errIdle), errors.Is(err, context.DeadlineExceeded):
		return errIdle
	}
	return err
}

// printable returns a text of a store with at most most characters, without unprintable ones. A truncated text ends in
// "…".
func printable(text string, most int) string {
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most]) + "…"
	}
	return text
}

// A configError is an error in the environment or in the shared files.
type configError struct{ err error }

func (e *configError) Error() string { return e.err.Error() }
func (e *configError) Unwrap() error { return e.err }

// An outage is an error after all attempts failed.
type outage struct {
	error

	answered bool // the store answered, with errors
}

func (e *outage) Unwrap() error { return e.error }

// IsTemporary reports whether an error of the network, the store or a service persisted through all retries, but may go
// away later.
func IsTemporary(err error) bool {
	_, isOutage := errors.AsType[*outage](err)
	return isOutage
}

// IsDown reports whether an error concerns the whole store: it cannot be reached, or rejects all requests. The state of
// the object is then unknown.
func IsDown(err error) bool {
	o, isOutage := errors.AsType[*outage](err)
	_, isConfig := errors.AsType[*configError](err)
	return isOutage && !o.answered || isConfig || concernsStore(err)
}

// passing are the error codes of temporary errors.
var passing = map[string]bool{
	"SlowDown": true, "SlowDownRead": true, "SlowDownWrite": true, "InternalError": true, "ServiceUnavailable": true, "RequestTimeout": true,
	"Throttling": true, "ThrottlingException": true, "RequestLimitExceeded": true, "RequestThrottled": true, "BadDigest": true, "OperationAborted": true,
	"IncompleteBody": true, "Busy": true,
}

// isPassing reports whether an error may be temporary, so that the request is repeated.
func isPassing(err error) bool {
	if answer, ok := errors.AsType[minio.ErrorResponse](err); ok {
		code := answer.StatusCode
		return passing[answer.Code] || code == http.StatusRequestTimeout || code == http.StatusTooManyRequests ||
			code >= 500 && code != http.StatusNotImplemented && code != http.StatusHTTPVersionNotSupported
	}
	b := classifyNetError(err)
	proxy, isProxy := errors.AsType[*proxyError](b)
	switch {
	case isProxy:
		return !proxy.lasts
	case isOurs(b):
		return errors.Is(b, errShort)
	}
	return !errors.Is(err, context.Canceled)
}
