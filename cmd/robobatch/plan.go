package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"golang.org/x/term"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest"
	"github.com/robobatch/robobatch/output"
	"github.com/robobatch/robobatch/robots"
)

// A plan is what the flags ask for, checked, with its inputs found: ready to be run.
type plan struct {
	voice
	logs      *ingest.Logs
	logOpt    ingest.LogOptions
	rules     *ingest.RuleFiles
	storeOpt  engine.StoreOptions
	runOpt    engine.Options
	outName   string // "-" for standard output
	outOpt    output.Options
	statsName string // of the summary as JSON; "" is none
	rejects   string // name of the list of rejected lines; "" is none
	limit     rejectLimit
	notes     []string // what the user may not expect
	asked     asked
}

// maxWorkers is the most that -workers may ask for: each has batches of 2 MiB on their way, and a chunk to encode.
const maxWorkers = 1024

// missingNames are the values of -missing.
var missingNames = map[string]engine.Missing{
	"allow":    engine.MissingAllow,
	"disallow": engine.MissingDisallow,
	"null":     engine.MissingUnknown,
}

// asked are flags that change what the rows say, for the record.
type asked struct {
	Missing string `json:"missing"`
	URLAsIs bool   `json:"url_as_is"`
	Limit   int64  `json:"limit"` // 0 is none

	AgentFromLog  bool   `json:"agent_from_log"`
	UnknownAgents string `json:"unknown_agents"` // "" without AgentFromLog
	Layout        string `json:"layout"`
	Where         string `json:"where"` // "" is all rows
	reading
	inputForm
}

// record returns the flags for the record.
func (a *args) record() asked {
	r := asked{Missing: a.missing, URLAsIs: a.urlAsIs, Limit: a.limit, AgentFromLog: a.fromLog, reading: a.reading, inputForm: a.form}
	if a.fromLog {
		r.UnknownAgents = cmp.Or(a.unknown, unknownStar)
	}
	return r
}

// newPlan makes the plan. It opens nothing and writes nothing. All that is wrong with the flags is reported at once, as
// a usageError for each fault; if nothing is, then all that is wrong with the files that they name.
func newPlan(a args, std streams) (*plan, error) {
	p := &plan{voice: voice{std: std, quiet: a.quiet}, statsName: a.stats, asked: a.record()}
	if err := p.choose(a); err != nil {
		return nil, err
	}
	if err := p.find(a); err != nil {
		return nil, err
	}
	return p, nil
}

// choose sets what the flags say without a look at any file.
func (p *plan) choose(a args) error {
	var errs []error
	check := func(name string, err error) {
		for _, err := range parts(err) {
			errs = append(errs, usage("-%s: %w", name, err))
		}
	}
	errs = append(errs, parts(p.chooseQuestion(&a))...)
	var err error
	errInput := p.chooseInput(a)
	errs = append(errs, parts(p.chooseShape(a))...)
	errs = append(errs, parts(errInput)...)
	p.storeOpt.Canonical = slices.Contains(p.outOpt.Columns, output.CanonicalURL)
	file := a.out
	if a.storage.partitionBy != "" {
		file = ""
		errs = append(errs, parts(a.storage.settleParts(a.out, &p.outOpt))...)
		p.logOpt.Fields.Times = p.logOpt.Fields.Times || slices.Contains(p.outOpt.Partition, output.PartitionDate)
	}
	errs = append(errs, parts(p.chooseFormat(file, a.outFormat))...)
	errs = append(errs, parts(a.storage.settle(&p.outOpt, p.agents()))...)
	check("workers", checkWorkers(a.workers))
	check("limit", checkLimit(a.limit))
	p.storeOpt.MaxMemory, err = parseMemory(a.maxMemory)
	check("max-memory", err)
	p.storeOpt.MaxMemory = shareMemory(p.storeOpt.MaxMemory, &p.outOpt)
	p.progress, err = parseProgress(a.progress, p.std.err)
	check("progress", err)
	if a.quiet {
		p.progress = progressOff
	}
	p.share(p.fitWorkers(a.workers, a.maxMemory))
	p.outOpt.Version = version()
	return errors.Join(errs...)
}

// chooseFormat is the part of choose about the format of the output.
func (p *plan) chooseFormat(name, format string) error {
	var err error
	if strings.HasSuffix(name, "/") {
		return usage("-out: %s is a directory: name a file in it, or add -partition-by", name)
	}
	if p.outOpt.Format, err = output.ChooseFormat(name, format); err != nil {
		if format == "" {
			return usage("-out: %w", err)
		}
		if errors.Is(err, output.ErrFormat) {
			err = withHint(err, format, enumerated["out-format"])
		}
		return usage("-out-format: %w", err)
	}
	if name == stdName && isTerminal(p.std.out) && !p.outOpt.Format.Readable() {
		return usage("-out: standard output is a terminal, and %s is not text: redirect it, name a file, or add -out-format csv", p.outOpt.Format.Name())
	}
	return nil
}

