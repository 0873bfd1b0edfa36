package diff

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/robobatch/robobatch/aggregate"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/ci"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/say"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/internal/atomicfile"
	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/internal/place"
	"github.com/robobatch/robobatch/robots"
)

// An approval is a change that a file of approvals has, for one crawler:
//
//	closed GPTBot,* https://www.example.com/tmp/ old=0123456789abcdef
//
// has two. The kind is closed, opened, or an answer about a use, such as train-ai=y. The place is an origin and a
// family of paths, see [aggregate.Family]. The hash is of the robots.txt before, so that an approval ends with the
// change that it was made for.
type approval struct{ kind, agent, place, old string }

// noFile stands for the hash of a robots.txt that there is not.
const noFile = "none"

// mostApprovals is how many approvals a file is made with: nobody reviews more.
const mostApprovals = 10_000

// Approvals are the changes that a file approves, and those that there are, for one to be made. It is for a run
// without a log.
type Approvals struct {
	name   string            // of the file that is read; "" is none
	read   map[approval]bool // true once a change was approved by it
	made   map[approval]bool // for the file to be made; nil without one
	hashes map[robots.Origin]string
	agents []string // of the run

	closed, opened, wishes []int64 // paths of approved changes, by agents
}

// readApprovals reads a file that [Approvals.write] wrote. Without a name, or if there is no such file, nothing is
// approved.
func readApprovals(name string) (*Approvals, error) {
	a := &Approvals{name: name, read: map[approval]bool{}, hashes: map[robots.Origin]string{}}
	if name == "" {
		return a, nil
	}
	text, err := place.ReadAll(name)
	if errors.Is(err, fs.ErrNotExist) {
		return a, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", say.File(name), atomicfile.Cause(err))
	}
	n := 0
	for line := range bytes.Lines(text) {
		n++
		words := strings.Fields(string(line))
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		old, ok := strings.CutPrefix(words[len(words)-1], "old=")
		if !ok || len(words) != 4 {
			return nil, fmt.Errorf("%s:%d: %q is no approval: make the file again with -approve, or write as in closed GPTBot,* https://www.example.com/tmp/ old=0123456789abcdef", say.File(name), n, say.Line(string(line)))
		}
		for agent := range strings.SplitSeq(words[1], ",") {
			a.read[approval{words[0], strings.ToLower(agent), words[2], old}] = false
		}
	}
	return a, nil
}

// chooseApprovals takes the flags about approvals.
func (d *diffing) chooseApprovals(g *given, faults *cli.Faults) {
	if !d.noLog && g.baseline+g.approve != "" {
		faults.Add(map[bool]string{true: "baseline", false: "approve"}[g.baseline != ""], errors.New("changes are approved as the patterns show them, not as a log does: leave out -in"))
	}
	var err error
	d.approved, err = readApprovals(g.baseline)
	faults.Add("baseline", err)
	if d.approve = g.approve; d.approve != "" && err == nil {
		d.approved.made = map[approval]bool{}
	}
}

// note notes the robots.txt of an origin before the change.
func (a *Approvals) note(origin robots.Origin, body []byte) {
	sum := sha256.Sum256(body)
	a.hashes[robots.Origin(strings.Clone(string(origin)))] = hex.EncodeToString(sum[:8])
}

// Write counts the changes of a batch that are approved.
func (a *Approvals) Write(b *engine.Batch) error {
	if len(a.read) == 0 && a.made == nil {
		return nil
	}
	agents := len(a.agents)
	if a.closed == nil {
		a.closed, a.opened, a.wishes = make([]int64, agents), make([]int64, agents), make([]int64, agents)
	}
	for i, site := range b.Sites {
		if site == engine.NoSite {
			continue
		}
		for agent := range agents {
			at := i*agents + agent
			if change := b.Changes[at]; change == engine.Closed {
				a.count(a.closed, b, i, agent, []string{change.String()})
			} else if change == engine.Opened {
				a.count(a.opened, b, i, agent, []string{change.String()})
			}
			if len(b.Preferences) == 0 || b.Preferences[at] == b.Old.Preferences[at] {
				continue
			}
			var kinds []string
			was, now := b.Old.Preferences[at].Uses(), b.Preferences[at].Uses()
			for use := range robots.NumUses {
				if to := now[use]; to != was[use] {
					kinds = append(kinds, use.String()+"="+answerText(to))
				}
			}
			if len(kinds) > 0 {
				a.count(a.wishes, b, i, agent, kinds)
			}
		}
	}
	if len(a.made) > mostApprovals {
		return fmt.Errorf("-approve: there are more than %s changes, and nobody reviews so many: approve fewer sites at once, or for fewer crawlers with -agent", say.Number(mostApprovals))
	}
	return nil
}

