// Package s3 reads, writes and lists objects of a store that speaks the protocol of Amazon S3. Their names are
// s3://bucket/key; a key is used as written, byte for byte.
//
// The package hides the client library, credentials, attempts, ranges and parts. It makes no connection before a name
// is used. Packages use it by internal/place.
//
// An [Object] is read by ranges. A read that breaks off continues at the byte where it ended, with the
// ETag of the object as its condition. A process reads one version of each object: one that has
// another ETag than before, since [Stat] or [Open] saw it first, is an [ErrChanged], until it is
// written or removed by this process, or given to [Forget].
//
// An [Upload] is visible when it is complete, and all of it. It is written in parts of PartSize
// bytes, MaxParts of them at most.
//
// Errors of the store are texts of this package: which of them it was, and the remedy. No
// text has a credential, a URL, or bytes that the store could not have known.
//
// Only package place imports it.
//
// # Why so
//
//   - An object is a file whose place is far. internal/s3 hides that reading it breaks off, and
//     is slow to begin. An open object is read by ranges that grow from 256 KiB to 64 MiB, so
//     that the first bytes of a file cost little and all of it few requests. A process reads one
//     version of an object, by its ETag: the bytes looked at, recorded and read are the same
//     bytes. Files of zstd frames are not cut into pieces there, as finding the frames would
//     read them twice.
//   - An upload has its name from the start. So nothing can be kept under another one at a
//     fault. A part has 16 MiB, two are in memory, and 10,000 end at 156 GiB: one more is an
//     error, never the end of an object that is too short. Each part is sent with its MD5. No
//     ETag is treated as an MD5, as ETags of encrypted objects are none.
//   - minio-go v7 has all the needed parts, and not much else: 29 packages, and a binary of 18.4 MB in
//     place of 15.2 (go build -trimpath -ldflags='-s -w'). Amazon's own library takes several
//     times as many packages. We make attempts, ranges and parts ourselves: a trial of its own
//     (Object and PutObject of v7.4.1) continued after a break only by code around them, and
//     failed TestChanges, TestNoTags, TestAborts, TestFlaky and TestLostCompletion. An Object
//     makes a request for each ReadAt, one at a time. Its chain of credentials failed
//     TestConfig and TestRoles. Redirects are never followed. make objects runs against a store of other people, gofakes3, in the module e2e.
package s3
