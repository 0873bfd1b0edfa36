package flags

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // time zones for systems without them

	"github.com/robobatch/robobatch/cmd/robobatch/internal/memory"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/summary"
	"github.com/robobatch/robobatch/crawlers/ranges"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/internal/times"
	"github.com/robobatch/robobatch/robots"
)

// A Reading holds the flags about the interpretation of robots.txt and the choice of captures.
type Reading struct{ summary.Reading }

// Flags returns the flags of a Reading without -as-of.
func (r *Reading) Flags() []cli.Flag {
	return []cli.Flag{
		{
			Name: "dialect", Arg: "name", Values: robots.Dialects(), Default: "google",
			Set: cli.Text(&r.Dialect), Doc: `
			How to read robots.txt: rfc9309, google, google-2010 or yandex. robobatch help dialects lists the differences.`,
		},
		{
			Name: "agent-chars", Arg: "set", Rare: true,
			Values: AgentChars, Default: "standard", Set: cli.Text(&r.AgentChars), Doc: `
			Characters in a crawler's name. standard: letters, - and _. extended: also digits and dots.`,
		},
		{
			Name: "yandex-empty-allow", Arg: "what", Rare: true,
			Values: EmptyAllow, Default: "disallow", Set: cli.Text(&r.EmptyAllow), Doc: `
			Effect of "Allow:" without a value in the dialect yandex. disallow: disallows everything. ignore: none.`,
		},
	}
}

// MomentFlags returns Flags with -as-of, which accepts a moment.
func (r *Reading) MomentFlags() []cli.Flag { return r.asOfFlags("") }

// RowTimeFlags returns Flags with -as-of, which accepts a moment or the times of rows.
func (r *Reading) RowTimeFlags() []cli.Flag {
	return r.asOfFlags(" log: use the captures in force at the time of each row.")
}

// SeriesFlags returns Flags with -as-of, which accepts several moments, or a given word that means the first day of
// each month.
func (r *Reading) SeriesFlags(to *[]string, word string) []cli.Flag {
	all := r.asOfFlags(" Separate several by commas. " + word + ": the first day of each month since the first capture.")
	last := &all[len(all)-1]
	last.Set, last.Values, last.List = cli.Words(to), []string{word}, true
	return all
}

// asOfFlags returns Flags with -as-of. more describes what it accepts besides a moment; it begins with a space, or is
// "".
func (r *Reading) asOfFlags(more string) []cli.Flag {
	return append(r.Flags(), cli.Flag{
		Name: "as-of", Arg: "moment", Set: cli.Text(&r.AsOf),
		Doc: "Use the captures that were in force at this time. Write 2026-01-31T18:00:00Z, or " +
			"2026-01-31 for the start of that day in UTC." + more + " Default: the newest capture.",
	})
}

// Agents are the flags that choose crawlers.
type Agents struct {
	Names        []string // of -agent
	Crawlers     string   // the file of -crawlers
	CrawlersHash string   // of that file
	FromLog      bool
	Unknown      string // of -unknown-agents; "" if it is not given
	Cache        string

	Recalls   bool     // the command reports the conduct of crawlers, for which -cache matters with every -as-of
	Ranges    []string // of -ranges
	RangesAge string
	Hosts     string // the file of -hosts
	MaxMemory string // value of -max-memory; "" and "none" mean no limit

	rangesHash string // hash of the files in Ranges and Hosts
}

// Verifies reports whether flags request the verification of crawlers.
func (a *Agents) Verifies() bool { return len(a.Ranges) > 0 || a.Hosts != "" }

// NamesFlag returns the flag -agent; about is its first sentence, and byDefault describes its default.
func (a *Agents) NamesFlag(about, byDefault string) cli.Flag {
	return cli.Flag{
		Name: "agent", Arg: "names", Values: AgentNames(), List: true, Set: cli.Words(&a.Names),
		Doc: about + " @search, @ai and others are sets of known crawlers; @./list.txt is a file with one name per line. May be repeated. Default: " + byDefault,
	}
}

// The first sentences of -agent in commands over logs.
const (
	DecideFor = "Crawlers to decide for: product tokens, separated by commas. Each gives one row per URL."
	CountFor  = "Crawlers to count for: product tokens, separated by commas. A request counts once for each."
)

