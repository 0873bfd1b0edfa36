// Package pipeline has the steps that all commands over logs share. It checks the common flags, finds logs and rules,
// divides the memory, prepares the rules, evaluates the rows, and passes them to a sink of the command. It prints
// warnings about logs and rules, and releases all resources at the end. Commands without logs use only its [Rules].
// Only cmd/robobatch and the packages of its commands import it.
//
// A command over logs has a Pipeline and calls, in this order:
//
//	Choose, ChooseWork     the flags, before any file is opened
//	Find                   the inputs
//	Load                   the rules
//	Take                   the rows, into a sink of its own
//	WarnRows               warnings about them
//	Close                  in any case, and Drop on a signal
package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/console"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/flags"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/memory"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/msg"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/process"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/summary"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/warning"
	"github.com/robobatch/robobatch/conduct"
	"github.com/robobatch/robobatch/crawlers"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest"
	"github.com/robobatch/robobatch/ingest/logfiles"
	"github.com/robobatch/robobatch/ingest/rulefiles"
	"github.com/robobatch/robobatch/ingest/sitemapfiles"
	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/internal/storage"
	"github.com/robobatch/robobatch/output"
)

// Flags are the flags of every command over logs.
type Flags struct {
	flags.Rules
	Logs     flags.Logs
	Question flags.Question
	Work     flags.Work
	Sitemaps flags.Sitemaps // only for commands with the flag
}

// InputFlags returns the flags for rules and logs, except -keep, which only commands that write tables have.
func (f *Flags) InputFlags() []cli.Flag {
	return append(f.Flags(flags.NameRules), flags.Without(f.Logs.Flags(), "keep")...)
}

// A Pipeline holds the state that all commands over logs need.
type Pipeline struct {
	console.Console
	Asked    summary.Asked
	Files    *logfiles.List // logs of -in; nil without a log
	Logs     *ingest.Logs   // nil until opened
	Earlier  *logfiles.List // logs of FindEarlier; nil without it
	LogOpt   ingest.LogOptions
	Status   int // 1 + index of the kept column with the status code; 0 means none
	Bytes    int // 1 + index of the column with the number of bytes sent; 0 means none
	Method   int // 1 + index of the column with the request method; 0 means none
	Client   int // 1 + index of the column with the client address; 0 means none
	Now      *Side
	Old      *Side // the previous rules; nil without them
	RunOpt   engine.Options
	Sitemaps *sitemapfiles.Sitemaps // nil without them
	Memory   memory.Run             // the command sets its plan and output
	Parts    memory.Parts
	Stats    engine.Stats // statistics of the rows, set by Take

	Hints []string // unexpected facts for the user
}

// Choose sets the console, the question and the options for reading logs. It returns the columns of -keep. Faults of
// the flags about logs go to input, all others to faults.
func (p *Pipeline) Choose(f *Flags, std console.Streams, faults, input *cli.Faults) (kept []output.KeptColumn) {
	p.Console = console.Console{Streams: std, Quiet: f.Work.Quiet}
	f.Question.MaxMemory = f.Work.MaxMemory
	p.Now = NewSide(&f.Rules, &f.Question, faults)
	p.LogOpt, kept = f.Logs.Choose(input)
	p.LogOpt.Stdin = p.In
	p.LogOpt.Fields.Agents, p.LogOpt.Fields.Need = f.Question.FromLog, f.Question.FromLog
	p.LogOpt.Fields.Clients = f.Question.Verifies()
	p.LogOpt.Fields.Times = f.Question.ByRow() || p.LogOpt.Fields.Clients
	if _, named := p.LogOpt.Fields.Named[ingest.NameClient]; named && !p.LogOpt.Fields.Clients && !slices.ContainsFunc(p.LogOpt.Keep, func(k ingest.KeptColumn) bool { return k.Field == ingest.NameClient }) {
		input.Add("field", errors.New("client: this role needs -ranges or -keep client: add one of them"))
	}
	return kept
}

