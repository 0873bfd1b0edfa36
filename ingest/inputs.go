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
	"github.com/robobatch/robobatch/internal/place"
)

// An Input is one log of a [Logs].
type Input struct {
	Name string // as found, "-" for standard input
	Size int64  // bytes as stored, packed; -1 as long as that is unknown, which for a pipe is until its end

	Format Format // of its lines; Auto as long as none was read
	Field  string // the column of the URL, if its values said so and not its name

	Taken, Other string // columns that both have a known name and URLs, the first is read; "" if there is one

	Took *Took // which fields are read, where they have names; nil else

	Headless bool // it was treated as a list of URLs, and its first lines look like a table without a header

	archive string         // the zip archive that it is in; "" if it is in none
	content unpack.Content // Parquet or WARC of a file that is not read by lines, else Text
}

// expand resolves names and patterns to inputs, in the order given; a pattern's inputs are sorted.
// All errors are reported at once.
func expand(names []string, stdin io.Reader) ([]Input, error) {
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
		found, err := expandName(name)
		if err != nil {
			errs = append(errs, err)
		}
		inputs = append(inputs, found...)
	}
	if len(names) == 0 {
		errs = append(errs, ErrNoInput)
	}
	return inputs, errors.Join(errs...)
}

// expandName resolves one name. A file of that very name comes before the files that it matches as
// a pattern.
func expandName(name string) ([]Input, error) {
	in, err := inspect(name)
	if !errors.Is(err, fs.ErrNotExist) || !logfiles.IsPattern(name) {
		return []Input{in}, err
	}
	matches, err := logfiles.Match(name)
	if err != nil {
		return nil, err
	}
	var (
		inputs []Input
		errs   []error
	)
	for _, m := range matches {
		in, err := inspect(m)
		inputs, errs = append(inputs, in), append(errs, err)
	}
	return inputs, errors.Join(errs...)
}

// inspect returns the input of a name and checks that it can be read, so that this is known before
// the rules are loaded. It does not open pipes: their writer would notice.
func inspect(name string) (Input, error) {
	p := place.Of(name)
	info, err := p.Stat(name)
	switch {
	case err != nil:
		if archive, member, ok := unpack.SplitMember(name); ok {
			return inspectZip(name, archive, member)
		}
		return Input{}, fault.OfFile(name, err, "check the name and the permissions")
	case info.Dir:
		return Input{}, &NameError{Name: name, Err: errDirectory, Remedy: "name the logs in it, as in " + fault.Display(place.Join(name, "*.zst"))}
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

// Window returns the largest window in bytes that the first zstd frames of files need, 0 if none is one. A file that
// cannot be read, or only once, counts as none: it is a fault later.
func Window(names []string) (most int64) {
	for _, name := range names {
		p := place.Of(name)
		if info, err := p.Stat(name); name == fault.Stdin || err != nil || info.Dir || info.Size < 0 {
			continue
		}
		f, err := p.Open(name)
		if err != nil {
			continue
		}
		head := make([]byte, unpack.HeadLen)
		n, _ := f.ReadAt(head, 0) // the bytes there count
		most = max(most, unpack.Window(head[:n]))
		f.Close()
	}
	return most
}

// inspectZip is inspect for a file in a zip archive, the only one if member is "".
func inspectZip(name, archive, member string) (Input, error) {
	in := Input{Name: name, archive: archive}
	f, err := place.Of(archive).Open(archive)
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
		return in, &NameError{Name: name, Err: err, Remedy: nameMember(archive, several.Members)}
	} else if err != nil && member != "" {
		return Input{}, fault.OfFile(name, fs.ErrNotExist, "check the name and the permissions")
	} else if err != nil {
		return in, &NameError{Name: name, Err: err, Remedy: "copy or download the file again"}
	}
	return in, nil
}

// nameMember returns the remedy of an archive with several files.
func nameMember(archive string, members []string) string {
	const most = 3
	if len(members) == 0 {
		return ""
	}
	var names []string
	for _, m := range members[:min(len(members), most)] {
		names = append(names, fault.Display(archive+"/"+m))
	}
	remedy := "name one of them: " + strings.Join(names, ", ")
	if n := len(members) - most; n > 0 {
		remedy += fmt.Sprintf(" and %d more", n)
	}
	return remedy
}

// File returns the name of the file that the log is read from: its own, or the archive's that
// it is in.
func (in *Input) File() string { return cmp.Or(in.archive, in.Name) }

// isFile reports whether an input is a file with a name that can be read at any position.
func (in *Input) isFile() bool { return in.Name != fault.Stdin && in.Size >= 0 }
