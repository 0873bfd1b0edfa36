package atomicfile

import (
	"cmp"
	"os"
	"path/filepath"
)

// maxLinks is how many links to links are followed; more is a circle.
const maxLinks = 40

// Resolve returns the name that a name leads to through symbolic links, which need not exist. For a circle
// it returns the name.
func Resolve(name string) string {
	path := name
	for range maxLinks {
		if target, err := filepath.EvalSymlinks(path); err == nil {
			return target
		}
		dir, base := filepath.Split(path) // not Dir, which removes the .. behind a possible link
		dir, err := filepath.EvalSymlinks(cmp.Or(dir, "."))
		if err != nil {
			return path
		}
		path = filepath.Join(dir, base)
		target, err := os.Readlink(path)
		if err != nil {
			return path
		}
		if path = target; !filepath.IsAbs(path) {
			path = dir + string(filepath.Separator) + target // uncleaned: the parent of a link's target is not the link's
		}
	}
	return name
}
