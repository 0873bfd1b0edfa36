package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest"
	"github.com/robobatch/robobatch/internal/atomicfile"
)

// A compileArgs is the flags of the command compile.
type compileArgs struct {
	rules, origin string
	out           string
	reading       reading
	workers       int
	progress      string
	quiet         bool
}

// compileFlags returns the flags, which set a. Their help is compileHelp.
func compileFlags(a *compileArgs) *flag.FlagSet {
	fs := flag.NewFlagSet("robobatch compile", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.StringVar(&a.rules, "rules", "", "")
	fs.StringVar(&a.origin, "origin", "", "")
	fs.StringVar(&a.out, "out", "", "")
	a.reading.defineDialect(fs)
	fs.IntVar(&a.workers, "workers", 0, "")
	fs.StringVar(&a.progress, "progress", "auto", "")
	fs.BoolVar(&a.quiet, "quiet", false, "")
	return fs
}

// compileRules is the command compile.
func compileRules(arguments []string, std streams) error {
	var a compileArgs
	fs := compileFlags(&a)
	switch err := parse(fs, arguments); {
	case errors.Is(err, flag.ErrHelp):
		return printHelp(compileHelp, std)
	case err != nil:
		return err
	case fs.NArg() > 0:
		return strayArgument(fs, a.rules)
	case a.rules == "":
		return usage("-rules is missing: name a directory of robots.txt files")
	}
	c := &compilation{voice: voice{std: std, quiet: a.quiet}, asked: a.rules}
	if err := c.plan(&a); err != nil {
		return err
	}
	return underSignals(c)
}

// A compilation is a run of the command compile.
type compilation struct {
	voice
	asked string // the rules, as they were named
	rules *ingest.RuleFiles
	opt   engine.PackOptions
	out   sink[*atomicfile.File]
	files atomic.Int64 // read so far
}

// plan checks the flags and finds the rules. It opens nothing and writes nothing.
func (c *compilation) plan(a *compileArgs) error {
	var errs []error
	check := func(name string, err error) {
		for _, err := range parts(err) {
			errs = append(errs, usage("-%s: %w", name, err))
		}
	}
	var err error
	c.opt.Dialect, _, err = a.reading.settle()
	errs = append(errs, parts(err)...)
	if c.out.name = a.out; a.out == "" {
		c.out.name = defaultPack(a.rules)
	}
	if !strings.HasSuffix(c.out.name, packSuffix) {
		check("out", fmt.Errorf("%s: the name of a rule pack ends in %s", display(c.out.name), packSuffix))
	}
	check("workers", checkWorkers(a.workers))
	c.opt.Workers = a.workers
	c.progress, err = parseProgress(a.progress, c.std.err)
	check("progress", err)
	if c.quiet {
		c.progress = progressOff
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	if c.rules, err = ingest.Rules(a.rules, a.origin); err != nil {
		return err
	}
	t := target{"-out", c.out.name}
	return errors.Join(t.checkDirectory(), t.checkRead(a.rules, nil, c.rules))
}

// packSuffix is how the name of a rule pack ends.
const packSuffix = ".rbp"

// defaultPack returns the name of the pack of rules: their base name with another suffix.
func defaultPack(rules string) string {
	return strings.TrimSuffix(defaultListOut(rules), ".rules.parquet") + packSuffix
}

func (c *compilation) drop() (committed bool, err error) { return c.out.drop() }
func (c *compilation) targets() (out, last string)       { return c.out.name, c.out.name }

// run compiles.
func (c *compilation) run(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, c.out.Close()) }()
	if err := c.out.create(func() (*atomicfile.File, error) { return atomicfile.CreateRegular(c.out.name) }); err != nil {
		return err
	}
	c.opt.TempDir = filepath.Dir(c.out.name)
	stop := c.watchFiles(c.rules, &c.files)
	stats, err := engine.WritePack(ctx, lockedFile{&c.out}, countFiles(ctx, c.rules.Responses(), &c.files), c.opt)
	stop()
	if err != nil {
		return err
	}
	c.noteProblems(c.rules.Problems())
	return c.out.use(func() error {
		if err := c.out.file.Commit(); err != nil {
			return err
		}
		c.out.committed = true
		c.say(stats)
		return nil
	})
}

// say says what was written, and what was not used. Nobody can tell that of the pack any more.
func (c *compilation) say(s engine.PackStats) {
	if c.quiet {
		return
	}
	text := fmt.Sprintf("%s: %s, %s, %s, %s\n", display(c.out.name), plural(int64(s.Origins), "origin"),
		plural(int64(s.Texts), "distinct text"), plural(int64(s.Rulesets), "distinct ruleset"), bytesText(s.Bytes))
	text += skippedText(c.rules.Skipped(), "; -stats of a run with -rules "+display(c.asked)+" lists all")
	io.WriteString(c.std.err, printable(text)) //nolint:errcheck // there is nowhere left to say it
}

// A lockedFile is the file of a sink, which may be dropped meanwhile.
type lockedFile struct{ sink *sink[*atomicfile.File] }

func (f lockedFile) Write(b []byte) (n int, err error) {
	err = f.sink.use(func() (err error) {
		n, err = f.sink.file.Write(b)
		return err
	})
	return n, err
}

func (f lockedFile) WriteAt(b []byte, off int64) (n int, err error) {
	err = f.sink.use(func() (err error) {
		n, err = f.sink.file.WriteAt(b, off)
		return err
	})
	return n, err
}

func (f lockedFile) ReadAt(b []byte, off int64) (n int, err error) {
	err = f.sink.use(func() (err error) {
		n, err = f.sink.file.ReadAt(b, off)
		return err
	})
	return n, err
}
