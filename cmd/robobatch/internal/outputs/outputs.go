// Package outputs has the outputs of a run: their names, which must not overwrite an input, the sink of the verdicts and
// of rejected lines, the requirements that a completed run must meet, and errors that say where the rows before a fault
// are. Only cmd/robobatch and its packages import it.
package outputs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/console"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/msg"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/warning"
	"github.com/robobatch/robobatch/ingest"
	"github.com/robobatch/robobatch/ingest/logfiles"
	"github.com/robobatch/robobatch/ingest/rulefiles"
	"github.com/robobatch/robobatch/ingest/sitemapfiles"
	"github.com/robobatch/robobatch/internal/atomicfile"
	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/internal/fieldtext"
	"github.com/robobatch/robobatch/internal/storage"
	"github.com/robobatch/robobatch/output"
	"github.com/robobatch/robobatch/output/parquet"
)

// ForLog returns the name of the output for a log: its base name without its suffixes, plus ".verdicts" and the
// extension of the format.
//
//	logs/urls.zst      urls.verdicts.parquet
//	a.urls.txt.gz      a.verdicts.parquet
//	access.log.1.gz    access.log.1.verdicts.parquet
//	-                  stdin.verdicts.parquet
func ForLog(log string, format output.Format) string {
	base := filepath.Base(log)
	if log == msg.Std {
		base = "stdin"
	}
	return logfiles.Stem(base) + ".verdicts" + format.String()
}

// ForReport returns the name of the report on a log: its base name without its suffixes, plus ".report.html".
func ForReport(log string) string {
	return strings.TrimSuffix(ForLog(log, output.Parquet), ".verdicts.parquet") + ".report.html"
}

// ForRules returns the name of the listing of rules: their base name without suffixes, plus ".rules.parquet";
// "robots.rules.parquet" if the rules are the working directory or the root.
func ForRules(rules string) string {
	base := filepath.Base(filepath.Clean(rules))
	if base == "." || base == ".." || base == string(filepath.Separator) {
		base = "robots"
	}
	return logfiles.CutEnd(logfiles.Unpacked(base), ".warc", ".jsonl", ".txt") + ".rules.parquet"
}

// PackSuffix is the file name extension of a rule pack.
const PackSuffix = ".rbp"

// ForPack returns the name of the pack of rules: their base name with another suffix.
func ForPack(rules string) string {
	return strings.TrimSuffix(ForRules(rules), ".rules.parquet") + PackSuffix
}

// ForTree returns the name of a partitioned output: as given, without slashes at the end, or otherwise the default
// without its extension.
func ForTree(asked, byDefault string, f output.Format) string {
	if asked != "" {
		return filepath.Clean(asked)
	}
	return strings.TrimSuffix(byDefault, f.String())
}

// StandardName returns "-" for names of standard output such as /dev/stdout, and other names unchanged.
func StandardName(name string) string {
	if atomicfile.Descriptor(name) == 1 {
		return msg.Std
	}
	return name
}

// IsDir reports whether a name marks a directory: it ends in / or another path separator of the system.
func IsDir(name string) bool { return name != "" && os.IsPathSeparator(name[len(name)-1]) }

// IsTerminal reports whether an output of that name is a terminal. stdout is the output named "-".
func IsTerminal(name string, stdout *os.File) bool {
	if name == msg.Std {
		return console.IsTerminal(stdout)
	}
	info, err := os.Stat(name)
	if err != nil || info.Mode()&os.ModeCharDevice == 0 { // others may block when opened
		return false
	}
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return false
	}
	is := console.IsTerminal(f)
	return f.Close() == nil && is
}

// Outputs holds the names of the files that a run writes; "" means that there is no such file.
type Outputs struct {
	Out, Stats, Rejects string
	Options             *output.Options // options of Out
}

// Inputs are the names of the files that a run reads.
type Inputs struct {
	Path  string // value of -rules
	Logs  []ingest.Input
	Rules *rulefiles.Files // nil if not found

	Sitemaps *sitemapfiles.Sitemaps // nil if there are none
}