// EveryClient is the default of -agent in commands that return verdicts.
const EveryClient = "*, which stands for crawlers without their own group."

// CrawlersFlag returns the flag -crawlers, whose file is loaded before any other flag looks up a crawler.
func (a *Agents) CrawlersFlag() cli.Flag {
	return cli.Flag{Name: "crawlers", Arg: "file", Rare: true, Set: func(name string) (err error) {
		a.Crawlers = name
		a.CrawlersHash, err = AddCrawlers(name)
		return err
	}, Doc: `
		A tab-separated table of additional crawlers. Its header row names the columns: token, and optionally
		operator, purposes, names and habits (docs/AGENTS.md).`}
}

// LogFlags returns the flags about crawlers named in logs.
func (a *Agents) LogFlags() []cli.Flag {
	return []cli.Flag{
		{Name: "agent-from-log", Set: cli.Bool(&a.FromLog), Doc: `
			Decide each row for the crawler that its User-Agent names. It must be known, or the row's robots.txt must name it.`},
		{Name: "cache", Arg: "duration", Rare: true, Set: cli.Text(&a.Cache), Doc: `
			How long crawlers may cache robots.txt, such as 90m; 0 for not at all. With -agent-from-log and -as-of
			log, violation is null if
a cached copy allows the URL. A capture's max-age overrides it. Default:
			24h.`},
		{
			Name: "unknown-agents", Arg: "what", Values: UnknownAgents, Rare: true,
			Set: cli.Text(&a.Unknown), Doc: `
			What -agent-from-log does with rows of unidentified clients. star: decide them by the groups for *. skip:
			skip them. Default: star.`,
		},
		{Name: "ranges", Arg: "path", Files: true, Set: cli.Each(&a.Ranges), Doc: `
			Published lists of crawler addresses, to detect impostors (docs/AGENTS.md). A file such as googlebot.json, a
			directory, or token=file for one crawler. May be repeated. Not with -agent.`},
		{Name: "ranges-age", Arg: "duration", Rare: true, Set: cli.Text(&a.RangesAge), Doc: `
			Longest time from a request to a list that proves an impostor. Example: 36h. Default: 7d. Lists that contain
			the address count for 90 days.`},
		{Name: "hosts", Arg: "file", Rare: true, Files: true, Set: cli.NotEmpty(&a.Hosts, "name a file"), Doc: `
			Host names that verify crawlers. Each line has an address, its host name and the addresses of that name,
			separated by tabs.`},
	}
}

// A Question holds the flags that determine verdicts: the crawlers, and how robots.txt is read.
type Question struct {
	Agents
	Reading
	Missing string
	URLAsIs bool
}

// LogFlags returns the flags of a question about a log. about is the first sentence of -agent.
func (q *Question) LogFlags(about string) []cli.Flag {
	return slices.Concat([]cli.Flag{q.NamesFlag(about, EveryClient), q.CrawlersFlag()}, q.Agents.LogFlags(), q.RowTimeFlags(), q.AnswerFlags())
}

// AnswerFlags returns the flags that change answers.
func (q *Question) AnswerFlags() []cli.Flag {
	return []cli.Flag{
		{
			Name: "missing", Arg: "what", Values: Missing, Default: "allow", Rare: true,
			Set: cli.Text(&q.Missing), Doc: `
			Verdict for an origin without a robots.txt in -rules. allow, disallow or null.`,
		},
		{
			Name: "url-as-is", Rare: true,
			Set: cli.Bool(&q.URLAsIs), Doc: "Match URLs byte for byte, without normalising escapes.",
		},
	}
}