// ChooseWork sets the execution options. Set the memory plan before. table has the layout and the kinds of rows of
// the output; it is zero for a command without a table. outputs are the names of all outputs; "" is ignored.
func (p *Pipeline) ChooseWork(f *Flags, table *output.Options, faults *cli.Faults, outputs ...string) {
	faults.Add("workers", memory.CheckWorkers(f.Work.Workers))
	if f.Logs.Limit < 0 {
		faults.Add("limit", fmt.Errorf("%d is negative: use a positive number, or 0 for all URLs", f.Logs.Limit))
	}
	for _, name := range outputs {
		if storage.IsRemote(name) {
			p.Memory.Remote += storage.OutputMemory
		}
	}
	faults.Add("max-memory", p.chooseMemory(f))
	faults.Add("progress", p.SetProgress(f.Work.Progress))
	p.Hints = f.Question.Hints(p.Now.Opt.Dialect, p.Now.Opt.Agents, f.Work.Verbose)
	p.Asked = flags.NewAsked(&f.Question, &f.Logs, table.Layout.String(), table.Where.String())
}

// chooseMemory sets the memory limit. It returns an error if the limit is invalid or too small.
func (p *Pipeline) chooseMemory(f *Flags) (err error) {
	m := &p.Memory
	if m.Limit, err = memory.Parse(f.Work.MaxMemory); err != nil {
		return err
	}
	m.Typed, m.Workers, m.Agents = f.Work.MaxMemory, f.Work.Workers, len(flags.AgentsOf(&p.Now.Opt))
	if storage.IsRemote(f.Path) {
		m.Remote += storage.RandomMemory
	}
	if lists := p.Now.Opt.Ranges; lists != nil {
		m.Lists = lists.Size()
	}
	_, err = m.Divide()
	return err
}

// Sides returns the rules, the previous ones first.
func (p *Pipeline) Sides() []*Side {
	if p.Old == nil {
		return []*Side{p.Now}
	}
	return []*Side{p.Old, p.Now}
}

// Find finds logs and rules, divides the memory and opens the logs.
func (p *Pipeline) Find(f *Flags) error {
	errLogs := p.FindLogs(f)
	errRules := p.FindRules(f)
	return errors.Join(p.OpenLogs(errLogs), errRules)
}

// FindLogs finds the logs that -in names. A missing log becomes an error of p.Files, which OpenLogs returns, not of
// FindLogs.
func (p *Pipeline) FindLogs(f *Flags) (err error) {
	p.Files, err = logfiles.Find(f.Logs.In, p.In)
	if p.Files != nil && p.Memory.Limit > 0 {
		names := p.Files.Names()
		p.Memory.Window = ingest.Window(names[:min(len(names), mostWindows)])
	}
	return err
}

// mostWindows is the maximum number of logs whose zstd window is checked before the run. Further logs with a window
// that is too large fail when they are read.
const mostWindows = 1000

// OpenLogs opens the logs, if FindLogs found all of them. err is the error of FindLogs, which OpenLogs returns with
// those of missing logs.
func (p *Pipeline) OpenLogs(err error) error {
	if err = errors.Join(p.Files.Err(), err); err == nil {
		p.Logs, err = ingest.OpenLogs(p.Files.Names(), p.LogOpt)
	}
	return err
}

// FindRules finds the rules of all sides, reads sitemaps, and divides the memory. It stops at the first error.
func (p *Pipeline) FindRules(f *Flags) error {
	err := p.Now.FindOne(f.Origin, f.Logs.Base)
	if err == nil && p.Old != nil {
		err = p.Old.FindEither(cmp.Or(f.Origin, f.Logs.Base))
	}
	if err == nil {
		err = p.findSitemaps(f)
	}
	if err == nil {
		err = p.Divide()
	}
	return err
}