// chooseQuestion is the part of choose about what is asked of a URL.
func (p *plan) chooseQuestion(a *args) error {
	var errs []error
	check := func(name string, err error) {
		for _, err := range parts(err) {
			errs = append(errs, usage("-%s: %w", name, err))
		}
	}
	var err error
	p.storeOpt.Dialect, p.storeOpt.AsOf, err = a.reading.settle()
	errs = append(errs, parts(err)...)
	p.storeOpt.RowTimes = a.reading.byRow()
	if a.urlAsIs {
		p.storeOpt.Dialect |= robots.URLAsIs
	}
	p.storeOpt.Agents, err = expandAgents(a.agents)
	check("agent", err)
	p.notes = agentNotes(p.storeOpt.Agents, p.storeOpt.Dialect)
	p.storeOpt.LogAgents, err = a.logAgents()
	errs = append(errs, parts(err)...)
	var ok bool
	if p.storeOpt.Missing, ok = missingNames[a.missing]; !ok {
		check("missing", withHint(fmt.Errorf("unknown answer %q: use one of allow, disallow, null", a.missing), a.missing, enumerated["missing"]))
	}
	return errors.Join(errs...)
}

// checkLimit checks a number of URLs.
func checkLimit(n int64) error {
	if n < 0 {
		return fmt.Errorf("%d is negative: use 0 for all URLs, or more", n)
	}
	return nil
}

// chooseInput is the part of choose about the lines of the logs.
func (p *plan) chooseInput(a args) error {
	p.logOpt = ingest.LogOptions{Stdin: p.std.in, Limit: a.limit, Raws: a.rejects != ""}
	p.logOpt.Fields.Agents, p.logOpt.Fields.Times = a.fromLog, a.reading.byRow()
	errs := parts(a.form.settle(&p.logOpt, &p.outOpt))
	p.rejects = a.rejects
	if a.rejects == stdName {
		errs = append(errs, usage("-rejects: standard output is not for rejects: name a file"))
	}
	var err error
	if p.limit, err = parseRejectLimit(a.maxRejects); err != nil {
		errs = append(errs, usage("-max-rejects: %w", err))
	}
	return errors.Join(errs...)
}

// share sets the numbers of goroutines.
func (p *plan) share(workers int) {
	p.storeOpt.Workers, p.runOpt.Workers = workers, workers
	if p.outOpt.Workers = cmp.Or(workers, runtime.GOMAXPROCS(0)); p.outOpt.Workers > 1 {
		p.logOpt.Ahead = p.outOpt.Workers
	}
}

// joined returns the errors that [errors.Join] joined in err, and whether err is such a list.
func joined(err error) ([]error, bool) {
	list, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return nil, false
	}
	all := list.Unwrap()
	return all, err.Error() == errors.Join(all...).Error() // fmt.Errorf with several %w unwraps to a list, too
}

// parts returns the errors that are joined in err; err itself if it is no list, none for nil.
func parts(err error) []error {
	if all, ok := joined(err); ok {
		return all
	}
	if err == nil {
		return nil
	}
	return []error{err}
}

// agentNotes tells which agents are looked up under another name than theirs.
func agentNotes(names []string, d robots.Dialect) []string {
	var notes []string
	for _, name := range names {
		switch token := robots.NewAgent(name, d).Token; {
		case name == "*" || string(token) == name:
		case token == "":
			notes = append(notes, fmt.Sprintf("agent %q: no product token (letters, - and _) begins it, so that only groups for * are its", name))
		default:
			notes = append(notes, fmt.Sprintf("agent %q: its product token, which groups are searched for, is %q", name, token))
		}
	}
	return notes
}

// find finds the inputs and checks the names of the outputs.
func (p *plan) find(a args) error {
	var errLogs, errRules, errOut error
	p.logs, errLogs = ingest.OpenLogs(a.in, p.logOpt)
	p.rules, errRules = ingest.Rules(a.rules, a.origin)
	if errors.Is(errRules, ingest.ErrNoOrigin) && a.form.Base != "" { // one robots.txt, and logs of one site
		p.rules, errRules = ingest.Rules(a.rules, a.form.Base)
	}
	if errLogs == nil {
		inputs := p.logs.Inputs()
		for _, in := range inputs {
			p.outOpt.Inputs = append(p.outOpt.Inputs, in.Name)
		}
		p.outName = a.out
		if p.outName == "" {
			p.outName = defaultOut(inputs[0].Name, p.outOpt.Format)
		}
		if len(p.outOpt.Partition) > 0 {
			p.outName = treeName(a.out, p.outName, p.outOpt.Format)
		}
		errOut = p.checkTargets(a, inputs)
	}
	return errors.Join(errLogs, errRules, errOut)
}

// version returns the version of the module that the command was built from, or "devel".
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "devel"
	}
	return info.Main.Version
}

// isTerminal reports whether a stream is one.
func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }
