// Package atomicfile writes outputs that appear under their name only when they are complete and on
// disk.
//
// A [File] is written under a temporary name beside its own, and renamed at the end:
// .x.csv.<process>-0.tmp becomes x.csv. A [Dir] is a whole directory that is written so. A [Temp]
// never has a name. Until the rename, a file or directory of the final name stays as it was,
// whatever happens: an error, a signal, a full disk or a crash. After an error nothing is left;
// after SIGKILL or a power failure the temporary file is.
//
// A name that exists and is not a regular file, such as a named pipe or /dev/null, is written in place, and "-" is
// standard output. A name of a descriptor of the process, such as /dev/stderr or /dev/fd/3, is written through that
// descriptor. Symbolic links stay: the file they lead to is replaced.
//
// A file is synced before it is renamed, and its directory after that, so that a power failure
// leaves the old or the new file, and after the end of Commit the new one. All calls that change
// names go through a [System], so that tests can end the process at each.
//
// The package hides names, links, renaming and syncing. It knows nothing of the content. All
// packages that write files may import it; it imports none of this module.
//
// There is one place for each decision that may change: open decides the meaning of a name, rename
// makes a file take its name, and Dir.replace decides the fate of the directory that has the
// name already.
package atomicfile
