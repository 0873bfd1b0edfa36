package s3

import (
	"context"
	"io"
	"net/http"

	"github.com/minio/minio-go/v7"
)

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
