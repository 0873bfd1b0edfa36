package ingest

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/robobatch/robobatch/ingest/internal/fault"
	"github.com/robobatch/robobatch/ingest/internal/unpack"
	"github.com/robobatch/robobatch/ingest/logfiles"
	"github.com/robobatch/robobatch/internal/storage"
)

// An Input is one log of a [Logs].
type Input struct {
	Name string // as found, "-" for standard input
	Size int64  // stored (packed) size in bytes; -1 while unknown, which for a pipe is until its end

	Format Format // format of the lines; Auto until a line was read
	Field  string // column of the URL, if it was found by its values and not by its name

	Taken, Other string // two URL columns with known names, the first is read; "" if there is only one

	Took *Took // the fields that are read, if fields have names; nil otherwise

	Headless bool // treated as a list of URLs, although the first lines look like a table without a header row

	archive string         // the zip archive that contains it; "" if none
	content unpack.Content // Parquet or WARC for a file that is not line-based, else Text
}

// resolveNames returns the inputs for names and patterns, in the order given. If a file with exactly the name of a
// pattern exists, it takes precedence over the files that match. All errors are reported at once, joined; then the
// inputs are of no use.
func resolveNames(names []string, stdin io.Reader) ([]Input, error) {
	var (
		inputs []Input
		errs   []error
		stdins int
	)
	for _, name := range names {
		if name == fault.Stdin {
			if stdins++; stdins == 2 {
				errs = append(errs, &NameError{Name: name, Err: errStdinTwice, Remedy: "name - once"})
			}
			inputs = append(inputs, Input{Name: name, Size: unpack.SizeOf(stdin)})
			continue
		}
		in, err := inspect(name)
		if !errors.Is(err, fs.ErrNotExist) || !logfiles.IsPattern(name) {
			inputs, errs = append(inputs, in), append(errs, err)
			continue
		}
		matches, err := logfiles.Match(name)
		errs = append(errs, err)
		for _, m := range matches {
			in, err := inspect(m)
			inputs, errs = append(inputs, in), append(errs, err)
		}
	}
	if len(names) == 0 {
		errs = append(errs, ErrNoInput)
	}
	return inputs, errors.Join(errs...)
}

// inspect returns the input for a name. It checks early, before rules are loaded, that the input can be read. It does
// not open pipes, because their writer would notice.
func inspect(name string) (Input, error) {
	p := storage.Of(name)
	info, err := p.Stat(name)
	switch {
	case err != nil:
		if archive, member, ok := unpack.SplitMember(name); ok {
			return inspectZip(name, archive, member)
		}
		return Input{}, fault.OfFile(name, err, "check the name and the permissions")
	case info.Dir:
		return Input{}, &NameError{Name: name, Err: errDirectory, Remedy: "name the logs in it, as in " + fault.Display(storage.Join(name, "*.zst"))}
	case info.Size < 0:
		return Input{Name: name, Size: -1}, nil
	}
	f, err := p.Open(name)
	if err != nil {
		return Input{}, fault.OfFile(name, err, "make it readable")
	}
	defer f.Close()
	is := unpack.DetectFile(name, f, info.Size)
	if is.Packing == unpack.Zip {
		return inspectZip(name, name, "")
	}
	return Input{Name: name, Size: info.Size, content: is.Content}, nil
}

// Window returns the largest window, in bytes, that the first zstd frames of the files need; 0 without zstd files.
// Files that cannot be read, or only once, are ignored here: they cause an error later.
func Window(names []string) (most int64) {
	for _, name := range names {
		if info, err := storage.Of(name).Stat(name); name != fault.Stdin && err == nil && !info.Dir && info.Size >= 0 {
			most = max(most, unpack.Window(unpack.Head(name)))
		}
	}
	return most
}

// inspectZip returns the input for a file in a zip archive. name is the name of the input. If member is "", the archive
// must have only one file.
func inspectZip(name, archive, member string) (Input, error) {
	in := Input{Name: name, archive: archive}
	f, err := storage.Of(archive).Open(archive)
	if err != nil {
		return in, fault.OfFile(archive, err, "make it readable")
	}
	defer f.Close()
	info, err := f.Info()
	if err != nil {
		return in, fault.OfFile(archive, err, "")
	}
	in.Size, err = unpack.ZipSize(f, info.Size, member)
	if several, ok := errors.AsType[*unpack.ZipError](err); ok {
		const most = 3
		var names []string
		for _, m := range several.Members[:min(len(several.Members), most)] {
			names = append(names, fault.Display(archive+"/"+m))
		}
		remedy := ""
		if len(names) > 0 {
			remedy = "name one of them: " + strings.Join(names, ", ")
		}
		if n := len(several.Members) - most; n > 0 {
			remedy += fmt.Sprintf(" and %d more", n)
		}
		return in, &NameError{Name: name, Err: err, Remedy: remedy}
	} else if err != nil && member != "" {
		return Input{}, fault.OfFile(name, fs.ErrNotExist, "check the name and the permissions")
	} else if err != nil {
		return in, &NameError{Name: name, Err: err, Remedy: "copy or download the file again"}
	}
	return in, nil
}

// File returns the name of the file that stores the log: the log itself, or the archive that contains it.
func (in *Input) File() string { return cmp.Or(in.archive, in.Name) }

// isFile reports whether an input is a named file that supports random access.
func (in *Input) isFile() bool { return in.Name != fault.Stdin && in.Size >= 0 }