// Divide divides the memory limit and sets the number of goroutines. Call it after the rules are found. It returns an
// error if the limit is too small.
func (p *Pipeline) Divide() (err error) {
	p.Memory.Index = 0
	for _, side := range p.Sides() {
		if name := side.Pack(); p.Memory.Limit > 0 && name != "" {
			index, _ := engine.IndexMemory(name) // opening the pack reports its faults
			p.Memory.Index += index
		}
	}
	if p.Parts, err = p.Memory.Divide(); err != nil {
		return fmt.Errorf("-max-memory: %w", err)
	}
	parts := &p.Parts
	p.Hints = append(p.Hints, parts.Note)
	for _, side := range p.Sides() {
		side.Share = parts.Share
		side.Opt.Workers, side.Opt.Reserved, side.Opt.MaxMemory = parts.Workers, parts.Reserved, memory.LimitOfPack(side.Pack(), parts.Rules)
	}
	p.RunOpt.Workers = parts.Workers
	if p.Memory.Limit > 0 {
		p.RunOpt.MaxStrays = memory.MaxStrays
	}
	p.LogOpt.BatchRows, p.LogOpt.Window = parts.BatchRows, parts.Window
	if p.Workers() > 1 {
		p.LogOpt.Ahead = cmp.Or(parts.Unpackers, p.Workers())
	}
	return nil
}

// Workers returns the number of worker goroutines.
func (p *Pipeline) Workers() int { return cmp.Or(p.Parts.Workers, runtime.GOMAXPROCS(0)) }

// Load prepares the rules of all sides, with temporary files in the given directory. It prints hints about the flags,
// and warnings about logs and rules. With previous rules, it is an error if both sides have no origin in common.
func (p *Pipeline) Load(ctx context.Context, dir string) error {
	for _, hint := range p.Hints {
		p.Hint(hint)
	}
	p.WarnOnce(p.warnFiles())
	p.WarnOnce(warning.Lists(p.Now.Opt.Ranges))
	warnings := p.WarnIndexes()
	if p.Sitemaps != nil {
		warnings = append(warningsOf(p.Sitemaps.Notes), warnings...)
	}
	p.WarnOnce(warnings)
	limits := make([]int64, 0, len(p.Sides()))
	for _, side := range p.Sides() {
		limits = append(limits, side.Opt.MaxMemory)
	}
	p.Memory.SetLimit(limits...)
	if p.Now.Opt.Evidence && p.Status > 0 && p.Bytes > 0 {
		p.Now.Texts = new(conduct.Texts)
	}
	for _, side := range p.Sides() {
		if err := side.Load(ctx, dir, &p.Console); err != nil {
			return err
		}
		side.Warn(&p.Console)
	}
	p.WarnOnce(WarnAgents(&p.Now.Opt, p.Now.Store))
	if p.Old != nil {
		if engine.ShareOrigin(p.Old.Store, p.Now.Store) {
			return nil
		}
		return fmt.Errorf("%s and %s have no origin in common, so there is nothing to compare: use previous rules of the same sites; http and https differ, and so do example.com and www.example.com",
			msg.File(p.Old.Path), msg.File(p.Now.Path))
	}
	return nil
}

// WarnMoment warns if all files of a side are newer than the requested moment. Call it after Load.
func (p *Pipeline) WarnMoment() {
	for _, side := range p.Sides() {
		if side.AsOf == "" || side.Opt.RowTimes || side.Store.InForce() > 0 {
			continue
		}
		text := "every robots.txt is newer than -as-of " + side.AsOf
		if p.Old != nil {
			text = fmt.Sprintf("every robots.txt of %s is newer than %s", msg.File(side.Path), side.AsOf)
		}
		p.WarnOnce([]warning.Warning{{Code: warning.NoRulesThen, Text: text + "; the time of a plain file is its modification time", Count: 1}})
	}
}

// Source returns the logs as a source of rows, and checks that they have the fields that the flags need.
func (p *Pipeline) Source() *Source { return p.sourceOf(p.Logs) }

func (p *Pipeline) sourceOf(logs *ingest.Logs) *Source {
	src := &Source{Logs: logs, NeedsAgents: p.Asked.AgentFromLog}
	if p.Asked.ByRow() {
		src.NoTimes = ErrNoTimes
	}
	return src
}

