package atomicfile

import (
	"cmp"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
)

// Descriptor returns the descriptor of this process that a name refers to, directly or through links: 1 for
// /dev/stdout, 3 for /dev/fd/3 and /proc/self/fd/3. It returns -1 for other names. It does not check whether the
// descriptor is open.
func Descriptor(name string) int {
	path := name
	for range maxLinks {
		dir, base := filepath.Split(path)
		dir, err := filepath.EvalSymlinks(cmp.Or(dir, "."))
		if err != nil {
			return -1
		}
		if abs, err := filepath.Abs(dir); err == nil {
			m := processDescriptors.FindStringSubmatch(abs)
			if abs == "/dev/fd" || m != nil && m[1] == strconv.Itoa(os.Getpid()) {
				fd, err := strconv.ParseUint(base, 10, 31)
				if err != nil {
					return -1
				}
				return int(fd)
			}
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

// Offset returns the number of bytes in the target before the output, if a regular file is written through its
// descriptor, for example with f >> x. Otherwise, or if it is unknown, it is 0. Call it before the first Write.
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