// Check returns all reasons why the outputs cannot be written: their directories must exist, no output may overwrite
// an input or another output, and no input or other output may be in the directory of a partitioned output. Call it
// before the run starts. w.Options must not be nil.
func Check(w Outputs, r Inputs) error {
	partial, tree := w.Options.PartialName(w.Out), len(w.Options.Partition) > 0
	targets := []target{{"-out", w.Out}}
	if w.Out != msg.Std {
		targets = append(targets, target{"-out", partial})
	}
	if w.Stats != "" {
		targets = append(targets, target{"-stats", w.Stats})
	}
	var errs []error
	if w.Rejects != "" {
		for _, t := range targets {
			if sameFile(w.Rejects, t.name) || w.Rejects == msg.Std && t.name == msg.Std {
				errs = append(errs, fmt.Errorf("-rejects: %s is also written by %s: name another file", msg.File(w.Rejects), t.flag))
			}
		}
		targets = append(targets, target{"-rejects", w.Rejects})
	}
	if w.Stats != "" && (w.Stats == msg.Std && w.Out == msg.Std || sameFile(w.Stats, w.Out)) {
		errs = append(errs, fmt.Errorf("-stats: %s is also the output: name another file", msg.File(w.Out)))
	} else if w.Stats != "" && w.Out != msg.Std && sameFile(w.Stats, partial) {
		errs = append(errs, fmt.Errorf("-stats: %s is reserved for the rows before a fault: name another file", msg.File(w.Stats)))
	}
	if tree {
		// The output directory may be replaced, and no input or other output is in it.
		doing := map[output.PartitionMode]string{
			output.PartitionNew: "create", output.PartitionReplace: "replace", output.PartitionByParts: "write into", output.PartitionAppend: "write into",
		}[w.Options.Mode]
		for _, err := range cli.Parts(w.Options.CheckTarget(w.Out)) {
			errs = append(errs, &atomicfile.Error{Doing: doing, Name: w.Out, Err: err})
		}
		errs = append(errs, checkParent(w.Out))
		names := append(make([]string, 0, 3+len(r.Logs)), r.Path, w.Stats, w.Rejects)
		for _, in := range r.Logs {
			names = append(names, in.File())
		}
		for _, t := range []target{{"-out", w.Out}, {"-out", partial}} {
			dir := resolve(t.name)
			for _, name := range names {
				if name != "" && name != msg.Std && isWithin(dir, resolve(name)) {
					errs = append(errs, t.errInside(name))
				}
			}
		}
	}
	for i, t := range targets {
		if i != 1 && (i > 1 || !tree) { // the partial output is in the same directory
			errs = append(errs, t.checkDirectory())
		}
		errs = append(errs, t.checkRead(r))
	}
	return errors.Join(errs...)
}

// checkParent returns an error if the parent directory of an output does not exist or, for an object, if the program
// cannot write to the storage.
func checkParent(name string) error {
	if storage.IsRemote(name) {
		return storage.Probe(name)
	}
	if info, err := os.Stat(filepath.Dir(name)); err != nil || !info.IsDir() {
		return &atomicfile.Error{Doing: "create", Name: name, Err: atomicfile.ErrNoDirectory}
	}
	return nil
}

// CheckLocal checks that the file of a flag is in the file system.
func CheckLocal(flag, name string) error {
	if storage.IsRemote(name) {
		return fmt.Errorf("%s: %s is in object storage, but this output must be a file: name a file, and copy it there", flag, msg.File(name))
	}
	return nil
}

// CheckPage checks a file like CheckFile, and returns an error if its extension is that of another format than HTML.
func CheckPage(flag, name string, r Inputs, others ...Other) (err error) {
	forms := []string{".pdf", ".csv", ".tsv", ".json", ".jsonl", ".parquet", ".arrow", ".arrows", ".txt", ".md", ".xml", ".docx", ".xlsx", ".zip"}
	if ext := filepath.Ext(name); slices.Contains(forms, strings.ToLower(ext)) {
		err = fmt.Errorf("%s: %s: the report is an HTML page: name it %s.html. A browser can print it as PDF", flag, msg.File(name), msg.File(strings.TrimSuffix(name, ext)))
	}
	return errors.Join(err, CheckFile(flag, name, r, others...))
}

// An Other is a file that a flag names.
type Other struct{ Flag, Name string }

// CheckFile checks an output file that a flag names: its directory must exist, and it must be neither an input nor
// one of the others. Others without a name are ignored.
func CheckFile(flag, name string, r Inputs, others ...Other) error {
	t := target{flag, name}
	errs := []error{t.checkDirectory(), t.checkRead(r)}
	for _, other := range others {
		if other.Name != "" && sameFile(name, other.Name) {
			errs = append(errs, fmt.Errorf("%s: %s is also the file of %s: name another file", flag, msg.File(name), other.Flag))
		}
	}
	return errors.Join(errs...)
}

