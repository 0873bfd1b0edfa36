package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/robobatch/robobatch/ingest"
	"github.com/robobatch/robobatch/internal/listings"
	"github.com/robobatch/robobatch/output"
	"github.com/robobatch/robobatch/robots"
)

// A listArgs is the flags of the command rules.
type listArgs struct {
	rules, origin string
	out           string
	agents        []string
	reading       reading
	workers       int
	progress      string
	quiet         bool
}

// listFlags returns the flags, which set a. Their help is rulesHelp.
func listFlags(a *listArgs) *flag.FlagSet {
	fs := flag.NewFlagSet("robobatch rules", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.Func("rules", "", once(&a.rules, "put all robots.txt into one directory"))
	fs.Func("origin", "", once(&a.origin, "leave it out to list all"))
	fs.StringVar(&a.out, "out", "", "")
	fs.Func("agent", "", splitAgents(&a.agents))
	a.reading.define(fs)
	fs.IntVar(&a.workers, "workers", 0, "")
	fs.StringVar(&a.progress, "progress", "auto", "")
	fs.BoolVar(&a.quiet, "quiet", false, "")
	return fs
}

// listRules is the command rules.
func listRules(arguments []string, std streams) error {
	var a listArgs
	fs := listFlags(&a)
	switch err := parse(fs, arguments); {
	case errors.Is(err, flag.ErrHelp):
		return printHelp(rulesHelp, std)
	case err != nil:
		return err
	case fs.NArg() > 0:
		return strayArgument(fs, a.rules)
	case a.rules == "":
		return usage("-rules is missing: name a directory of robots.txt files")
	}
	l := &listing{voice: voice{std: std, quiet: a.quiet}}
	if err := l.plan(&a); err != nil {
		return err
	}
	return underSignals(l)
}

// strayArgument is the error of an argument that is no flag: it may be meant as the rules, unless these are given.
func strayArgument(fs *flag.FlagSet, rules string) error {
	if rules == "" {
		return usage("unexpected argument %q: use -rules %s", fs.Arg(0), display(fs.Arg(0)))
	}
	return usage("unexpected argument %q: %s takes flags only, see %s -h", fs.Arg(0), strings.TrimPrefix(fs.Name(), "robobatch "), fs.Name())
}

// A listing is a run of the command rules.
type listing struct {
	voice
	rules   *ingest.RuleFiles
	opt     listings.Options
	outOpt  output.ListOptions
	out     sink[*output.ListFile]
	origins atomic.Int64 // listed so far
	bodies  int          // origins of which a response was in force
}

// plan checks the flags and finds the rules. It opens nothing and writes nothing.
func (l *listing) plan(a *listArgs) error {
	var errs []error
	check := func(name string, err error) {
		for _, err := range parts(err) {
			errs = append(errs, usage("-%s: %w", name, err))
		}
	}
	var err error
	l.opt.Dialect, l.opt.AsOf, err = a.reading.settle()
	errs = append(errs, parts(err)...)
	if a.reading.byRow() {
		check("as-of", errNoRows)
	}
	agents, err := expandAgents(a.agents)
	check("agent", err)
	if l.out.name = a.out; a.out == "" {
		l.out.name = defaultListOut(a.rules)
	}
	l.outOpt = output.ListOptions{Agents: agents, Dialect: l.opt.Dialect, Version: version(), Metadata: a.reading.metadata()}
	l.outOpt.Format, err = output.ListFormatOf(l.out.name)
	check("out", err)
	check("workers", checkWorkers(a.workers))
	l.opt.Workers = a.workers
	l.progress, err = parseProgress(a.progress, l.std.err)
	check("progress", err)
	if l.quiet {
		l.progress = progressOff
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	return l.find(a)
}

// find finds the rules. An origin is that of a single robots.txt, or the one to list.
func (l *listing) find(a *listArgs) error {
	var err error
	l.rules, err = ingest.Rules(a.rules, a.origin)
	if name, ok := errors.AsType[*ingest.NameError](err); ok && (errors.Is(name, ingest.ErrOriginDir) || errors.Is(name, ingest.ErrOriginFile)) {
		if l.opt.Origin, err = robots.ParseOrigin(a.origin); err != nil {
			return usage("-origin: %w: write it like https://www.example.com", err)
		}
		l.rules, err = ingest.Rules(a.rules, "")
	}
	if err != nil {
		return err
	}
	t := target{"-out", l.out.name}
	return errors.Join(t.checkDirectory(), t.checkRead(a.rules, nil, l.rules))
}

// defaultListOut returns the name of the listing of rules: their base name plus ".rules.parquet".
func defaultListOut(rules string) string {
	base := filepath.Base(filepath.Clean(rules))
	if base == "." || base == ".." || base == string(filepath.Separator) {
		base = "robots"
	}
	base = cutSuffixes(cutSuffixes(base, packSuffixes), []string{".warc", ".jsonl", ".txt"})
	return base + ".rules.parquet"
}

func (l *listing) drop() (committed bool, err error) { return l.out.drop() }
func (l *listing) targets() (out, last string)       { return l.out.name, l.out.name }

// errNotListed is the error of an origin that has no robots.txt in the rules.
var errNotListed = errors.New("there is no robots.txt of it in the rules: check scheme, host and port")

// run lists.
func (l *listing) run(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, l.out.Close()) }()
	if err := l.out.create(func() (*output.ListFile, error) {
		return output.CreateList(l.out.name, l.std.out, l.outOpt)
	}); err != nil {
		return err
	}
	stop := l.watch("origins", func() sample { return sample{done: l.origins.Load(), total: -1} })
	err = listings.List(ctx, l.rules.Responses(), l.opt, func(listed *listings.Listing) error {
		l.origins.Add(1)
		if listed.Outcome.Capture >= 0 {
			l.bodies++
		}
		return l.out.use(func() error { return l.out.file.Write(listed) })
	})
	stop()
	if err != nil {
		return err
	}
	l.noteProblems(l.rules.Problems())
	switch {
	case l.opt.Origin != "" && l.origins.Load() == 0:
		return fmt.Errorf("list %s: %w", l.opt.Origin, errNotListed)
	case l.bodies == 0:
		l.note("no robots.txt is as old as -as-of; that of a file is the time of its last change")
	}
	return l.out.use(func() error {
		if err := l.out.file.Commit(); err != nil {
			return err
		}
		l.out.committed = true
		l.say()
		return nil
	})
}

// say says what was written.
func (l *listing) say() {
	if l.quiet || l.out.name == stdName {
		return
	}
	text := fmt.Sprintf("%s: %s of %s\n", display(l.out.name), plural(l.out.file.Rows(), "row"), plural(l.origins.Load(), "origin"))
	text += skippedText(l.rules.Skipped(), "")
	io.WriteString(l.std.err, printable(text)) //nolint:errcheck // there is nowhere left to say it
}

// splitAgents returns a flag's function that appends names that commas separate.
func splitAgents(to *[]string) func(string) error {
	return func(s string) error {
		for name := range strings.SplitSeq(s, ",") {
			*to = append(*to, strings.TrimSpace(name))
		}
		return nil
	}
}

// checkWorkers checks the number of goroutines.
func checkWorkers(n int) error {
	if n < 0 || n > maxWorkers {
		return fmt.Errorf("%s is out of range: use 0 for one per processor, or up to %d", strconv.Itoa(n), maxWorkers)
	}
	return nil
}
