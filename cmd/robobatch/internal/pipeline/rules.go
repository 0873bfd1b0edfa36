package pipeline

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/console"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/memory"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/msg"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/outputs"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/warning"
	"github.com/robobatch/robobatch/conduct"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest/rulefiles"
	"github.com/robobatch/robobatch/internal/atomicfile"
	"github.com/robobatch/robobatch/internal/captures"
	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/internal/storage"
	"github.com/robobatch/robobatch/robots"
)

// Rules are the rules of a run, from files or a pack. The zero value is empty.
type Rules struct {
	*rulefiles.Files
	AcceptDamage bool           // for capture files, see [rulefiles.Files]; set it before Find
	Inspect      bool           // find files as [rulefiles.FindToInspect] does
	Flag         string         // flag that names them, for messages; "" is -rules
	Share        memory.Share   // their share of -max-memory, for messages
	Texts        *conduct.Texts // receives the texts of robots.txt files as they are read; a pack has none; nil if not needed

	noted []warning.Warning               // warnings in the pack, from when it was compiled
	temp  atomic.Pointer[atomicfile.Temp] // the pack compiled from files; nil if there is none
	read  atomic.Int64                    // number of files read
}

// Find finds the rules of a path, as [rulefiles.Find] does. origin is that of a single robots.txt; "" if unknown.
func (r *Rules) Find(path, origin string) (err error) {
	find := rulefiles.Find
	if r.Inspect {
		find = rulefiles.FindToInspect
	}
	if r.Files, err = find(path, origin); err == nil {
		r.Files.AcceptDamage = r.AcceptDamage
	}
	return err
}

// FindListed finds rules to list. For a single robots.txt, origin is the origin of that file. Otherwise origin
// selects the only origin to list, and FindListed returns it; "" means all.
func (r *Rules) FindListed(path, origin string, acceptDamage bool) (only robots.Origin, err error) {
	r.AcceptDamage = acceptDamage
	err = r.Find(path, origin)
	if errors.Is(err, rulefiles.ErrOriginDir) || errors.Is(err, rulefiles.ErrOriginFile) {
		if only, err = robots.ParseOrigin(origin); err != nil {
			return "", cli.Usage("-origin: %w: write it like https://www.example.com", err)
		}
		err = r.Find(path, "")
	}
	return only, err
}

// NoOrigin stands for the unknown origin of a single robots.txt if no flag names one.
const NoOrigin = "https://origin.invalid"

// ErrNotListed means that the rules have no robots.txt for the origin.
var ErrNotListed = errors.New("the rules have no robots.txt for it: check scheme, host and port")

// Store prepares the rules. It opens the pack, or compiles the files: into memory or, with a memory limit, into an
// unnamed pack in the directory dir. For a large pack, the caller sets opt.MaxMemory before. The caller must close
// the store before it closes the rules.
func (r *Rules) Store(ctx context.Context, opt engine.StoreOptions, dir string, c *console.Console) (store *engine.Store, err error) {
	if r.Pack() != "" {
		if store, err = engine.OpenPack(r.Pack(), opt); err == nil {
			err = r.ReadNotes(store)
		}
		return store, NamePack(r.Pack(), err)
	}
	if opt.MaxMemory <= 0 {
		defer r.Watch(c)()
		return engine.BuildStore(r.Responses(ctx), opt)
	}
	if _, size := r.Progress(); opt.MaxMemory < roomToCompile && size > opt.MaxMemory/4 {
		return nil, &LimitError{opt.MaxMemory, r.Share, size}
	}
	f, err := atomicfile.CreateTemp(dir, ".robobatch-*"+outputs.PackSuffix)
	if err != nil {
		return nil, &TempError{dir, err}
	}
	r.temp.Store(f)
	defer r.Watch(c)()
	packOpt := engine.PackOptions{Dialect: opt.Dialect, Workers: opt.Workers, TempDir: dir}
	if _, err := engine.WritePack(ctx, f, r.Responses(ctx), packOpt); atomicfile.IsFull(err) || errors.Is(err, syscall.EFBIG) {
		return nil, &TempError{dir, err}
	} else if err != nil {
		return nil, err
	}
	return engine.OpenPackFile(f.File, opt)
}

// NamePack converts an error about the dialect of a pack to a [*PackError]; it returns other errors unchanged.
func NamePack(name string, err error) error {
	if dialect, ok := errors.AsType[*engine.PackDialectError](err); ok {
		return &PackError{name, dialect}
	}
	return err
}

// A PackError means that a pack was compiled for a different dialect than requested.
type PackError struct {
	Name string
	Err  *engine.PackDialectError
}

// Error names the dialects by their flags, and the remedy.
func (e *PackError) Error() string {
	compiled, asked := dialectFlags(e.Err.Compiled, e.Err.Asked), dialectFlags(e.Err.Asked, e.Err.Compiled)
	return fmt.Sprintf("read the rule pack %s: it was compiled for %s, not for %s: use %[2]s, or compile it again with %[3]s",
		msg.File(e.Name), compiled, asked)
}