// Choose returns the options for the question, except those about memory. It reads the files of -agent, -ranges and
// -hosts.
func (q *Question) Choose(faults *cli.Faults) (opt engine.StoreOptions) {
	var err error
	opt.Dialect, opt.AsOf = q.Reading.Choose(faults)
	opt.RowTimes = q.ByRow()
	if q.URLAsIs {
		opt.Dialect |= robots.URLAsIs
	}
	opt.Agents, err = ExpandAgents(q.Names)
	faults.Add("agent", err)
	if q.FromLog && len(q.Names) > 0 {
		faults.Add("agent-from-log", errors.New("the log identifies the crawlers: leave out -agent"))
	}
	if q.Unknown != "" {
		if !q.FromLog {
			faults.Add("unknown-agents", errors.New("this flag needs -agent-from-log: add it"))
		}
		_, err := cli.Choose("answer", q.Unknown, UnknownAgents)
		faults.Add("unknown-agents", err)
	}
	switch {
	case !q.FromLog:
		opt.LogAgents = engine.LogAgentsOff
	case q.Unknown == Skip:
		opt.LogAgents = engine.LogAgentsSkip
	default:
		opt.LogAgents = engine.LogAgentsStar
	}
	if q.Cache != "" {
		opt.Cache, err = time.ParseDuration(q.Cache)
		switch {
		case err != nil || opt.Cache < 0:
			faults.Add("cache", fmt.Errorf("%q is not a duration: write 24h, 90m or 0", q.Cache))
		case !q.Recalls && (!q.FromLog || !q.ByRow()):
			faults.Add("cache", errors.New("this flag needs -agent-from-log and -as-of log: add them"))
		case opt.Cache == 0:
			opt.Cache = -1
		}
	}
	opt.Ranges = q.chooseRanges(faults)
	opt.Tokens = NeedsRuleTokens(AskedAgents(&opt), opt.Dialect)
	missing, err := cli.Choose("answer", q.Missing, Missing)
	faults.Add("missing", err)
	opt.Missing = engine.Missing(missing)
	return opt
}

// Choose returns the dialect with its options, and the moment that selects captures. The moment is zero for the
// newest captures and for -as-of log.
func (r *Reading) Choose(faults *cli.Faults) (d robots.Dialect, asOf time.Time) {
	d, err := robots.ParseDialect(strings.ToLower(r.Dialect))
	faults.Add("dialect", cli.Hint(err, r.Dialect, robots.Dialects()))
	yandex := d == robots.Yandex || err != nil
	for _, choice := range []struct {
		flag, kind, value string
		known             []string // the second sets the option
		option            robots.Dialect
	}{
		{"agent-chars", "set", r.AgentChars, AgentChars, robots.WideTokens},
		{"yandex-empty-allow", "meaning", r.EmptyAllow, EmptyAllow, robots.EmptyAllowIgnored},
	} {
		i, err := cli.Choose(choice.kind, choice.value, choice.known)
		faults.Add(choice.flag, err)
		if i == 1 {
			d |= choice.option
		}
	}
	if d.Has(robots.EmptyAllowIgnored) && !yandex {
		faults.Add("yandex-empty-allow", errOnlyYandex)
	}
	if !r.ByRow() {
		asOf, err = ParseMoment(r.AsOf)
		faults.Add("as-of", err)
	}
	return d, asOf
}

// CheckMoment returns the error for -as-of log without a log.
func (r *Reading) CheckMoment() error {
	if !r.ByRow() {
		return nil
	}
	return errors.New("\"log\" works only for commands over logs: write a time, such as 2026-01-31T18:00:00Z")
}

// errOnlyYandex is the error for an option that only the dialect yandex has.
var errOnlyYandex = errors.New("this flag is only for the dialect yandex: add -dialect yandex, or leave it out")

// momentLayouts are the accepted formats of a moment. Without a time of day, it is the start of the day; without a
// zone, it is in UTC.
var momentLayouts = []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", time.DateTime, time.DateOnly}