// Take evaluates the logs, passes the rows to a sink, and sets p.Stats. It shows the progress, and warns if the list
// of crawlers is too old for the log. [Cause] returns the cause of its error.
func (p *Pipeline) Take(ctx context.Context, src *Source, sink engine.Sink) error {
	defer func() { // ignore a few rows with a wrong time
		if rows := src.URLs.Load(); 10*src.Late > rows {
			text := fmt.Sprintf("%s of %s are over a year newer than the list of crawlers (%s), which lacks crawlers introduced since: update robobatch, or add them with -crawlers",
				msg.Number(src.Late), msg.Count(rows, "row"), crawlers.Date())
			p.WarnOnce([]warning.Warning{{Code: warning.OldCrawlers, Text: text, Count: src.Late}})
		}
	}()
	defer p.Watch("URLs", src.Sample)()
	return p.Decide(ctx, src, sink)
}

// FindEarlier finds the logs of a previous period. flag is the flag that names them, for errors.
func (p *Pipeline) FindEarlier(flag, name string) (err error) {
	if p.Earlier, err = logfiles.Find([]string{name}, p.In); err == nil {
		err = p.Earlier.Err()
	}
	if err != nil {
		return fmt.Errorf("%s: %w", flag, err)
	}
	return nil
}

// TakeEarlier evaluates the logs of FindEarlier, passes the rows to a sink, and closes the sink. It reads the logs
// with the options of the other logs. p.Stats is then about the earlier logs, until Take sets it again.
func (p *Pipeline) TakeEarlier(ctx context.Context, sink engine.Sink) error {
	logs, err := ingest.OpenLogs(p.Earlier.Names(), p.LogOpt)
	if err != nil {
		return err
	}
	err = p.Take(ctx, p.sourceOf(logs), sink)
	if err = errors.Join(err, sink.Close(), logs.Close()); err == nil && p.Stats.URLs == 0 {
		err = errors.New("the log has no rows: check its name and -format")
	}
	if n := summary.Sum(logs.Counts().Refused); err == nil && n > 0 {
		p.Hint("the previous logs have " + msg.Count(n, "line") + " without a row, which are not compared")
	}
	return err
}

// Decide is Take for rows that do not come from a log.
func (p *Pipeline) Decide(ctx context.Context, src engine.Source, sink engine.Sink) (err error) {
	if p.Old != nil {
		p.RunOpt.Old = p.Old.Store
	}
	p.Stats, err = engine.Run(ctx, p.Now.Store, src, sink, p.RunOpt)
	return err
}

// Cause returns the error that ended a run, without the position in the logs that package engine adds. It returns
// other errors, and nil, unchanged.
func Cause(err error) error {
	if source, ok := errors.AsType[*engine.SourceError](err); ok {
		return source.Err
	}
	if sink, ok := errors.AsType[*engine.SinkError](err); ok {
		return sink.Err
	}
	return err
}

// ErrNoRequests is the error for logs without rows, in commands that report on rules.
var ErrNoRequests = errors.New("the logs have no rows to check the rules with: check -in and -format")

// Describe adds the flags and the name of the rules to the metadata of the output.
func (p *Pipeline) Describe(f *output.File) {
	p.Asked.Describe(f)
	f.SetMetadata("robobatch.rules_name", p.Now.Path)
	if p.Old != nil {
		f.SetMetadata("robobatch.rules_name_old", p.Old.Path)
	}
}

// Summary returns the report on the run. Call it after all rows are evaluated.
func (p *Pipeline) Summary() *summary.Report {
	s := summary.New(summary.Source{
		Asked: p.Asked, Version: process.Version(), Name: p.Now.Path, Store: p.Now.Store, Rules: p.Now.Files, Logs: p.Logs, Stats: p.Stats,
	})
	s.Warnings = append(s.Warnings, p.Warnings...)
	return s
}

// Close closes the logs, if they are open, and releases the rules.
func (p *Pipeline) Close() (err error) {
	if p.Logs != nil {
		err = p.Logs.Close()
	}
	return errors.Join(err, p.Unload())
}

// Unload releases the rules.
func (p *Pipeline) Unload() (err error) {
	for _, side := range p.Sides() {
		err = errors.Join(err, side.Unload())
	}
	return err
}

