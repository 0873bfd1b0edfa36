package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// An entry is a file or directory of a package. Names have slashes and no leading one; the name of a
// directory ends with a slash.
type entry struct {
	name  string
	mode  fs.FileMode // permissions, perhaps with [fs.ModeSticky]
	body  []byte
	owner int // user and group by number
}

// isDir reports whether the entry is a directory.
func (e *entry) isDir() bool { return strings.HasSuffix(e.name, "/") }

// withParents returns the entries in order, and before each the directories that it lies in.
func withParents(entries []entry) []entry {
	known := map[string]bool{}
	for i := range entries {
		known[entries[i].name] = true
	}
	all := slices.Clone(entries)
	for i := range entries {
		dir := path.Dir(strings.TrimSuffix(entries[i].name, "/"))
		for ; dir != "." && !known[dir+"/"]; dir = path.Dir(dir) {
			known[dir+"/"] = true
			all = append(all, entry{name: dir + "/", mode: 0o755})
		}
	}
	slices.SortFunc(all, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	return all
}

// tarOf returns a tar of the entries in their order.
func tarOf(entries []entry, at time.Time) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for i := range entries {
		e := &entries[i]
		h := &tar.Header{
			Name: e.name, Mode: int64(e.mode.Perm()), Size: int64(len(e.body)), ModTime: at,
			Typeflag: tar.TypeReg, Uid: e.owner, Gid: e.owner, Format: tar.FormatGNU,
		}
		if e.owner == 0 {
			h.Uname, h.Gname = "root", "root"
		}
		if e.mode&fs.ModeSticky != 0 {
			h.Mode |= 0o1000
		}
		if e.isDir() {
			h.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(e.body); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

// gzipped returns the bytes as gzip without a name or a time.
func gzipped(body []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(body); err != nil {
		return nil, err
	}
	err = w.Close()
	return b.Bytes(), err
}

// zipOf returns a zip of the entries in their order, with the permissions of Unix.
func zipOf(entries []entry, at time.Time) ([]byte, error) {
	if first := time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC); at.Before(first) {
		at = first // zip knows none before
	}
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := range entries {
		e := &entries[i]
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate}
		h.SetModTime(at) //nolint:staticcheck // Modified adds a field that depends on the time zone
		h.SetMode(e.mode)
		f, err := w.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := f.Write(e.body); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}