// dialectFlags returns the flags that select dialect d and its options, as far as they differ from those of other.
func dialectFlags(d, other robots.Dialect) string {
	var flags []string
	if d.String() != other.String() {
		flags = append(flags, "-dialect "+d.String())
	}
	for _, option := range []struct {
		flag    robots.Dialect
		on, off string
		yandex  bool
	}{
		{robots.WideTokens, "-agent-chars extended", "-agent-chars standard", false},
		{robots.EmptyAllowIgnored, "-yandex-empty-allow ignore", "-yandex-empty-allow disallow", true},
	} {
		switch {
		case d.Has(option.flag) == other.Has(option.flag), option.yandex && d.String() != robots.Yandex.String():
		case d.Has(option.flag):
			flags = append(flags, option.on)
		default:
			flags = append(flags, option.off)
		}
	}
	return strings.Join(flags, " ")
}

// Unwrap returns the error with the dialects.
func (e *PackError) Unwrap() error { return e.Err }

// roomToCompile is a memory limit that is enough to compile up to a million origins. With a lower limit, captures may
// have up to a quarter of the limit in bytes, because compiling keeps about 200 bytes per origin.
const roomToCompile = 256 << 20

// A LimitError means that captures are too large to be compiled within a memory limit.
type LimitError struct {
	Limit int64        // limit of these rules in bytes
	Share memory.Share // share of -max-memory that Limit is
	Size  int64        // size of the files in bytes
}

// Error returns the message, with the remedy.
func (e *LimitError) Error() string {
	return fmt.Sprintf("-max-memory: %s is too little to compile %s of captures: use %s, or compile them first with robobatch compile",
		e.Share.Text(e.Limit), memory.Text(e.Size), memory.Text(e.Share.Whole(roomToCompile)))
}

// A TempError means that the temporary pack could not be written.
type TempError struct {
	Dir string
	Err error
}

// Error describes the cause and the remedy. It does not name the temporary file, which no longer exists.
func (e *TempError) Error() string {
	return fmt.Sprintf("compile the rules into a temporary pack in %s, for -max-memory: %v: free some space there, compile the rules into a pack elsewhere first (robobatch compile), or leave out -max-memory", msg.File(e.Dir), atomicfile.WithoutPath(e.Err))
}

// Unwrap returns the cause.
func (e *TempError) Unwrap() error { return e.Err }

// TempDir returns the directory for temporary files next to an output.
func TempDir(out string) string {
	return storage.TempDir(out)
}

// HintMemory prints a hint with a sufficient memory limit, if rules of the store were loaded more than once because
// of the limit.
func (r *Rules) HintMemory(store *engine.Store, c *console.Console) {
	if enough := store.EnoughMemory(); enough > 0 {
		c.Hint(fmt.Sprintf("-max-memory %s is too small to keep all rules that these logs need, so rules were loaded repeatedly, which takes time: %s is enough",
			r.Share.Text(enough), memory.Text(r.Share.Whole(enough))))
	}
}

// Close removes the temporary pack.
func (r *Rules) Close() error { return r.temp.Load().Remove() }

// Drop removes the temporary pack if it has a name, which is the case on systems that cannot delete open files. It may
// be called from any goroutine, while the pack is in use.
func (r *Rules) Drop() error {
	if temp := r.temp.Load(); temp != nil && temp.Named() {
		return temp.Remove()
	}
	return nil
}

// Watch shows the progress of reading the rules until stop is called: in bytes for captures, otherwise in files.
func (r *Rules) Watch(c *console.Console) (stop func()) {
	number := int64(r.Len())
	return c.Watch("rules", func() console.Sample {
		if done, total := r.Progress(); total >= 0 {
			return console.Sample{Done: done, Total: total, Bytes: true}
		}
		return console.Sample{Done: r.read.Load(), Total: number}
	})
}

// Responses yields the responses of the files until ctx ends, and counts the files. It also adds complete texts to
// r.Texts, if that is set.
func (r *Rules) Responses(ctx context.Context) iter.Seq2[robots.Response, error] {
	responses := countFiles(ctx, r.Files.Responses(), &r.read)
	if r.Texts == nil {
		return responses
	}
	return func(yield func(robots.Response, error) bool) {
		for response, err := range responses {
			if size := int64(len(response.Body)); err == nil && size > 0 && (response.Size == 0 || response.Size == size) {
				r.Texts.Add(captures.KeyOf(response.Body), response.Body)
			}
			if !yield(response, err) {
				return
			}
		}
	}
}

// countFiles passes responses on until ctx ends, when it yields the error of ctx. It counts the files that were read
// completely.
func countFiles(ctx context.Context, responses iter.Seq2[robots.Response, error], files *atomic.Int64) iter.Seq2[robots.Response, error] {
	return func(yield func(robots.Response, error) bool) {
		name, begun := "", false
		for response, err := range responses {
			if ctx.Err() != nil {
				yield(robots.Response{}, ctx.Err())
				return
			}
			if begun && response.Name != name {
				files.Add(1)
			}
			name, begun = response.Name, true
			if !yield(response, err) {
				return
			}
		}
		files.Add(1)
	}
}