// ParseMoment returns the moment, in UTC; zero for "". Without a time of day, it is the start of the day.
func ParseMoment(s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	for _, layout := range momentLayouts {
		if t, err := time.Parse(layout, s); err == nil && !t.IsZero() {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("invalid time %q: write 2026-01-31T18:00:00Z, or 2026-01-31 for the start of that day in UTC", s)
}

// AskedAgents returns the crawlers that flags name, including those of -ranges TOKEN=FILE.
func AskedAgents(opt *engine.StoreOptions) []string {
	if opt.Ranges == nil {
		return opt.Agents
	}
	return slices.Concat(opt.Agents, opt.Ranges.Asked)
}

// chooseRanges reads the address lists, and records their hash; nil without -ranges and -hosts.
func (a *Agents) chooseRanges(faults *cli.Faults) *ranges.Lists {
	flag := "ranges"
	if len(a.Ranges) == 0 {
		flag = "hosts"
	}
	if a.RangesAge != "" && len(a.Ranges) == 0 {
		faults.Add("ranges-age", errors.New("this flag needs lists of addresses: name them with -ranges"))
	}
	if !a.Verifies() {
		return nil
	}
	if !a.FromLog {
		faults.Add(flag, errors.New("this flag needs -agent-from-log: add it"))
	}
	age, err := parseAge(a.RangesAge)
	faults.Add("ranges-age", err)
	limit, err := memory.Parse(a.MaxMemory)
	if err != nil {
		limit = 0 // reported elsewhere
	}
	most := max(0, limit/ranges.LoadFactor)
	lists, err := ranges.Load(ranges.Options{Paths: a.Ranges, Age: age, Hosts: a.Hosts, Bytes: most})
	if errors.Is(err, ranges.ErrTooLong) {
		err = fmt.Errorf("-max-memory %s: too little to load lists of more than %s: use fewer lists, or a limit of %d times their size: %w", a.MaxMemory, memory.Text(most), ranges.LoadFactor, err)
	}
	faults.Add("", err)
	a.rangesHash = lists.Hash
	return lists
}

// parseAge reads a positive duration, in days such as "7d" or in the format of [time.ParseDuration]; 0 for "".
func parseAge(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	const day, mostDays = 24 * time.Hour, 36_500
	d, err := time.ParseDuration(text)
	if days, ok := strings.CutSuffix(text, "d"); ok {
		var n int
		if n, err = strconv.Atoi(days); err == nil && n <= mostDays {
			d = time.Duration(n) * day
		}
	}
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("%q is not a duration: write 7d or 36h", text)
	}
	return d, nil
}

// Hints returns a hint for each agent whose name is not the token that groups are compared with. If all is set, it
// also returns one hint for all such agents from sets and files. names and the dialect are the results of Choose.
func (a *Agents) Hints(d robots.Dialect, names []string, all bool) (hints []string) {
	var listed []string
	for _, name := range names {
		var text string
		switch token := robots.NewAgent(name, d).Token; {
		case name == "*" || string(token) == name:
			continue
		case token == "":
			text = fmt.Sprintf("agent %q does not begin with a product token (letters, - and _), so only groups for * match it", name)
		default:
			text = fmt.Sprintf("agent %q: groups are matched by its product token, %q", name, token)
		}
		if slices.Contains(a.Names, name) {
			hints = append(hints, text)
		} else {
			listed = append(listed, text)
		}
	}
	if all && len(listed) > 0 {
		hints = append(hints, strings.Join(listed, "; "))
	}
	return hints
}

// NewAsked returns these flags as the statistics of a run record them, with the layout and the kinds of rows. Call it
// after [Question.Choose], which reads the address lists.
func NewAsked(q *Question, l *Logs, layout, where string) summary.Asked {
	a := summary.Asked{
		Missing: q.Missing, URLAsIs: q.URLAsIs, Limit: l.Limit, AgentFromLog: q.FromLog, CrawlersHash: q.CrawlersHash, Cache: q.Cache,
		Layout: layout, Where: where, Reading: q.Reading.Reading, InputForm: l.InputForm,
	}
	if q.Verifies() {
		a.RangesHash, a.RangesAge = q.rangesHash, cmp.Or(q.RangesAge, "7d")
	}
	if q.FromLog {
		a.UnknownAgents = cmp.Or(q.Unknown, Star)
	}
	return a
}

// AgentsOf returns the requested crawlers: * by default.
func AgentsOf(opt *engine.StoreOptions) []string {
	if len(opt.Agents) == 0 {
		return []string{"*"}
	}
	return opt.Agents
}

// A Zone is the time zone for counts by day and hour.
type Zone struct {
	Name string // "" is UTC
	Used bool   // used by something besides a page
}

// Flag returns the flag -timezone.
func (z *Zone) Flag() cli.Flag {
	return cli.Flag{Name: "timezone", Arg: "name", Rare: true, Set: cli.Text(&z.Name), Doc: `
		IANA time zone for days in a report and -partition-by date. Example: Europe/Berlin. Default:
		UTC.`}
}

// Location returns the time zone. If the name is unknown, it adds a fault and returns UTC.
func (z *Zone) Location(faults *cli.Faults) *time.Location {
	loc, err := times.ParseZone(z.Name)
	faults.Add("timezone", err)
	if err != nil {
		return time.UTC
	}
	return loc
}