// Drop removes the temporary packs. It may be called from any goroutine.
func (p *Pipeline) Drop() (err error) {
	for _, side := range p.Sides() {
		err = errors.Join(err, side.Drop())
	}
	return err
}

// A Side is a set of rules that evaluates rows: the rules of a run, or the previous rules for comparison.
type Side struct {
	Rules
	Path  string // path as given
	AsOf  string // requested moment; "" means none
	Opt   engine.StoreOptions
	File  string        // file name of the single robots.txt, if FindEither gave it an origin; "" otherwise
	Store *engine.Store // nil until the rules are loaded
}

// NewSide returns the rules that the flags name.
func NewSide(r *flags.Rules, q *flags.Question, faults *cli.Faults) *Side {
	s := &Side{Path: r.Path, AsOf: q.AsOf, Opt: q.Choose(faults)}
	s.AcceptDamage = r.AcceptDamage
	return s
}

// PreviousSide returns a Side for the previous rules, with the same question as s. Its path or moment is that of s if
// o does not have one.
func (s *Side) PreviousSide(o *flags.Old) *Side {
	old := &Side{Path: cmp.Or(o.Path, s.Path), AsOf: cmp.Or(o.AsOf, s.AsOf), Opt: s.Opt}
	old.Opt.Tokens, old.AcceptDamage = false, s.AcceptDamage
	if o.Path != "" {
		old.Flag = "-old"
	}
	if o.AsOf != "" {
		old.Opt.AsOf, _ = flags.ParseMoment(o.AsOf) // already validated
		old.Opt.RowTimes = false
	}
	return old
}

// FindOne finds the rules. A single robots.txt gets the given origin or, if that is "", the origin of base.
func (s *Side) FindOne(origin, base string) error {
	err := s.Find(s.Path, origin)
	if errors.Is(err, rulefiles.ErrNoOrigin) && base != "" {
		err = s.Find(s.Path, base)
	}
	return err
}

// FindEither finds the rules of one of two sides. A single robots.txt gets the given origin. Other rules ignore it,
// because it may be meant for the other side.
func (s *Side) FindEither(origin string) error {
	err := s.Find(s.Path, "")
	if errors.Is(err, rulefiles.ErrNoOrigin) && origin != "" {
		s.File = s.Path
		err = s.Find(s.Path, origin)
	}
	return err
}

// Load prepares the rules, with temporary files in dir.
func (s *Side) Load(ctx context.Context, dir string, c *console.Console) (err error) {
	s.Store, err = s.Rules.Store(ctx, s.Opt, dir, c)
	return err
}

// Unload closes the rules that Load opened.
func (s *Side) Unload() (err error) {
	if s.Store != nil {
		err = s.Store.Close()
	}
	return errors.Join(err, s.Close())
}

// WarnAgents returns a warning if requested crawler names may be misspelt; nil otherwise.
func WarnAgents(opt *engine.StoreOptions, store *engine.Store) []warning.Warning {
	if !opt.Tokens {
		return nil
	}
	var named flags.RuleTokens
	named.Tokens, named.Complete = store.Tokens()
	return flags.UnclearAgents(flags.AskedAgents(opt), opt.Dialect, named)
}

// SetKinds sets the types of the kept columns to those of the fields in the logs.
func SetKinds(kept []output.KeptColumn, logs *ingest.Logs) {
	for i := range kept {
		kept[i].Kind = logs.Kept()[i].Kind
	}
}

// InputNames returns the names of the logs.
func (p *Pipeline) InputNames() (names []string) {
	for _, in := range p.Logs.Inputs() {
		names = append(names, in.Name)
	}
	return names
}