// count counts a row for an agent if all kinds of its changes are approved.
func (a *Approvals) count(to []int64, b *engine.Batch, row, agent int, kinds []string) {
	url := b.URL(row)
	u, err := robots.SplitURL(url)
	if err != nil {
		return
	}
	family := string(aggregate.Family(url[len(u.Prefix):]))
	for strings.Contains(family, "//") { // one directory, for a reader
		family = strings.ReplaceAll(family, "//", "/")
	}
	at := approval{agent: word(a.agents[agent]), place: word(string(u.Prefix) + family)}
	at.old = cmp.Or(a.hashes[robots.Origin(u.Prefix)], noFile)
	approved := true
	for _, at.kind = range kinds {
		if a.made != nil {
			a.made[at] = true
		}
		read := at
		read.agent = strings.ToLower(at.agent)
		if _, ok := a.read[read]; ok {
			a.read[read] = true
		} else {
			approved = false
		}
	}
	if approved {
		to[agent]++
	}
}

// word returns a text as a word of the file: bytes that would end it, or that nobody can read, are escaped.
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

// of returns how many changes of a kind are approved for an agent; 0 without any approvals.
func (a *Approvals) of(kind string, agent int) int64 {
	if a == nil || a.closed == nil {
		return 0
	}
	switch kind {
	case engine.Closed.String():
		return a.closed[agent]
	case engine.Opened.String():
		return a.opened[agent]
	case otherPreference:
		return a.wishes[agent]
	case engine.OtherRule.String():
		return 0
	}
	return a.closed[agent] + a.opened[agent]
}

// notes says what was approved, and which approvals had no effect.
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
		places[entry.place] = true
	}
	if n > 0 {
		notes = append(notes, fmt.Sprintf("%s approves %s above; the gates leave them out.", say.File(a.name), say.Count(n, "change")))
	}
	if idle > 0 {
		names := slices.Sorted(maps.Keys(places))
		if more := len(names) - shownParts; more > 0 {
			names = append(names[:shownParts], fmt.Sprintf("%d more", more))
		}
		notes = append(notes, fmt.Sprintf("Ignored: %s of %s, which fit no change of the robots.txt as it was before (%s). Remove them, or make the file again with -approve.",
			say.Count(idle, "approval"), say.File(a.name), say.Line(strings.Join(names, ", "))))
	}
	return notes
}

// write writes the file that approves all changes.
func (a *Approvals) write(w io.Writer) error {
	agents := map[approval][]string{} // of changes that are alike but for the crawler
	for entry := range a.made {
		name := entry.agent
		entry.agent = ""
		agents[entry] = append(agents[entry], name)
	}
	lines := make([]string, 0, len(agents))
	for entry, names := range agents {
		slices.Sort(names)
		lines = append(lines, fmt.Sprintf("%s %s %s old=%s\n", entry.kind, strings.Join(names, ","), entry.place, entry.old))
	}
	slices.SortFunc(lines, func(x, y string) int {
		return cmp.Or(cmp.Compare(strings.Fields(x)[2], strings.Fields(y)[2]), cmp.Compare(x, y))
	})
	_, err := io.WriteString(w, "# The changes of robots.txt that are meant. robobatch diff -approve made this for robobatch diff -baseline.\n"+
		"# A line has no effect once the robots.txt before the change is another than the one with this hash.\n"+strings.Join(lines, ""))
	return err
}

// judge returns the verdicts of gates on the crawlers of a report. Approved changes do not count.
func judge(gates []ci.Gate, r *Report) []ci.Verdict {
	verdicts := []ci.Verdict{}
	for _, g := range gates {
		for i := range r.Agents {
			if a := &r.Agents[i]; g.About(a.Agent) {
				count := kindOf(a, g.Kind)
				left := count
				left.Requests -= r.approved.of(g.Kind, i)
				what := r.counts(left)
				if left != count {
					what += " that are not approved"
				}
				verdicts = append(verdicts, g.Judge(a.Agent, left.Requests, a.Requests, what))
			}
		}
	}
	return verdicts
}
