// Package s3 reads, writes and lists objects of a store that speaks the protocol of Amazon S3. Their
// names are s3://bucket/key; a key is taken byte by byte as it is written.
//
// The package hides the client library, credentials, attempts, ranges and parts. It makes no
// connection before it is asked for a name. Packages use it by internal/place.
//
// An [Object] is read by ranges. A read that breaks off goes on at the byte where it ended, with the
// ETag of the object as its condition. A process reads one version of each object: one that has
// another ETag than before, since [Stat] or [Open] saw it first, is an [ErrChanged], until it is
// written or removed by this process, or given to [Forget].
//
// An [Upload] is visible when it is complete, and all of it. It is written in parts of PartSize
// bytes, MaxParts of them at most.
//
// Errors of the store are texts of this package: which of them it was, and what can be done. No
// text has a credential, a URL, or bytes that the store could not have known.
package s3
