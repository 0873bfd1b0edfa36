// Package place is where names lead: it finds, opens and replaces files by name, and hides what
// keeps them. [Of] is the one door: what keeps names of another kind, such as a store of objects,
// becomes a [Place] of its own there, and lists of inputs, sidecars and the files of a run with one
// output per input need no change.
//
// Names are as users write them. The package knows nothing of what the files hold. All packages may
// import it.
package place

import "io"

// An Info is what a place knows of a name without reading what it leads to.
type Info struct {
	Size int64  // of the file in bytes; -1 if it is no regular file, so that it can be read only once
	Tag  string // names these very bytes, such as an ETag; "" if only the bytes themselves do
	Dir  bool   // it is a directory
}

// A Place keeps files by name. Its methods may be called from several goroutines.
type Place interface {
	// Stat returns what is known of a name. The error is an [io/fs.ErrNotExist] if it leads to
	// nothing.
	Stat(name string) (Info, error)

	// Walk calls found for each file below a directory, with the whole name, until found returns an
	// error, which Walk returns. Names that begin with a dot, and what is below them, are left out.
	// Directories that are links are not entered: they are found, as Dir.
	Walk(dir string, found func(name string, info Info) error) error

	// Open opens a file to be read from its beginning.
	Open(name string) (io.ReadCloser, error)

	// Write makes a small file, or replaces it. It appears whole, with the directories that it
	// needs, and is safe from a power failure when Write returns.
	Write(name string, text []byte) error

	// Remove removes a file. One that is not there is removed already.
	Remove(name string) error

	// Sweep removes what a process that was killed has left in a directory of files that it wrote,
	// where ours reports true for the name of the file. It must not be called while another process
	// writes such a file: that fails then.
	Sweep(dir string, ours func(name string) bool) error
}

// Of returns the place of a name.
func Of(string) Place { return Files{} }