// KeepAnswers adds the status and bytes of responses to the kept fields, if all logs can have them and at least one
// does. It then reopens the logs, of which it checks the first rows. Pipes cannot be checked: with crawlers of the log,
// the fields are kept, and null if the log lacks them; otherwise only if -keep names them. With the status, it also
// keeps the request method, like KeepRequests, if conduct is reported or if bytes are kept.
func (p *Pipeline) KeepAnswers() (err error) {
	before := len(p.LogOpt.Keep)
	p.Status = p.keepInt("status")
	p.Bytes = p.keepInt("bytes")
	if p.Status > 0 && (p.Now.Opt.Evidence || p.Bytes > 0) {
		p.Method = p.keepField("method", engine.KeptText, true)
	}
	return p.reopen(before)
}

// KeepRequests adds the status and bytes of responses, the request method and, if client is true, the client address
// to the kept fields, if all logs can have them. It then reopens the logs. Logs that can be read only once are not
// checked; if they lack a field, its values are null.
func (p *Pipeline) KeepRequests(client bool) (err error) {
	before := len(p.LogOpt.Keep)
	if client {
		p.Client = p.keepField(cmp.Or(p.LogOpt.Fields.Named[ingest.NameClient], ingest.NameClient), engine.KeptText, true)
	}
	p.Status, p.Bytes, p.Method = p.keepField("status", engine.KeptInt, true), p.keepField("bytes", engine.KeptInt, true), p.keepField("method", engine.KeptText, true)
	return p.reopen(before)
}

// reopen closes and opens the logs, if more than that many fields are kept now.
func (p *Pipeline) reopen(before int) (err error) {
	if len(p.LogOpt.Keep) == before {
		return nil
	}
	opt, names := &p.LogOpt, p.InputNames()
	if err = p.Logs.Close(); err == nil {
		p.Logs, err = ingest.OpenLogs(names, *opt)
	}
	return err
}

// keepInt adds a field to the kept ones, if all logs can have it and at least one does. It returns 1 + its index; 0
// means none.
func (p *Pipeline) keepInt(field string) int { return p.keepField(field, engine.KeptInt, false) }

// keepField is keepInt for values of any type. If blind is true, or a log that names crawlers is a pipe, it keeps the
// field without having seen it, because later rows may have it.
func (p *Pipeline) keepField(field string, kind engine.KeptKind, blind bool) int {
	opt := &p.LogOpt
	column := ingest.KeptColumn{Field: field, Kind: kind}
	for i, k := range opt.Keep {
		if strings.EqualFold(k.Field, column.Field) && k.Kind == column.Kind {
			return i + 1
		}
	}
	piped := slices.ContainsFunc(p.Logs.Inputs(), isPipe)
	if piped && !blind && !opt.Fields.Agents {
		return 0
	}
	blind = blind || piped
	found := blind
	for _, in := range p.Logs.Inputs() {
		if isPipe(in) {
			continue
		}
		one := *opt
		one.Keep = []ingest.KeptColumn{column}
		b, err := firstRows(in, one)
		if errors.Is(err, ingest.ErrNoField) { // the format and header allow no such field
			return 0
		}
		found = found || len(b.Kept) > 0 && slices.Contains(b.Kept[0].Present, true)
	}
	if !found {
		return 0
	}
	column.Optional = blind
	opt.Keep = append(opt.Keep, column)
	return len(opt.Keep)
}

// fieldRows is the number of rows at the beginning of a log that are checked for a field.
const fieldRows = 32

// isPipe reports whether a log can be read only once.
func isPipe(in ingest.Input) bool { return in.Name == msg.Std || in.Size < 0 }

// firstRows returns the first rows of a log that can be read twice, or the error of reading them. It returns an empty
// batch for other logs, and after an error. It does not change the position of open logs.
func firstRows(in ingest.Input, opt ingest.LogOptions) (b engine.Batch, err error) {
	if isPipe(in) {
		return b, nil
	}
	opt.Limit, opt.Ahead = fieldRows, 0
	logs, err := ingest.OpenLogs([]string{in.Name}, opt)
	if err != nil {
		return b, err
	}
	defer logs.Close()
	if !logs.Next(&b) || logs.Err() != nil {
		b.Reset()
	}
	return b, logs.Err()
}

// NamesClients reports whether at least one row has a User-Agent, which identifies the crawler.
func NamesClients(b *engine.Batch) bool {
	return slices.ContainsFunc(b.UserAgents, func(s engine.Span) bool { return s != engine.NoURL })
}

