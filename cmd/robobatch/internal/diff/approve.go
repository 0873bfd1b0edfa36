package diff

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/ci"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/msg"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/internal/atomicfile"
	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/internal/storage"
	"github.com/robobatch/robobatch/internal/witness"
	"github.com/robobatch/robobatch/robots"
)

// An approval is one approved change for one crawler. A line of an approvals file may name several crawlers, so this
// one contains two approvals:
//
//	closed GPTBot,* https://www.example.com + Disallow: /tmp/ old=0123456789abcdef new=89abcdef01234567
//
// The kind is closed, opened, or an answer about a use, such as train-ai=y. The added or removed line only informs
// the reviewer. old is a hash of the previous robots.txt, and new is a hash of the rules and preferences of the new
// one, so that only this change is approved. Comments and the order of lines do not affect the hashes.
type approval struct{ kind, agent, origin, line, old, now string }

// exampleApproval is an approval line for messages.
const exampleApproval = "closed GPTBot,* https://www.example.com + Disallow: /tmp/ old=0123456789abcdef new=89abcdef01234567"

// mostApprovals is the maximum number of approvals in a generated file: people could not review more.
const mostApprovals = 10_000

// Approvals holds the changes that a file approves, and collects the changes that are found, to write such a file. It
// is used in runs without a log.
type Approvals struct {
	name   string            // name of the file to read; "" means none
	read   map[approval]bool // true once a change used the approval
	made   map[approval]bool // for the file to be generated; nil without one
	agents []robots.Agent    // of the run
	names  []string          // of the agents, as requested

	mu    sync.Mutex
	sites map[string]site // by origin: sites whose rows have not come yet
	at    changedSite     // site of the last row

	oldRules, newRules *engine.Lookup

	closed, opened, preferences []int64 // number of paths with approved changes, by agent
}

// A preferenceKey is a use and the index of an agent.
type preferenceKey struct {
	agent int
	use   robots.Use
}

// A changedSite is the site whose rows are currently counted.
type changedSite struct {
	site
	origin      string
	old, now    string                     // hashes of the site
	of          [][2]claims                // by agent: old and new claims
	moved       []string                   // by agent: the User-agent line that was added or removed; "" if the same line still binds the agent
	preferences map[preferenceKey][]string // see [Approvals.preferenceLines]
}

// readApprovals reads a file of approvals, as [Approvals.write] writes it. If the name is empty or the file does not
// exist, nothing is approved. The error names the first line that is not an approval.
func readApprovals(name string) (*Approvals, error) {
	a := &Approvals{name: name, read: map[approval]bool{}, sites: map[string]site{}}
	if name == "" {
		return a, nil
	}
	text, err := storage.ReadAll(name)
	if errors.Is(err, fs.ErrNotExist) {
		return a, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", msg.File(name), atomicfile.WithoutPath(err))
	}
	n := 0
	for line := range bytes.Lines(text) {
		n++
		words := strings.Fields(string(line))
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		last := len(words) - 1
		if len(words) == 4 && strings.HasPrefix(words[3], "old=") {
			return nil, fmt.Errorf("%s:%d: an earlier version approved %s instead of a change of a rule: approve again with -approve", msg.File(name), n, msg.Line(words[2]))
		}
		now, ok := strings.CutPrefix(words[last], "new=")
		old, isOld := strings.CutPrefix(words[max(0, last-1)], "old=")
		if !ok || !isOld || len(words) < 7 {
			return nil, fmt.Errorf("%s:%d: %q is not an approval: rebuild the file with -approve, or write a line like %s", msg.File(name), n, msg.Line(string(line)), exampleApproval)
		}
		for agent := range strings.SplitSeq(words[1], ",") {
			a.read[approval{words[0], strings.ToLower(agent), words[2], strings.Join(words[3:last-1], " "), old, now}] = false
		}
	}
	return a, nil
}

