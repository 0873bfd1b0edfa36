package rulefiles

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/robobatch/robobatch/ingest/internal/capture"
	"github.com/robobatch/robobatch/ingest/internal/fault"
	"github.com/robobatch/robobatch/internal/storage"
)

// A ruleFile is a robots.txt or capture file, according to its name.
type ruleFile struct {
	claim
	name string // path as found, for messages
	path string // path without symbolic links; "" if the link is broken
	err  error  // why path is ""
	pipe *pipe  // content of a pipe; nil for a regular file
}

// A walker finds the rules files below a directory.
type walker struct {
	root    string          // without symbolic links
	visited map[string]bool // directories, without symbolic links
	files   []ruleFile
	skipped []string
	left    []string // the skipped files with the name of a robots.txt
	packs   []string // the skipped rule packs
	errs    []error  // directories that cannot be read
}

// walk finds the rules files below dir, and what it skips. It returns an error only if dir itself cannot be resolved
// or, in object storage, read; other errors are in the walker.
func walk(dir string) (*walker, error) {
	if storage.IsRemote(dir) {
		// Object storage has no links, and directories only as parts of names.
		w := &walker{}
		err := storage.Of(dir).Walk(dir, func(name string, _ storage.Info) error {
			base := ""
			if parent := filepath.Dir(storage.Rel(dir, name)); parent != "." {
				base = filepath.Base(parent)
			}
			w.addFile(ruleFile{name: name, path: name}, base)
			return nil
		})
		if err != nil {
			return nil, fault.OfFile(dir, err, "check the name and the permissions")
		}
		return w, nil
	}
	root, err := filepath.EvalSymlinks(dir)
	if err == nil {
		root, err = filepath.Abs(root)
	}
	if err != nil {
		return nil, fault.OfFile(dir, err, "check the name and the permissions")
	}
	w := &walker{root: root, visited: make(map[string]bool)}
	w.addDir(dir, root, "")
	return w, nil
}

// addDir adds the directory that was found as name. path is its path without links, and base the last part of its name.
//
// A directory with several links to it is walked once, so that loops end and the time is linear. If it is found again
// under another name, only the origin of its robots.txt can differ.
func (w *walker) addDir(name, path, base string) {
	if w.visited[path] {
		if info, err := os.Lstat(filepath.Join(path, "robots.txt")); err == nil {
			w.addEntry(name, path, base, fs.FileInfoToDirEntry(info))
		}
		return
	}
	w.visited[path] = true
	entries, err := os.ReadDir(path) // sorted
	if err != nil {
		w.errs = append(w.errs, fault.OfFile(name, err, ""))
	}
	for _, e := range entries {
		w.addEntry(name, path, base, e)
	}
}

// addEntry adds an entry of the directory that is given as in addDir: a file, a link, or everything below a directory.
// It skips hidden names.
func (w *walker) addEntry(name, path, base string, e fs.DirEntry) {
	name, path = filepath.Join(name, e.Name()), filepath.Join(path, e.Name())
	switch mode := e.Type(); {
	case strings.HasPrefix(e.Name(), "."):
		w.skip(name, errHidden)
	case mode.IsDir():
		w.addDir(name, path, e.Name())
	case mode&fs.ModeSymlink != 0:
		w.addLink(name, path, base, e.Name())
	case mode.IsRegular():
		w.addFile(ruleFile{name: name, path: path}, base)
	default:
		w.skipUnreadable(name, base, capture.ErrNotRegular)
	}
}

// addLink adds what a symbolic link leads to. name and path are those of the link; base is the name of its directory,
// and linkName its own.
func (w *walker) addLink(name, path, base, linkName string) {
	target, err := filepath.EvalSymlinks(path)
	if err != nil { // it may be meant as rules, so reading it returns the error
		w.addFile(ruleFile{name: name, err: err}, base)
		return
	}
	if target != w.root && !strings.HasPrefix(target, strings.TrimSuffix(w.root, string(filepath.Separator))+string(filepath.Separator)) {
		w.skipUnreadable(name, base, errLeadsOut)
		return
	}
	info, err := os.Stat(target)
	switch {
	case err != nil:
		w.addFile(ruleFile{name: name, err: err}, base)
	case info.IsDir() && strings.HasPrefix(path, target+string(filepath.Separator)):
		w.skip(name, errLoop)
	case info.IsDir():
		w.addDir(name, target, linkName)
	case info.Mode().IsRegular():
		w.addFile(ruleFile{name: name, path: target}, base)
	default:
		w.skipUnreadable(name, base, capture.ErrNotRegular)
	}
}

// addFile adds a file in a directory called base, or skips it if its name is not that of a rules file. A rule pack is
// skipped, too.
func (w *walker) addFile(f ruleFile, base string) {
	if strings.HasSuffix(f.name, packSuffix) {
		w.packs = append(w.packs, f.name)
		w.skip(f.name, errPackInside)
		return
	}
	var err error
	if f.claim, err = parseName(base, filepath.Base(f.name)); err != nil {
		w.skip(f.name, err)
		return
	}
	w.files = append(w.files, f)
}

// skipUnreadable skips a file in a directory called base that cannot be read. If it is named like rules, it is also in
// w.left.
func (w *walker) skipUnreadable(name, base string, err error) {
	w.skip(name, err)
	if _, errName := parseName(base, filepath.Base(name)); errName == nil {
		w.left = append(w.left, w.skipped[len(w.skipped)-1])
	}
}

func (w *walker) skip(name string, err error) {
	w.skipped = append(w.skipped, fmt.Sprintf("%s: %v", fault.Display(name), err))
}