// LogsNameClients reports whether one of the first rows of a log has a User-Agent. It skips logs that can be read
// only once.
func (p *Pipeline) LogsNameClients() bool {
	opt := p.LogOpt
	opt.Fields.Agents = true
	return slices.ContainsFunc(p.Logs.Inputs(), func(in ingest.Input) bool {
		b, _ := firstRows(in, opt) // the run will report the error
		return NamesClients(&b)
	})
}

// warnFiles returns warnings about the files of -in: files in directories that were skipped because of their
// extension, and files that are read more than once.
func (p *Pipeline) warnFiles() (warnings []warning.Warning) {
	files := p.Files
	if files == nil {
		return nil
	}
	if files.Repeated > 0 {
		text := "-in names " + msg.Count(files.Repeated, "file") + " more than once, so these rows count each time: name each file once"
		d := warning.Warning{Code: warning.RepeatedInput, Text: text, Count: files.Repeated}
		for _, r := range files.Repeats[:min(len(files.Repeats), warning.Examples)] {
			d.Examples = append(d.Examples, msg.File(r.First)+" and "+msg.File(r.Again))
		}
		warnings = append(warnings, d)
	}
	if files.Others > 0 {
		text := msg.Count(files.Others, "file") + " in the directories of -in skipped, because the file extension is not that of a log: name logs among them, or use a pattern"
		warnings = append(warnings, warning.Warning{Code: warning.UnreadFiles, Text: text, Count: files.Others, Examples: files.Unread[:min(len(files.Unread), warning.Examples)]})
	}
	return warnings
}

// WarnRows prints the warnings about the rows of the logs, and returns the summary of the run. It returns an error if
// the rows lack something that the run needs.
func (p *Pipeline) WarnRows() (*summary.Report, error) {
	s := p.Summary()
	if text := s.Rows().Bad; text != "" {
		return nil, errors.New(text)
	}
	s.Warnings = slices.Concat(s.Warnings, s.Warn(), p.WarnRejected(s))
	p.WarnRest(s.Warnings)
	p.HintLogs(s)
	return s, nil
}

// HintLogs prints which fields of the logs were read, and a hint if more memory would save time.
func (p *Pipeline) HintLogs(s *summary.Report) {
	p.PrintFields(s)
	p.HintMemory()
}

// PrintFields prints which fields of the logs were read.
func (p *Pipeline) PrintFields(s *summary.Report) {
	for _, line := range s.FieldLines() {
		p.Print(msg.NoCommands(msg.Line(line)) + "\n")
	}
}

// CheckGates returns an error if gates would pass only because there was nothing to check: no request has rules, or
// the single robots.txt is not valid.
func (p *Pipeline) CheckGates(s *summary.Report) error {
	rows, rules := s.Rows(), p.Now.Path
	if rows.Decided > 0 && rows.Without == rows.Decided {
		return fmt.Errorf("-fail has nothing to check: none of %s has a robots.txt in %s; http and https differ, and so do example.com and www.example.com", msg.Count(rows.Read, "row"), msg.File(rules))
	}
	if p.Now.Odd().IsOdd() {
		return fmt.Errorf("-fail has nothing to check: %s is not a robots.txt, so everything is allowed", msg.File(rules))
	}
	return nil
}

// HintMemory prints the memory limit that would suffice, if rules were loaded more than once because of the limit.
func (p *Pipeline) HintMemory() {
	for _, side := range p.Sides() {
		side.HintMemory(side.Store, &p.Console)
	}
}

// WarnRejected returns the warning about rows without a verdict, for commands that cannot list these rows; nil if
// there are few.
func (p *Pipeline) WarnRejected(s *summary.Report) []warning.Warning {
	bad := s.Counts.Reasons[engine.ReasonBadURL.String()] / int64(max(1, len(flags.AgentsOf(&p.Now.Opt))))
	return s.WarnRejected(summary.Sum(s.Counts.Refused)+bad, "robobatch -rejects lists them")
}
