package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/robobatch/robobatch/ingest"
	"github.com/robobatch/robobatch/internal/atomicfile"
	"github.com/robobatch/robobatch/output"
)

// The suffixes that a log's name loses: first those of packing, then those that say that it is a log.
var (
	packSuffixes = []string{".zst", ".zstd", ".gz", ".gzip"}
	logSuffixes  = []string{".urls", ".url", ".txt", ".log", ".list", ".lst", ".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".cdxj", ".warc"}
)

// defaultOut returns the name of the output for a log: its base name without its suffixes, plus ".verdicts" and the end of the format.
//
//	logs/urls.zst      urls.verdicts.parquet
//	a.urls.txt.gz      a.verdicts.parquet
//	access.log.1.gz    access.log.1.verdicts.parquet
//	-                  stdin.verdicts.parquet
func defaultOut(log string, format output.Format) string {
	base := filepath.Base(log)
	if log == stdName {
		base = "stdin"
	}
	return cutSuffixes(cutSuffixes(base, packSuffixes), logSuffixes) + ".verdicts" + format.String()
}

// cutSuffixes cuts the suffixes off, in any case and number, but leaves something.
func cutSuffixes(name string, suffixes []string) string {
	for {
		ext := filepath.Ext(name)
		if len(ext) == len(name) || !slices.Contains(suffixes, strings.ToLower(ext)) {
			return name
		}
		name = strings.TrimSuffix(name, ext)
	}
}

// checkTargets checks what will be written, so that a mistake shows before the work: that the directories are there,
// and that no file that is read would be overwritten.
func (p *plan) checkTargets(a args, inputs []ingest.Input) error {
	out, partial, rules := p.outName, p.outOpt.PartialName(p.outName), p.rules
	targets := []target{{"-out", out}}
	if out != stdName {
		targets = append(targets, target{"-out", partial})
	}
	tree := len(p.outOpt.Partition) > 0
	if a.stats != "" {
		targets = append(targets, target{"-stats", a.stats})
	}
	var errs []error
	if a.rejects != "" {
		for _, t := range targets {
			if sameFile(a.rejects, t.name) {
				errs = append(errs, fmt.Errorf("-rejects: %s is written by %s, too: name another file", display(a.rejects), t.flag))
			}
		}
		targets = append(targets, target{"-rejects", a.rejects})
	}
	if a.stats != "" && (a.stats == stdName && out == stdName || sameFile(a.stats, out)) {
		errs = append(errs, fmt.Errorf("-stats: %s is the output, too: name another file", display(out)))
	} else if a.stats != "" && out != stdName && sameFile(a.stats, partial) {
		errs = append(errs, fmt.Errorf("-stats: %s is where the rows before a fault are kept: name another file", display(a.stats)))
	}
	if tree {
		errs = append(errs, p.checkTree(a, inputs))
	}
	for i, t := range targets {
		if i != 1 && (i > 1 || !tree) { // the partial output lies where the output does
			errs = append(errs, t.checkDirectory())
		}
		errs = append(errs, t.checkRead(a.rules, inputs, rules))
	}
	return errors.Join(errs...)
}

// checkTree checks that the directory of the output may be replaced, and that nothing that is read or written lies in it.
func (p *plan) checkTree(a args, inputs []ingest.Input) error {
	var errs []error
	if err := p.outOpt.CheckTarget(p.outName); err != nil {
		for _, err := range parts(err) {
			errs = append(errs, &atomicfile.Error{Doing: "replace", Name: p.outName, Err: err})
		}
	}
	if info, err := os.Stat(filepath.Dir(p.outName)); err != nil || !info.IsDir() {
		errs = append(errs, &atomicfile.Error{Doing: "create", Name: p.outName, Err: atomicfile.ErrNoDirectory})
	}
	names := append(make([]string, 0, 3+len(inputs)), a.rules, a.stats, a.rejects)
	for _, in := range inputs {
		names = append(names, in.Name)
	}
	for _, tree := range []string{p.outName, p.outOpt.PartialName(p.outName)} {
		for _, name := range names {
			if name != "" && name != stdName && strings.HasPrefix(resolve(name), resolve(tree)+string(filepath.Separator)) {
				errs = append(errs, fmt.Errorf("-out: %s lies in %s, which would be replaced: name another directory", display(name), display(tree)))
			}
		}
	}
	return errors.Join(errs...)
}

// treeName returns the name of a partitioned output: as asked for, without slashes at its end, or, where none is, the default without its end.
func treeName(asked, byDefault string, f output.Format) string {
	if asked != "" {
		return filepath.Clean(asked)
	}
	return strings.TrimSuffix(byDefault, f.String())
}

// A target is a file to be written.
type target struct{ flag, name string }

// overwrites is the error of a target that is the file of that name.
func (t target) overwrites(name string) error {
	return fmt.Errorf("%s: %s is read, and would be overwritten: name another file", t.flag, display(name))
}

// checkRead checks that the target is none of the files that are read: the one that -rules names, the logs, and the files
// of rules, which may be nil.
func (t target) checkRead(path string, inputs []ingest.Input, rules *ingest.RuleFiles) error {
	var errs []error
	if sameFile(t.name, path) || rules != nil && rules.Reads(resolve(t.name)) {
		errs = append(errs, t.overwrites(t.name))
	}
	for _, in := range inputs {
		if sameFile(t.name, in.Name) {
			errs = append(errs, t.overwrites(in.Name))
		}
	}
	return errors.Join(errs...)
}

// checkDirectory checks that the directory of the target is there, and that the target is none itself.
func (t target) checkDirectory() error {
	if t.name == stdName {
		return nil
	}
	if info, err := os.Stat(t.name); err == nil && info.IsDir() {
		return fmt.Errorf("%s: %s is a directory: name a file in it", t.flag, display(t.name))
	}
	if info, err := os.Stat(filepath.Dir(t.name)); err != nil || !info.IsDir() {
		return &atomicfile.Error{Doing: "create", Name: t.name, Err: atomicfile.ErrNoDirectory}
	}
	return nil
}

// sameFile reports whether two names lead to one regular file, whether it exists or not.
func sameFile(a, b string) bool {
	if a == stdName || b == stdName {
		return false
	}
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	if errA == nil && errB == nil {
		return infoA.Mode().IsRegular() && os.SameFile(infoA, infoB)
	}
	return errA != nil && errB != nil && resolve(a) == resolve(b)
}

// resolve returns the absolute path of what a name leads to through symbolic links.
func resolve(name string) string {
	path := atomicfile.Resolve(name)
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// display returns a name as messages show it: quoted if it has bytes that a terminal might obey.
func display(name string) string {
	if name == stdName {
		return "standard output"
	}
	if quoted := strconv.Quote(name); quoted != `"`+name+`"` {
		return quoted
	}
	return name
}
