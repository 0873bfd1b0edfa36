package logfiles

import "github.com/robobatch/robobatch/internal/place"

// A Repeat is a file that is in a list more than once, by two of its names, which may be the same.
type Repeat struct{ First, Again string }

// member returns the facts that the ID of a file leaves open: which member of an archive it is, or which name it
// has where there is no ID.
func (f *File) member() string {
	switch {
	case f.id == (place.ID{}):
		return f.Name
	case f.archive == "":
		return ""
	}
	return f.Name[len(f.archive):]
}
