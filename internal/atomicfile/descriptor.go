package atomicfile

import (
	"cmp"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
)

// Descriptor returns the descriptor of this process that a name stands for, by way of links or not: 1 for /dev/stdout,
// 3 for /dev/fd/3 and /proc/self/fd/3; -1 for another name. It does not check whether that is open.
func Descriptor(name string) int {
	path := name
	for range maxLinks {
		dir, base := filepath.Split(path)
		dir, err := filepath.EvalSymlinks(cmp.Or(dir, "."))
		if err != nil {
			return -1
		}
		if abs, err := filepath.Abs(dir); err == nil && hasDescriptors(abs) {
			fd, err := strconv.ParseUint(base, 10, 31)
			if err != nil {
				return -1
			}
			return int(fd)
		}
		target, err := os.Readlink(filepath.Join(dir, base))
		if err != nil {
			return -1
		}
		if path = target; !filepath.IsAbs(path) {
			path = dir + string(filepath.Separator) + target
		}
	}
	return -1
}

// processDescriptors is the directory of the descriptors of a process, or of one of its threads.
var processDescriptors = regexp.MustCompile(`^/proc/(\d+)(/task/\d+)?/fd$`)

// hasDescriptors reports whether the names in a directory are the descriptors of this process.
func hasDescriptors(dir string) bool {
	if dir == "/dev/fd" {
		return true
	}
	m := processDescriptors.FindStringSubmatch(dir)
	return m != nil && m[1] == strconv.Itoa(os.Getpid())
}

// Offset returns how many bytes come before the output in its target: bytes of a regular
// file that is written by its descriptor, as in f >> x. It is 0 for all else.
func (f *File) Offset() int64 {
	file := f.file
	if f.name == Stdout {
		file, _ = f.w.(*os.File)
	}
	if file == nil || f.temp != "" {
		return 0
	}
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	if appends(file) {
		return info.Size()
	}
	at, err := file.Seek(0, io.SeekCurrent)
	if err != nil {
		return 0
	}
	return at
}
