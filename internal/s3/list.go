package s3

import (
	"errors"
	"strings"

	"github.com/minio/minio-go/v7"
)

// List calls found for each object whose name begins with a prefix, such as s3://bucket/logs/, in the
// order of the store, until found returns an error, which List returns. Objects whose keys end in a
// slash are left out: programs make such to show a directory.
func List(prefix string, found func(name string, info Info) error) error {
	s, err := one()
	if err != nil {
		return err
	}
	return s.list(prefix, found)
}

// errListing is the fault of a store that lists names it was not asked for.
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

// maxEmpty is how many pages without objects may come one after the other: stores that filter deleted
// objects have some.
const maxEmpty = 1000