// A target is an output file, with the flag that names it.
type target struct{ flag, name string }

// checkRead returns an error for each input that the target would overwrite.
func (t target) checkRead(r Inputs) error {
	var errs []error
	check := func(same bool, name string) {
		if same {
			errs = append(errs, fmt.Errorf("%s: %s is an input, and would be overwritten: name another file", t.flag, msg.File(name)))
		}
	}
	check(sameFile(t.name, r.Path) || r.Rules != nil && r.Rules.Reads(resolve(t.name)), t.name)
	for _, in := range r.Logs {
		check(sameFile(t.name, in.File()) || t.name == msg.Std && isStdout(in.Name), in.File())
	}
	if r.Sitemaps != nil {
		for _, name := range r.Sitemaps.Read {
			check(sameFile(t.name, name), name)
		}
	}
	return errors.Join(errs...)
}

// checkDirectory returns an error if the target is a directory, or if its parent directory does not exist.
func (t target) checkDirectory() error {
	if t.name == msg.Std {
		return nil
	}
	if info, err := os.Stat(t.name); err == nil && info.IsDir() {
		return fmt.Errorf("%s: %s is a directory: name a file in it", t.flag, msg.File(t.name))
	}
	return checkParent(t.name)
}

// sameFile reports whether two names refer to one regular file, or to one path at which there is no file yet. It is
// false for "-".
func sameFile(a, b string) bool {
	if a == msg.Std || b == msg.Std {
		return false
	}
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	if errA == nil && errB == nil {
		return infoA.Mode().IsRegular() && os.SameFile(infoA, infoB)
	}
	return errA != nil && errB != nil && resolve(a) == resolve(b)
}

// isStdout reports whether standard output is redirected to the regular file with that name.
func isStdout(name string) bool {
	out, err := os.Stdout.Stat()
	if err != nil || !out.Mode().IsRegular() || name == msg.Std {
		return false
	}
	info, err := os.Stat(name)
	return err == nil && os.SameFile(out, info)
}