// Warn prints the warnings about the files that were read, or those stored in a pack when it was compiled, and a hint
// if the only robots.txt has no rules.
func (r *Rules) Warn(c *console.Console) {
	for _, d := range r.noted {
		c.Warn(d)
	}
	for _, d := range r.warnings((*rulefiles.Damage).Error) {
		c.Warn(d)
	}
	c.Hint(r.BlankHint())
}

// BlankHint returns a hint if the only robots.txt has no rules; "" if it has rules, or there are several files.
func (r *Rules) BlankHint() string {
	if r.Odd() != robots.OddBlank {
		return ""
	}
	return "the robots.txt that " + r.flag() + " names is empty or contains only comments, so everything is allowed"
}

// flag returns the flag that names the rules.
func (r *Rules) flag() string { return cmp.Or(r.Flag, "-rules") }

// warnings returns the warnings about the files; nil if there are none. show formats a damaged file and what is wrong
// with it, as an example.
func (r *Rules) warnings(show func(*rulefiles.Damage) string) (warnings []warning.Warning) {
	if names := r.Left(); len(names) > 0 {
		text := "-rules: " + msg.Count(int64(len(names)), "name") + " of a robots.txt skipped: links that leave the directory, or not regular files"
		warnings = append(warnings, warning.Warning{Code: warning.UnusedRules, Text: text, Count: int64(len(names)), Examples: names[:min(len(names), warning.Examples)]})
	}
	if names := r.Unclear(); len(names) > 0 {
		text := msg.Count(int64(len(names)), "name") + " of rules files may begin with an unknown scheme; they are read as hosts"
		warnings = append(warnings, warning.Warning{Code: warning.UnclearName, Text: text, Count: int64(len(names)), Examples: names[:min(len(names), warning.Examples)]})
	}
	if p := r.Problems(); p.Total > 0 {
		text := msg.Count(p.Total, "broken record") + " in captures: skipped, or counted as a failed fetch if only the content is broken"
		d := warning.Warning{Code: warning.BrokenRecords, Text: text, Count: p.Total}
		for _, record := range p.First[:min(len(p.First), warning.Examples)] {
			d.Examples = append(d.Examples, record.Error())
		}
		warnings = append(warnings, d)
	}
	if damages := r.Damages(); len(damages) > 0 && r.AcceptDamage { // otherwise they are an error
		d := warning.Warning{Code: warning.DamagedRules, Count: int64(len(damages))}
		var unread, missing int64
		for i, damage := range damages {
			unread, missing = unread+damage.Unread, missing+damage.Missing
			if i < warning.Examples {
				d.Examples = append(d.Examples, show(damage))
			}
		}
		gone := "how many bytes are missing is unknown"
		if missing > 0 {
			gone = msg.Count(missing, "byte") + " or more are missing"
		}
		if unread > 0 {
			gone = "not used: the last " + msg.Count(unread, "byte") + "; " + gone
		}
		d.Text = fmt.Sprintf("rules are missing: %s of captures could not be read to the end; %s", msg.Count(d.Count, "file"), gone)
		warnings = append(warnings, d)
	}
	if odd := r.Odd(); odd.IsOdd() {
		text := r.flag() + " does not name a valid robots.txt, but " + warning.OddName(odd) + ": crawlers find few or no rules in it"
		warnings = append(warnings, warning.Warning{Code: warning.OddRobots, Text: text, Count: 1})
	}
	return warnings
}

// Notes returns the warnings about the files as JSON, for ReadNotes; nil if there are none. A pack must not depend on
// the location of the files, so only damaged files are named as examples, without directories.
func (r *Rules) Notes() []byte {
	warnings := r.warnings(func(d *rulefiles.Damage) string { return filepath.Base(d.At.Name) + ": " + d.Lost() })
	if len(warnings) == 0 {
		return nil
	}
	for i := range warnings {
		if warnings[i].Code != warning.DamagedRules {
			warnings[i].Examples = nil
		}
	}
	text, err := json.Marshal(warnings)
	if err != nil {
		panic(err) // texts and numbers can always be encoded as JSON
	}
	return text
}

// ReadNotes reads the notes of a pack, which [Rules.Notes] made, for [Rules.Warn]. It adds a warning if the pack is
// too old to have policy groups.
func (r *Rules) ReadNotes(store *engine.Store) error {
	r.noted = nil
	if notes := store.Notes(); len(notes) > 0 {
		if err := json.Unmarshal(notes, &r.noted); err != nil {
			return fmt.Errorf("read the notes of the rule pack %s: %w", msg.File(r.Pack()), err)
		}
	}
	for i := range r.noted {
		r.noted[i].Text = "when the pack was compiled: " + r.noted[i].Text
	}
	if store.MissesPolicies() {
		text := msg.File(r.Pack()) + " was compiled by an older robobatch, which skipped its groups for __usage_ai-training: compile it again"
		r.noted = append(r.noted, warning.Warning{Code: warning.OldPack, Text: text, Count: 1})
	}
	return nil
}