// chooseApprovals reads the file of -baseline, and prepares to collect changes for -approve. Both flags are faults if
// the run has a log.
func (d *run) chooseApprovals(g *given, faults *cli.Faults) {
	if !d.noLog && g.baseline+g.approve != "" {
		faults.Add(map[bool]string{true: "baseline", false: "approve"}[g.baseline != ""], errors.New("-approve compares the patterns of both sides, not the requests of a log: leave out -in"))
	}
	var err error
	d.approved, err = readApprovals(g.baseline)
	faults.Add("baseline", err)
	if d.approve = g.approve; d.approve != "" && err == nil {
		d.approved.made = map[approval]bool{}
	}
}

// isUsed reports whether approvals are read or generated.
func (a *Approvals) isUsed() bool { return len(a.read) > 0 || a.made != nil }

// addSite adds a site before its rows come. The rows of a site must be consecutive, because enterSite removes the
// site. Another goroutine may call addSite. It does nothing if approvals are neither read nor generated.
func (a *Approvals) addSite(origin robots.Origin, s site) {
	if a.isUsed() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.sites[strings.Clone(string(origin))] = s
	}
}

// enterSite makes the site of an origin the current one, and removes it from sites. It does nothing if the site is
// already current.
func (a *Approvals) enterSite(origin string) {
	if a.at.origin == origin {
		return
	}
	a.mu.Lock()
	s := a.sites[origin]
	delete(a.sites, origin)
	a.mu.Unlock()
	at := changedSite{site: s, origin: strings.Clone(origin), preferences: map[preferenceKey][]string{}, old: noFile, now: s.now.rulesHash(a.agents)}
	if s.old != nil {
		at.old = s.old.hash
	}
	for _, agent := range a.agents {
		at.of = append(at.of, [2]claims{s.old.claims(agent), s.now.claims(agent)})
		moved := ""
		switch {
		case s.now == nil:
			moved = "- robots.txt"
		case s.old == nil:
			moved = "+ robots.txt"
		default:
			was, farWas := s.old.bindingName(agent)
			is, farIs := s.now.bindingName(agent)
			if farIs < farWas {
				moved = "+ User-agent: " + word(is)
			} else if farIs > farWas {
				moved = "- User-agent: " + word(was)
			}
		}
		at.moved = append(at.moved, moved)
	}
	a.at = at
}

// Write counts the approved changes of a batch, and collects all changes for the file to be generated. It skips rows
// without a site or a valid URL. It returns an error if there are more than mostApprovals changes to write.
func (a *Approvals) Write(b *engine.Batch) error {
	if !a.isUsed() {
		return nil
	}
	agents := len(a.agents)
	if a.closed == nil {
		a.closed, a.opened, a.preferences = make([]int64, agents), make([]int64, agents), make([]int64, agents)
	}
	a.newRules.Use(b)
	a.oldRules.Use(b.Old)
	for i, id := range b.Sites {
		if id == engine.NoSite {
			continue
		}
		u, err := robots.SplitURL(b.URL(i))
		if err != nil {
			continue
		}
		a.enterSite(string(u.Prefix))
		for agent := range agents {
			at := i*agents + agent
			if change := b.Changes[at]; change == engine.Closed && a.recordChange(change.String(), agent, a.responsibleLine(b, i, agent)) {
				a.closed[agent]++
			} else if change == engine.Opened && a.recordChange(change.String(), agent, a.responsibleLine(b, i, agent)) {
				a.opened[agent]++
			}
			if len(b.Preferences) == 0 || b.Preferences[at] == b.Old.Preferences[at] {
				continue
			}
			approved, changed := true, false
			was, now := b.Old.Preferences[at].Uses(), b.Preferences[at].Uses()
			for use := range robots.NumUses {
				if to := now[use]; to != was[use] {
					changed = true
					for _, line := range a.preferenceLines(b, i, agent, use) {
						approved = a.recordChange(use.String()+"="+answerText(to), agent, line) && approved
					}
				}
			}
			if changed && approved {
				a.preferences[agent]++
			}
		}
	}
	if len(a.made) > mostApprovals {
		return fmt.Errorf("-approve: more than %s changes, too many to review: approve fewer sites at once, or for fewer crawlers with -agent", msg.Number(mostApprovals))
	}
	return nil
}

