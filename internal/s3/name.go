package s3

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/minio/minio-go/v7/pkg/s3utils"
)

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
		return o, errors.New("names no bucket: write s3://bucket/key")
	case strings.ContainsAny(o.bucket, "*?["):
		return o, errors.New("has a wildcard in the name of the bucket: name one bucket")
	case s3utils.CheckValidBucketName(o.bucket) != nil:
		return o, errors.New("the name of the bucket is none: it has 3 to 63 small letters, digits, dots and hyphens")
	case !utf8.ValidString(o.key):
		return o, errors.New("the key is not UTF-8, as keys of objects are")
	case strings.Contains(o.key, "\x00"):
		return o, errors.New("the key has a byte 0")
	case len(o.key) > maxKey:
		return o, fmt.Errorf("the key has %d bytes, and %d are the most: %w", len(o.key), maxKey, syscall.ENAMETOOLONG)
	}
	return o, nil
}

// splitKey is split for the name of one object.
func splitKey(name string) (object, error) {
	o, err := split(name)
	if err == nil && o.key == "" {
		err = errors.New("names a bucket, and no object in it: write s3://bucket/key")
	}
	return o, err
}
