package guard

import "github.com/robobatch/robobatch/internal/atomicfile"

// A File is the file of a sink, which may be dropped while it is written.
type File struct{ *Sink[*atomicfile.File] }

// use calls do with the file, unless that was dropped.
func (l File) use(do func(f *atomicfile.File) (int, error)) (n int, err error) {
	err = l.Use(func(f *atomicfile.File) (err error) {
		n, err = do(f)
		return err
	})
	return n, err
}

// Write appends bytes.
func (l File) Write(b []byte) (int, error) {
	return l.use(func(f *atomicfile.File) (int, error) { return f.Write(b) })
}

// WriteAt overwrites bytes.
func (l File) WriteAt(b []byte, off int64) (int, error) {
	return l.use(func(f *atomicfile.File) (int, error) { return f.WriteAt(b, off) })
}

// ReadAt reads back.
func (l File) ReadAt(b []byte, off int64) (int, error) {
	return l.use(func(f *atomicfile.File) (int, error) { return f.ReadAt(b, off) })
}