// recordChange reports whether the file approves a change for an agent, which the given line causes, and marks that
// approval as used. It also adds the change to the file to be generated, if there is one.
func (a *Approvals) recordChange(kind string, agent int, line string) bool {
	change := approval{kind, word(a.names[agent]), word(a.at.origin), line, a.at.old, a.at.now}
	if a.made != nil {
		a.made[change] = true
	}
	change.agent = strings.ToLower(change.agent)
	_, ok := a.read[change]
	if ok {
		a.read[change] = true
	}
	return ok
}

// responsibleLine returns the line that changes the verdict of a row: the rule that decides now, if it was added, or
// else the rule that decided before, if it was removed; "- rules" if there is neither. If the crawler moved to a
// different group, the line is the User-agent line of that group. If only one side has a robots.txt, the line stands
// for the whole file.
func (a *Approvals) responsibleLine(b *engine.Batch, row, agent int) string {
	if moved := a.at.moved[agent]; moved != "" {
		return moved
	}
	at := row*len(a.agents) + agent
	was := "- rules"
	for k, side := range []struct {
		batch *engine.Batch
		rules *engine.Lookup
		of    *readRules
	}{{b.Old, a.oldRules, a.at.site.old}, {b, a.newRules, a.at.site.now}} {
		if id := side.batch.Verdicts[at].Rule; id != engine.NoRule {
			rule := side.rules.Rule(side.batch.Rulings[row], agent, id)
			rule.Pattern = side.of.dialect.PatternOf(rule.Value)
			if _, is := slices.BinarySearchFunc(a.at.of[agent][1-k][0], claimOf(rule), witness.Compare); !is {
				was = "-+"[k:k+1] + " " + line(rule.String())
			}
		}
	}
	return was
}

// preferenceLines returns the lines that may have changed the preference of a row for one use: the added preferences,
// or else the removed ones, or else the [Approvals.responsibleLine]. If the crawler moved to a different group, the
// only line is the User-agent line of that group.
func (a *Approvals) preferenceLines(b *engine.Batch, row, agent int, use robots.Use) (lines []string) {
	if moved := a.at.moved[agent]; moved != "" {
		return []string{moved}
	}
	key := preferenceKey{agent, use}
	if lines, known := a.at.preferences[key]; known {
		return lines
	}
	for k, side := range []*readRules{a.at.site.now, a.at.site.old} {
		other := a.at.of[agent][k] // of the other side
		for s, statements := range side.said.Select(a.agents[agent]) {
			for i := range statements {
				u := &statements[i]
				_, is := slices.BinarySearchFunc(other[1+s], statementClaim(u), witness.Compare)
				if !is && (u.Uses[use] != robots.Unstated || robots.Sources[s].Hides) {
					lines = append(lines, "+-"[k:k+1]+" "+line(robots.Sources[s].Key+u.Value))
				}
			}
		}
		if len(lines) > 0 {
			a.at.preferences[key] = lines
			return lines
		}
	}
	return []string{a.responsibleLine(b, row, agent)}
}

// line encodes a line of a robots.txt as words of the approvals file.
func line(text string) string {
	key, value, _ := strings.Cut(text, ": ")
	return key + ": " + word(value)
}

// word encodes a text as one word of the approvals file: separators and unprintable bytes are escaped.
func word(text string) string {
	var sb strings.Builder
	for i, r := range text {
		_, size := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError || r == ',' || !unicode.IsPrint(r) || unicode.IsSpace(r) {
			for _, c := range []byte(text[i : i+size]) {
				fmt.Fprintf(&sb, "%%%02X", c)
			}
			continue
		}
		sb.WriteRune(r)
	}
	return sb.String()
}

