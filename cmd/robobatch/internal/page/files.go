package page

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/robobatch/robobatch/aggregate"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/lint"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/internal/captures"
	"github.com/robobatch/robobatch/internal/times"
	"github.com/robobatch/robobatch/report"
	"github.com/robobatch/robobatch/robots"
)

// shownFiles is the maximum number of robots.txt files on a page.
const shownFiles = 100

// listingsOf returns the robots.txt files to show, in the order of busiest: with the effect of their lines, their
// findings, and a note about the version that is shown.
func listingsOf(src Result, t *texts, busiest []aggregate.BusyFile, opt *engine.StoreOptions, clock times.Clock) []report.File {
	files, look := make([]report.File, 0, len(busiest)), src.Now.Store.NewLookup()
	for i := range busiest {
		f := &busiest[i]
		file := report.File{Origin: string(f.Origin), Origins: max(1, len(f.Sites)), Requests: f.Requests, Uses: usesOf(f.Rules)}
		for _, site := range f.Sites {
			if o := look.Origin(site); o != f.Origin {
				file.Same = append(file.Same, strings.Clone(string(o)))
			}
		}
		slices.Sort(file.Same)
		if f.Versions > 1 && f.First != nil {
			const layout = "2006-01-02 15:04:05"
			file.When = "from " + clock.Time(*f.First).Format(layout) + " to " + clock.Time(*f.Last).Format(layout)
			file.Older = slices.ContainsFunc(busiest, func(o aggregate.BusyFile) bool { return o.Origin == f.Origin && o.Last != nil && o.Last.After(*f.Last) })
		}
		key, ok := src.Now.Store.TextKey(f.Ruling)
		file.Text = t.bodies[key]
		// Say which version of the text is shown, or why none is; "" if there is only one version.
		n, note := t.newest[f.Origin], ""
		switch {
		case src.Now.Pack() != "":
			note = "The rules come from a pack, which does not contain the text. These are the rules in force for these crawlers."
		case file.Text == nil:
			note = "The text in force is no longer available. These are its rules for these crawlers."
		}
		if f.Versions > 1 {
			if note != "" {
				note += " "
			}
			note += fmt.Sprintf("%d versions were in force during the log", f.Versions)
			if file.When != "" {
				note += ", this one for requests " + file.When
			}
			note += "."
		}
		if ok && n.key != (captures.Key{}) && n.key != key {
			if note != "" {
				note += " "
			}
			note += fmt.Sprintf("This is not the newest version, which is from %s.", n.at.UTC().Format(time.DateOnly))
		} else if ok && f.Versions > 1 && n.key == key {
			note += " It is the newest version."
		}
		file.Note = note
		if file.Text != nil {
			file.Report = robots.Inspect(file.Text, opt.Dialect)
			for _, one := range lint.Findings(&lint.Place{Origin: string(f.Origin)}, file.Text, file.Report.Diagnostics) {
				code, _ := lint.Lookup(robots.Code(one.Code))
				file.Findings = append(file.Findings, report.Finding{Line: one.Line, Severity: one.Severity, Code: one.Code, Text: one.Text, What: code.What, Do: one.Do})
			}
		}
		files = append(files, file)
	}
	return files
}

// texts holds the texts of robots.txt files: those that were in force, and the newest ones.
type texts struct {
	bodies map[captures.Key][]byte
	newest map[robots.Origin]newest
	sent   map[robots.Origin][]newest // texts by origin, in reading order
}

// Limits: the revisions of one origin, and the number of origins with revisions.
const (
	mostSent    = 1000
	mostOrigins = 1000
)

// revisions returns, for each origin, the texts that it sent, in order of time and without repetitions. Origins are
// sorted. It sorts t.sent. Body is nil for texts that were not in force.
func (t *texts) revisions(clock times.Clock) (all []report.Text) {
	for _, origin := range slices.Sorted(maps.Keys(t.sent)) {
		sent := t.sent[origin]
		slices.SortStableFunc(sent, func(a, b newest) int { return a.at.Compare(b.at) })
		for i, one := range sent {
			if i == 0 || one.key != sent[i-1].key {
				all = append(all, report.Text{Origin: string(origin), At: clock.Time(one.at), Sent: one.at, Body: t.bodies[one.key]})
			}
		}
	}
	return all
}

// A newest is the newest text of an origin.
type newest struct {
	at  time.Time
	key captures.Key
}

// findTexts reads the texts of robots.txt files again. If the rules are a pack, or busiest is empty, it finds
// nothing.
func findTexts(ctx context.Context, src Result, busiest []aggregate.BusyFile, d robots.Dialect) (*texts, error) {
	t := &texts{map[captures.Key][]byte{}, map[robots.Origin]newest{}, map[robots.Origin][]newest{}}
	if src.Now.Pack() != "" || len(busiest) == 0 {
		return t, nil
	}
	look := src.Now.Store.NewLookup()
	for i := range busiest {
		t.newest[busiest[i].Origin] = newest{}
		for _, site := range busiest[i].Sites { // others have the same text
			if len(t.newest) < mostOrigins {
				t.newest[robots.Origin(strings.Clone(string(look.Origin(site))))] = newest{}
			}
		}
		if key, ok := src.Now.Store.TextKey(busiest[i].Ruling); ok {
			t.bodies[key] = nil
		}
	}
	origins := slices.Sorted(maps.Keys(t.newest))
	for r, err := range src.Now.About(origins).Responses() {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, fmt.Errorf("read rules: %w", err)
		}
		if !d.HasRules(&r) {
			continue
		}
		key := captures.KeyOf(r.Body)
		if _, wanted := t.bodies[key]; wanted {
			t.bodies[key] = r.Body
		}
		if sent := t.sent[r.Origin]; r.URL == "" && len(sent) < mostSent && (len(sent) == 0 || sent[len(sent)-1].key != key) {
			t.sent[r.Origin] = append(sent, newest{r.FetchedAt, key})
		}
		if n, wanted := t.newest[r.Origin]; wanted && r.URL == "" && !r.FetchedAt.Before(n.at) {
			t.newest[r.Origin] = newest{r.FetchedAt, key}
		}
	}
	return t, nil
}

// usesOf converts the counts of rules for the page. Of the rules that took precedence, only the first is kept.
func usesOf(rules []aggregate.RuleCount) []report.Use {
	uses := make([]report.Use, len(rules))
	for i := range rules {
		r := &rules[i]
		uses[i] = report.Use{Line: r.Line, Allow: r.Allow, Rule: r.Rule, Asked: r.Asked, Decided: countOf(&r.Decided), Matched: countOf(&r.Matched)}
		if len(r.WonBy) > 0 {
			uses[i].WonBy, uses[i].Several = r.WonBy[0].Line, len(r.WonBy) > 1
		}
	}
	return uses
}

// countOf converts a count for the page.
func countOf(m *aggregate.Matches) report.Count {
	return report.Count{Requests: m.Requests, URLs: m.URLs, Failed: m.Failed, Bytes: m.Bytes}
}
