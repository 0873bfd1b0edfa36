package robots

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// noteLines are the lines of the files of TestNotesRandom.
var noteLines = []string{
	"User-agent: a", "User-agent: B", "user-agent: *", "User-agent: googlebot", "User-agent: ", "User-agent: __usage_ai-training", "user-agent: __Usage_AI-Training", "Allow: /a", "Disallow: /b",
	"Disallow: /x", "Allow:", "Crawl-delay: 1", "crawl-delay: 2.5 # seconds", "Crawl-delay: soon", "Crawl-delay 3",
	"Clean-param: a&b /x", "CLEAN-PARAM: c", "Clean-param: c d e", "Clean-param f", "Sitemap: https://a.com/s", "", "# nothing", "X-Note: x",
	"Content-Usage: train-ai=n", "content-usage: /x search=y", "Content-Usage", "Content-Usage train-ai=y",
	"  Crawl-delay: 4", "\t\v\fClean-param: g", " License: https://a.com/m", "x Crawl-delay: 5", "\x00Crawl-delay: 6", "cRAWL-dELAY : 7", "Crawl\x00-delay: 8",
	"Content-Signal: search=no", "CONTENT-SIGNAL: /x ai-train=yes", "License: https://a.com/l", "License: /l",
}

// TestNoteInitials checks that all directives begin with a letter that namedIn searches for.
func TestNoteInitials(t *testing.T) {
	for _, directive := range Directives() {
		if directive[0] != 'c' && directive[0] != 'l' && directive != PolicyLines {
			t.Errorf("namedIn does not find %s", directive)
		}
	}
}

// TestNotesRandom compares the notes of random files with the result of Inspect, which reads them with other code.
func TestNotesRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 14))
	found := map[Directive]int{}
	for range 20_000 {
		lines := make([]string, rng.IntN(12))
		for i := range lines {
			lines[i] = noteLines[rng.IntN(len(noteLines))]
		}
		body := []byte([]string{"", "\ufeff"}[rng.IntN(2)] + strings.Join(lines, []string{"\n", "\r\n", "\r"}[rng.IntN(3)]))
		d := []Dialect{RFC9309, Google, Google2010, Yandex}[rng.IntN(4)]
		want, all := Inspect(body, d), NotesOf(body, d, Directives())
		if got := d.CleanParams(all); fmt.Sprint(got) != fmt.Sprint(want.CleanParams) {
			t.Fatalf("%q in %v: clean-param %v, want %v", body, d, got, want.CleanParams)
		}
		for _, name := range []string{"a", "b", "c", "googlebot-news", "yandeximages"} {
			agent := NewAgent(name, d)
			seconds, ok := want.CrawlDelay(agent)
			value, line := delayNote(all, agent)
			if got, err := strconv.ParseFloat(value, 64); (line > 0) != ok || ok && (err != nil || got != seconds) {
				t.Fatalf("%q in %v: delay of %s %q, want %v, %t", body, d, name, value, seconds, ok)
			}
		}
		preferences := preferencesByLine(body, d)
		for _, name := range []string{"a", "b", "c", "googlebot-news", "yandeximages"} {
			bound := preferences.Select(NewAgent(name, d))
			var want []string
			for _, s := range slices.Concat(bound[:ByPolicy]...) {
				want = append(want, fmt.Sprint(s.Line, s.Value))
			}
			if got := notesText(all, NewAgent(name, d), UsageLines, SignalLines); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("%q in %v: preferences of %s %q, want %q", body, d, name, got, want)
			}
		}
		if l := preferences.License; l.Line > 0 {
			if got, want := notesText(all, Agent{}, LicenseLines)[0], fmt.Sprint(l.Line, l.URL); got != want {
				t.Fatalf("%q in %v: license %s, want %s", body, d, got, want)
			}
		}
		for _, n := range all {
			found[n.Directive]++
		}
	}
	for _, directive := range Directives() {
		if found[directive] < 1000 {
			t.Errorf("%d files with %s", found[directive], directive)
		}
	}
}

// preferencesByLine reads the preferences of a robots.txt in one loop over its lines.
func preferencesByLine(body []byte, d Dialect) *Preferences {
	p := &Preferences{}
	open, ended := false, false // there was a user-agent line; the last run of them has ended
	lines := newScanner(string(body), d)
	var l line
	for lines.next(&l) {
		source := SourceOf(Directive(lowerText(l.key)))
		switch {
		case l.kind == kindUserAgent:
			if !open || ended {
				p.Groups = append(p.Groups, PreferenceGroup{Group: Group{Line: l.num}})
			}
			open, ended = true, false
			p.Groups[len(p.Groups)-1].addAgent(l.value, d)
		case l.kind == kindAllow, l.kind == kindDisallow, l.kind == kindCrawlDelay && d.Has(delayInSection):
			ended = true
		case source < NumSources && l.isKey(Sources[source].Directive):
			s := source.Statement(Note{Line: l.num, Value: l.value}, d)
			if open {
				g := &p.Groups[len(p.Groups)-1]
				g.Bound[source] = append(g.Bound[source], s)
			} else if source == BySignal {
				p.Early[source] = append(p.Early[source], s)
			}
			ended = true
		case l.isKey(LicenseLines) && p.License.Line == 0 && validLicense(d, l.value):
			p.License = License{l.num, l.value}
		}
	}
	return p
}

// notesText returns the lines of some directives that bind an agent.
func notesText(all []Notes, a Agent, directives ...Directive) (text []string) {
	for _, n := range all {
		if slices.Contains(directives, n.Directive) {
			for _, note := range n.Of(a) {
				text = append(text, fmt.Sprint(note.Line, note.Value))
			}
		}
	}
	return text
}

// delayNote returns the first Crawl-delay among the notes that bind an agent, and its line; 0 if there is none.
func delayNote(all []Notes, a Agent) (value string, line int32) {
	i := slices.IndexFunc(all, func(n Notes) bool { return n.Directive == CrawlDelayLines })
	if i < 0 {
		return "", 0
	}
	if lines := all[i].Of(a); len(lines) > 0 {
		return lines[0].Value, lines[0].Line
	}
	return "", 0
}

// TestNotesAsked checks that only the lines of the given directives are read.
func TestNotesAsked(t *testing.T) {
	body := []byte("User-agent: *\nCrawl-delay: 1\nClean-param: a\nContent-Usage: a\nContent-Signal: a\nLicense: a://b\nUser-agent: __usage_ai-training\nDisallow: /\n")
	for _, directive := range Directives() {
		all := NotesOf(body, RFC9309, []Directive{directive})
		if len(all) != 1 || all[0].Directive != directive || len(all[0].Lines) != 1 {
			t.Errorf("%s: %v", directive, all)
		}
	}
	if all := NotesOf(body, RFC9309, nil); all != nil {
		t.Errorf("without any: %v", all)
	}
}