// resolve returns the absolute path of a file after following symbolic links.
func resolve(name string) string {
	path := atomicfile.Resolve(name)
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// A Set holds the outputs of one run while they are renamed from temporary to final names, so that a later run can
// detect that only some were renamed. The zero value is empty.
type Set struct {
	end atomic.Pointer[func() error]
}

// Begin calls [atomicfile.NoteSet] for those names that are files.
func (s *Set) Begin(names ...string) error {
	end, err := atomicfile.NoteSet(slices.DeleteFunc(names, storage.IsRemote)...)
	if err == nil {
		s.end.Store(&end)
	}
	return err
}

// End removes the notes that Begin wrote next to the outputs. Only the first call has an effect; any goroutine may
// call it.
func (s *Set) End() error {
	if end := s.end.Swap(nil); end != nil {
		return (*end)()
	}
	return nil
}

// WarnMixed returns a warning if an earlier run was killed after it had renamed only some of its outputs, and left
// notes about that next to these outputs. It returns at most one warning. It ignores empty names, objects, and
// outputs that are written in place.
func WarnMixed(names ...string) (all []warning.Warning) {
	var dirs []string
	for _, name := range names {
		if name != "" && !storage.IsRemote(name) && !atomicfile.InPlace(name) {
			dirs = append(dirs, filepath.Dir(resolve(name)))
		}
	}
	slices.Sort(dirs)
	for _, m := range atomicfile.MixedSets(slices.Compact(dirs)...) {
		text := "an earlier run was killed while it renamed its outputs: " + MixtureText(m) + ": do not combine them until a run has replaced them"
		all = append(all, warning.Warning{Code: warning.MixedOutputs, Text: text, Count: int64(len(m.New) + len(m.Old))})
	}
	return all[:min(len(all), 1)]
}

// RelativePath returns a path relative to the working directory, if it is below it; otherwise, the path itself.
func RelativePath(path string) string {
	if here, err := os.Getwd(); err == nil {
		if rel, err := filepath.Rel(here, path); err == nil && filepath.IsLocal(rel) {
			return rel
		}
	}
	return path
}

// MixtureText says which outputs of a Set come from which run.
func MixtureText(m atomicfile.MixedSet) string {
	list := func(paths []string) string {
		shown := make([]string, len(paths))
		for i, path := range paths {
			shown[i] = msg.File(RelativePath(path))
		}
		return strings.Join(shown, ", ")
	}
	return list(m.New) + " from that run, " + list(m.Old) + " from the previous run, or missing"
}

// Leftovers returns a hint about temporary files left by killed runs with these outputs; "" if there are none. It
// ignores empty names.
func Leftovers(names ...string) string {
	var left []string
	for _, name := range names {
		if name != "" {
			left = append(left, atomicfile.Leftovers(name)...)
		}
	}
	if len(left) == 0 {
		return ""
	}
	const most = 3
	shown := make([]string, 0, most)
	for _, name := range left[:min(len(left), most)] {
		shown = append(shown, msg.File(name))
	}
	text := strings.Join(shown, " ")
	if n := len(left) - most; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return "an earlier run was killed and left temporary files. Unless another machine or container is writing to them, remove " + text
}

// CheckSeries checks the directories Out and Rejects of a run with one output per input: they must not contain an
// input or be in one, and it must be possible to create them.
func CheckSeries(w Outputs, rules string, files *logfiles.List) error {
	var errs []error
	for _, t := range []target{{"-out", w.Out}, {"-rejects", w.Rejects}} {
		if t.name != "" {
			errs = append(errs, t.checkSeriesDir(rules, files))
		}
	}
	if w.Rejects != "" && (resolve(w.Rejects) == resolve(w.Out) || isWithin(resolve(w.Out), resolve(w.Rejects))) {
		errs = append(errs, fmt.Errorf("-rejects: %s is also written by -out: name another directory", msg.File(w.Rejects)))
	}
	if w.Stats != "" {
		t := target{"-stats", w.Stats}
		errs = append(errs, t.checkDirectory(), t.checkRead(Inputs{Path: rules}))
	}
	return errors.Join(errs...)
}

// checkSeriesDir checks a directory in which a run writes a file per input. It returns all faults, but only the first
// input in the directory. rules and files are the inputs.
func (t target) checkSeriesDir(rules string, files *logfiles.List) error {
	dir := storage.Clean(t.name)
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return fmt.Errorf("%s: %s is a file: name a directory, or leave out the / at its end", t.flag, msg.File(dir))
	}
	probe := dir
	if storage.IsRemote(dir) {
		probe = storage.Join(dir, "_SUCCESS")
	}
	errs := []error{checkParent(probe)}
	out := resolve(dir)
	for _, read := range files.Dirs {
		if in := resolve(read); in == out || isWithin(in, out) {
			errs = append(errs, fmt.Errorf("%s: %s is inside the input %s: name another directory", t.flag, msg.File(t.name), msg.File(read)))
		}
	}
	for _, read := range append([]string{rules}, files.Lists...) {
		if isWithin(out, resolve(read)) {
			errs = append(errs, t.errInside(read))
		}
	}
	given, err := filepath.Abs(dir)
	for i := range files.Files { // links are not followed, because there may be a million inputs
		if name, errName := filepath.Abs(files.Files[i].Name); err == nil && errName == nil && (isWithin(out, name) || isWithin(given, name)) {
			return errors.Join(append(errs, t.errInside(files.Files[i].Name))...)
		}
	}
	return errors.Join(errs...)
}

// errInside returns the error for an input in the directory.
func (t target) errInside(name string) error {
	return fmt.Errorf("%s: %s is inside %s, which this run writes: name another directory", t.flag, msg.File(name), msg.File(t.name))
}

// isWithin reports whether a path is below a directory. Both must be absolute.
func isWithin(dir, path string) bool {
	return strings.HasPrefix(path, strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator))
}

// JSONValue returns a cell as a value for encoding/json: nil for null; a time in UTC.
func JSONValue(t parquet.Type, c parquet.Cell) any {
	switch {
	case c.Null:
		return nil
	case t == parquet.Text, t == parquet.Dictionary:
		return fieldtext.Valid(c.Text)
	case t == parquet.Bool:
		return c.Int != 0
	case t == parquet.Time:
		return time.UnixMicro(c.Int).UTC()
	case t == parquet.Double:
		return c.Float
	}
	return c.Int
}
