// Package s3 reads, writes and lists objects in object storage with the protocol of Amazon S3. Their names are
// s3://bucket/key; a key is used exactly as written.
//
// The package hides the client library, credentials, retries, ranges and parts. It makes no connection before a name
// is used. Only package storage imports it.
//
// An [Object] is read by ranges. An interrupted read continues at the byte where it stopped, on condition that the
// ETag is the same. A process reads only one version of each object. If the ETag differs from the one that [Stat]
// or [Open] saw first, the error is [ErrChanged], until this process writes or removes the object or calls
// [Forget].
//
// An [Upload] becomes visible as a whole when it is complete. It is written in parts of PartSize bytes, at most
// MaxParts of them.
//
// Error messages of the store are replaced by texts of this package, with the kind of error and a remedy. No text
// contains a credential or a URL.
//
// # Why so
//
//   - An object behaves like a file. internal/s3 hides that reads are interrupted and are slow to begin. An open
//     object is read by ranges that grow from 256 KiB to 64 MiB, so that the first bytes are cheap and the whole
//     object takes few requests. A process reads one version of an object, by its ETag, so all of its reads see the
//     same bytes. Objects with zstd frames are not divided for parallel reading, because finding the frames would
//     read them twice.
//   - The name of an upload is fixed from the start, so after a fault nothing can be kept under a partial name. A
//     part has 16 MiB, and two are in memory. The maximum of 10,000 parts is reached at 156 GiB: then the upload
//     fails, rather than leaving a truncated object. Each part is sent with its MD5. ETags are never treated as
//     MD5, because those of encrypted objects are not.
//   - minio-go v7 has all the needed functions, and not much else: with its 29 packages, the binary has 18.4 MB instead
//     of 15.2 (go build -trimpath -ldflags='-s -w'). Amazon's own library has several times as many packages. Retries,
//     ranges and parts are implemented here. With those of minio-go v7.4.1 (Object and PutObject), interrupted reads do
//     not continue, each ReadAt makes a request, and TestChanges, TestNoTags, TestAborts, TestFlaky and
//     TestLostCompletion fail. With its chain of credentials, TestConfig and TestRoles fail.
//   - Redirects are never followed.
//   - make objects tests against another implementation of the protocol, gofakes3, in the module e2e.
package s3