// countApproved returns the number of paths for which changes of a kind of -fail are approved for an agent. The kind
// changed is the sum of closed and opened. It is 0 for other_rule, which cannot be approved, and if a is nil.
func (a *Approvals) countApproved(kind string, agent int) int64 {
	if a == nil || a.closed == nil {
		return 0
	}
	switch kind {
	case engine.Closed.String():
		return a.closed[agent]
	case engine.Opened.String():
		return a.opened[agent]
	case otherPreference:
		return a.preferences[agent]
	case engine.OtherRule.String():
		return 0
	}
	return a.closed[agent] + a.opened[agent]
}

// notes describes the approved changes, and approvals without a matching change; nil if there are neither, or if a is
// nil.
func (a *Approvals) notes() (notes []string) {
	if a == nil {
		return nil
	}
	n, idle, places := int64(0), int64(0), map[string]bool{}
	for entry, used := range a.read {
		if used {
			n++
			continue
		}
		idle++
		places[entry.origin+" "+entry.line] = true
	}
	if n > 0 {
		notes = append(notes, fmt.Sprintf("%s approves %s above, which the gates ignore.", msg.File(a.name), msg.Count(n, "change")))
	}
	if idle > 0 {
		names := slices.Sorted(maps.Keys(places))
		if more := len(names) - shownParts; more > 0 {
			names = append(names[:shownParts], fmt.Sprintf("%d more", more))
		}
		notes = append(notes, fmt.Sprintf("Ignored: %s of %s without a matching change of the previous robots.txt (%s). Remove them, or rebuild the file with -approve.",
			msg.Count(idle, "approval"), msg.File(a.name), msg.Line(strings.Join(names, ", "))))
	}
	return notes
}

// writeFile writes a file that approves all collected changes, sorted by origin. Crawlers with the same change share a
// line.
func (a *Approvals) writeFile(w io.Writer) error {
	agents := map[approval][]string{} // agents of changes that differ only in the crawler
	for entry := range a.made {
		name := entry.agent
		entry.agent = ""
		agents[entry] = append(agents[entry], name)
	}
	lines := make([]string, 0, len(agents))
	for entry, names := range agents {
		slices.Sort(names)
		lines = append(lines, fmt.Sprintf("%s %s %s %s old=%s new=%s\n", entry.kind, strings.Join(names, ","), entry.origin, entry.line, entry.old, entry.now))
	}
	slices.SortFunc(lines, func(x, y string) int {
		return cmp.Or(cmp.Compare(strings.Fields(x)[2], strings.Fields(y)[2]), cmp.Compare(x, y))
	})
	_, err := io.WriteString(w, "# Intended changes of robots.txt. Written by robobatch diff -approve, for robobatch diff -baseline.\n"+
		"# A line applies only if the robots.txt before the change (old) and the rules after it (new) have these hashes.\n"+strings.Join(lines, ""))
	return err
}

// judge applies the gates of -fail to the crawlers of a report. Approved changes do not count.
func judge(gates []ci.Gate, r *Report) []ci.Verdict {
	verdicts := []ci.Verdict{}
	for _, g := range gates {
		for i := range r.Agents {
			a := &r.Agents[i]
			if !g.AppliesTo(a.Agent) {
				continue
			}
			count, known := map[string]Count{"closed": a.Closed, "opened": a.Opened, "other_rule": a.OtherRule, otherPreference: a.OtherPreference}[g.Kind]
			if !known { // changed
				count = Count{
					Requests: a.Closed.Requests + a.Opened.Requests + a.OtherRule.Requests, URLs: a.Closed.URLs + a.Opened.URLs + a.OtherRule.URLs,
				}
			}
			left := count
			left.Requests -= r.approved.countApproved(g.Kind, i)
			what := r.counts(left)
			if left != count {
				what += " not approved"
			}
			verdicts = append(verdicts, g.Judge(a.Agent, left.Requests, a.Requests, what))
		}
	}
	return verdicts
}
