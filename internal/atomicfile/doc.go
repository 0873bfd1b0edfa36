// Package atomicfile writes outputs that appear under their final name only when they are complete and on disk.
//
// A [File] is written under a temporary name beside the final one, and renamed at the end: .x.csv.<process>-0.tmp
// becomes x.csv. A [Dir] is a directory that is written in the same way. A [Temp] never has a name. Until the
// rename, an existing file or directory with the final name is unchanged, whatever happens: an error, a signal, a
// full disk or a crash. After an error nothing is left. After SIGKILL or a power failure, the temporary file is
// left.
//
// If the name exists and is not a regular file, such as a named pipe or /dev/null, it is written directly; "-"
// means standard output. If the name refers to a descriptor of the process, such as /dev/stderr or /dev/fd/3, the
// output is written through that descriptor. Symbolic links stay, and the file that they lead to is replaced.
//
// A file is synced before it is renamed, and its directory after that. So a power failure leaves either the old or
// the new file, and after Commit has returned, the new one. All calls that change names go through a [System], so
// that tests can end the process at each of them.
//
// The package hides names, links, renaming and syncing. It does not depend on the content. All packages that write
// files may import it; it imports no package of this module.
//
// Each decision that may change is made in one place: open interprets a name, rename gives a file its final name,
// and Dir.replace handles an existing directory with the name.
package atomicfile
