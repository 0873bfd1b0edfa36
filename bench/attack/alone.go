//go:build unix

package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/internal/measure"
	"github.com/robobatch/robobatch/robots"
)

// The most memory that commands may hold that take rules alone: under -max-memory 64MiB, which is a tenth more and 16
// MiB, and without that flag, for files of up to 500 KiB.
const (
	limitedBound = 64<<20 + 64<<20/10 + 16<<20
	aloneBound   = 128 << 20
)

// A loner is a command that takes rules alone.
type loner struct {
	name string
	asks bool // it answers about URLs
	// arguments returns the command's arguments for the damaged file and another one, and the text on
	// standard input: URLs and a slow reader's answers about them.
	arguments func(path, other string, asked []row) (stdin string, all []string)
	// judge judges its output by the answers of the slow reader, of the damaged file and of the other one.
	judge func(l *lonely, out []byte, code int) (judgement, string)
}

// lonely is the request to a loner.
type lonely struct {
	data, other []byte
	asked, then []row // answers by data, and by other
}

var loners = []loner{
	{"diff", true, func(path, other string, _ []row) (string, []string) {
		return "", []string{"diff", "-old", other, "-rules", path, "-max-memory", "64MiB", "-print", "json", "-agent", "*"}
	}, judgeDiff},
	{"diff, all agents", true, func(path, other string, _ []row) (string, []string) {
		return "", []string{"diff", "-old", other, "-rules", path, "-max-memory", "64MiB", "-print", "json"}
	}, judgeDiff},
	{"lint", false, func(path, _ string, _ []row) (string, []string) {
		return "", []string{"lint", "-rules", path, "-origin", site, "-print", "json"}
	}, judgeLint},
	{"explain", true, func(path, _ string, asked []row) (string, []string) {
		return listOf(asked, func(r row) string { return r.URL }), []string{"explain", "-quiet", "-rules", path, "-origin", site, "-print", "json"}
	}, judgeExplain},
	{"check", true, func(path, _ string, asked []row) (string, []string) {
		return listOf(asked, func(r row) string {
			return map[bool]string{true: "allow * ", false: "disallow * "}[*r.Allowed] + r.URL
		}), []string{"check", "-quiet", "-rules", path, "-origin", site, "-expect", "-", "-print", "json"}
	}, judgeCheck},
	{"rules", false, func(path, _ string, _ []row) (string, []string) {
		return "", []string{"rules", "-quiet", "-rules", path, "-origin", site, "-out", "-"}
	}, judgeListing},
}

// listOf returns a line of each row.
func listOf(rows []row, line func(row) string) string {
	var text strings.Builder
	for _, r := range rows {
		text.WriteString(line(r) + "\n")
	}
	return text.String()
}

// aloneTarget returns the target of a command that takes rules alone. The rules are text that a stranger may write into
// a pull request.
func (a *attack) aloneTarget(l *loner) target {
	return target{
		name: "alone/" + l.name, text: true, partly: true,
		bases: func(r *rand.Rand) (bases []*base, err error) {
			for _, size := range []int{300, 16 << 10, robots.MaxBytes - 1000} {
				for _, write := range hostileRules[:min(len(hostileRules), 2*robots.MaxBytes/size)] { // few are large: they take long
					text := []byte("User-agent: *\n")
					for len(text) < size {
						text = write(r, text)
					}
					bases = append(bases, &base{data: text, rare: size > 100_000})
				}
			}
			return bases, nil
		},
		try: func(r *rand.Rand, b *base, _ *mutation, data []byte) (*result, judgement, string) {
			q := &lonely{data: data, other: b.others[r.IntN(len(hostileRules))].data}
			if other := b.others[r.IntN(len(b.others))]; r.IntN(8) == 0 && (!other.rare || r.IntN(rarely) == 0) {
				q.other = other.data
			}
			if l.asks {
				urls := askedURLs(r, data, q.other)
				q.asked, q.then = answers(data, urls), answers(q.other, urls)
			}
			path, remove := a.file("robots.txt", data)
			defer remove()
			other := filepath.Join(filepath.Dir(path), "other.txt")
			if err := os.WriteFile(other, q.other, 0o666); err != nil {
				panic(err) // nothing works without a directory for temporary files
			}
			stdin, arguments := l.arguments(path, other, q.asked)
			out, res := a.runMeasured(filepath.Dir(path), []byte(stdin), arguments...)
			code := res.code
			if code == 1 && (l.name == "lint" || l.name == "check") { // lint found errors, check an answer that is none
				res.code = 0
			}
			most := int64(aloneBound)
			if slices.Contains(arguments, "-max-memory") {
				most = limitedBound
			}
			switch {
			case res.stats.Peak > most:
				return &res, wrong, fmt.Sprintf("it held %d MB, and may hold %d", res.stats.Peak>>20, most>>20)
			case res.stats.Peak == 0 && res.readErr == nil:
				return &res, wrong, "nobody knows how much memory it held"
			case code == 2:
				return &res, refused, ""
			}
			j, reason := l.judge(q, out, code)
			return &res, j, reason
		},
	}
}

// answers returns the rows of URLs of the site, by its robots.txt, as [oracle] decides them.
func answers(body []byte, urls []string) (rows []row) {
	rules, _ := robots.Parse(body, dialect).Select(robots.NewAgent("*", dialect))
	for _, url := range urls {
		path, _ := dialect.Path([]byte(strings.TrimPrefix(url, site)), nil)
		r, allowed := row{URL: url}, true
		if i := robots.Decide(rules, path, dialect); i >= 0 {
			at := int64(rules[i].Line)
			allowed, r.Rule = rules[i].Allow, &at
		}
		r.Allowed = &allowed
		rows = append(rows, r)
	}
	return rows
}

// hostileRules write rules that are hard on their reader, each some lines; large ones are of the first two.
var hostileRules = []func(r *rand.Rand, text []byte) []byte{
	func(r *rand.Rand, text []byte) []byte { // rules that nearly say the same
		return fmt.Appendf(text, "Allow: /%s/%s\nDisallow: /%s/\n", word(r), word(r), word(r))
	},
	func(r *rand.Rand, text []byte) []byte { // floating words that can follow each other
		text = append(text, "Disallow: /"...)
		for range 8 {
			text = append(append(text, '*'), word(r)...)
		}
		return append(text, '\n')
	},
	func(r *rand.Rand, text []byte) []byte { // more crawlers than anyone asks for
		return fmt.Appendf(text, "User-agent: bot-%s%s%s%s\nDisallow: /%s\n", word(r), word(r), word(r), word(r), word(r))
	},
	func(r *rand.Rand, text []byte) []byte { // one pattern of wildcards
		return append(append(text, "Disallow: /"...), strings.Repeat("*"+word(r), 500)+"$\n"...)
	},
	func(r *rand.Rand, text []byte) []byte { // everything else
		return fmt.Appendf(text, "Sitemap: %s/%s\nCrawl-delay: %d\nClean-param: %s /%s\nDisallow: /%%%02x%s\xff\n", site, word(r), r.Uint32(), word(r), word(r), r.IntN(256), word(r))
	},
}

// word returns a short word of two letters.
func word(r *rand.Rand) string {
	letters := make([]byte, 1+r.IntN(5))
	for i := range letters {
		letters[i] = "ab"[r.IntN(2)]
	}
	return string(letters)
}

// askedURLs returns URLs that patterns of both files match, and others.
func askedURLs(r *rand.Rand, data, other []byte) (urls []string) {
	lines := append(cut(data), cut(other)...)
	n := 30
	if len(data)+len(other) > 100_000 { // each takes long then
		n = 3
	}
	for range n {
		_, value, _ := bytes.Cut(lines[r.IntN(len(lines))], []byte(": /"))
		path := "/"
		for _, b := range value[:min(len(value), 300)] {
			switch {
			case b == '*':
				path += []string{"", word(r), "/"}[r.IntN(3)]
			case b > ' ' && b < 0x7f && b != '#' && b != '$':
				path += string(b)
			}
		}
		urls = append(urls, site+path, site+"/"+word(r)+"/"+word(r))
	}
	return urls
}

// judgeDiff judges a change: where an answer is another one than before, a change is listed, or it is said that not
// all is compared.
func judgeDiff(l *lonely, out []byte, _ int) (judgement, string) {
	type count struct{ Requests int64 }
	var got struct {
		Tried *struct {
			Cut       int64 `json:"cut_origins"`
			AgentsCut bool  `json:"agents_cut"`
		}
		Agents []struct {
			Agent          string
			Closed, Opened count
		}
	}
	if err := json.Unmarshal(out, &got); err != nil || got.Tried == nil {
		return wrong, fmt.Sprintf("no report: %v: %.200s", err, out)
	}
	if got.Tried.Cut > 0 || got.Tried.AgentsCut {
		return warned, ""
	}
	for i, now := range l.asked {
		changes := *now.Allowed != *l.then[i].Allowed
		for _, agent := range got.Agents {
			if changes && agent.Agent == "*" && (*now.Allowed && agent.Opened.Requests == 0 || !*now.Allowed && agent.Closed.Requests == 0) {
				return wrong, fmt.Sprintf("%v was %v, and no change of that kind is listed", now, l.then[i])
			}
		}
	}
	return whole, ""
}

// objects calls each with every object of a text of JSON Lines.
func objects[T any](out []byte, each func(n int, object *T) (reason string)) (judgement, string) {
	n := 0
	for line := range bytes.Lines(out) {
		object := new(T)
		if err := json.Unmarshal(line, object); err != nil {
			return wrong, fmt.Sprintf("object %d: %v", n+1, err)
		}
		if reason := each(n, object); reason != "" {
			return wrong, reason
		}
		n++
	}
	return whole, ""
}

// judgeLint judges findings: each is at a line of the file.
func judgeLint(l *lonely, out []byte, _ int) (judgement, string) {
	lines := bytes.Count(l.data, []byte("\n")) + bytes.Count(l.data, []byte("\r")) + 1
	return objects(out, func(_ int, f *struct{ Line int }) string {
		if f.Line < 0 || f.Line > lines {
			return fmt.Sprintf("a finding at line %d of %d", f.Line, lines)
		}
		return ""
	})
}

// judgeExplain judges answers one by one.
func judgeExplain(l *lonely, out []byte, _ int) (judgement, string) {
	answers := 0
	j, reason := objects(out, func(n int, got *struct {
		URL     string `json:"url"`
		Allowed *bool  `json:"allowed"`
		Rule    *int64 `json:"rule_line"`
	},
	) string {
		answers++
		if n >= len(l.asked) {
			return "more answers than questions"
		}
		if r := (row{0, got.URL, got.Allowed, got.Rule}); !same(r, l.asked[n]) {
			return fmt.Sprintf("%v, want %v", r, l.asked[n])
		}
		return ""
	})
	if j == whole && answers != len(l.asked) {
		return wrong, fmt.Sprintf("%d answers to %d questions", answers, len(l.asked))
	}
	return j, reason
}

// judgeCheck judges expectations that all hold.
func judgeCheck(_ *lonely, out []byte, code int) (judgement, string) {
	if code != 0 {
		return wrong, fmt.Sprintf("an expectation does not hold: %.300s", out)
	}
	return whole, ""
}

// judgeListing judges the rows of rules: all that the slow reader finds are there, in the same order.
func judgeListing(l *lonely, out []byte, _ int) (judgement, string) {
	var want, got []int
	for _, group := range robots.Parse(l.data, dialect).Groups {
		for i := range group.Rules {
			want = append(want, int(group.Rules[i].Line))
		}
	}
	j, reason := objects(out, func(_ int, listed *struct {
		Item string
		Line *int
	},
	) string {
		if listed.Line != nil && (listed.Item == "allow" || listed.Item == "disallow") {
			got = append(got, *listed.Line)
		}
		return ""
	})
	if j == whole && fmt.Sprint(got) != fmt.Sprint(want) {
		return wrong, fmt.Sprintf("%d rules are listed, want %d", len(got), len(want))
	}
	return j, reason
}

// A measuredRun is a run in a process of its own, between files in a directory: stdin, stdout and stderr.
type measuredRun struct {
	Arguments []string
	Dir       string
}

// A measuredAnswer is how it ended.
type measuredAnswer struct {
	Code  int
	Peak  int64  // bytes of memory
	Fault string // why it did not run; "" if it did
}

func (*measuredAnswer) last() bool { return false }

// runMeasured is run by another process than this one: a process begins with the peak memory of its parent, and this
// one may be large. dir is for its input and output.
func (a *attack) runMeasured(dir string, stdin []byte, arguments ...string) (out []byte, res result) {
	if err := os.WriteFile(filepath.Join(dir, "stdin"), stdin, 0o666); err != nil {
		return nil, result{readErr: err}
	}
	var answer measuredAnswer
	if _, stderr, err := a.measured.ask(a.ctx, measuredRun{append([]string{a.binary}, arguments...), dir}, &answer); err != nil {
		return nil, result{readErr: fmt.Errorf("what measures: %w: %.300s", err, stderr)}
	}
	res.code, res.stats.Peak = answer.Code, answer.Peak
	if answer.Fault != "" {
		res.readErr = errors.New(answer.Fault)
	}
	out, err := os.ReadFile(filepath.Join(dir, "stdout"))
	stderr, err2 := os.ReadFile(filepath.Join(dir, "stderr"))
	res.stderr, res.readErr = string(stderr), cmp.Or(res.readErr, err, err2)
	return out, res
}

// measureRuns runs the requests, until there is no more. It reads and prints by files, so that it stays small.
func measureRuns() error {
	in, out := json.NewDecoder(os.NewFile(3, "runs")), json.NewEncoder(os.NewFile(4, "answers"))
	for {
		var asked measuredRun
		if err := in.Decode(&asked); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		var answer measuredAnswer
		if err := answer.measure(asked); err != nil {
			answer.Fault = err.Error()
		}
		if err := out.Encode(answer); err != nil {
			return err
		}
	}
}

// measure runs and measures. The error says why it could not run.
func (answer *measuredAnswer) measure(asked measuredRun) error {
	cmd := exec.Command(asked.Arguments[0], asked.Arguments[1:]...)
	stdin, err := os.Open(filepath.Join(asked.Dir, "stdin"))
	if err != nil {
		return err
	}
	defer stdin.Close() //nolint:errcheck // only read
	stdout, err := os.Create(filepath.Join(asked.Dir, "stdout"))
	if err != nil {
		return err
	}
	defer stdout.Close() //nolint:errcheck // the command has written it
	stderr, err := os.Create(filepath.Join(asked.Dir, "stderr"))
	if err != nil {
		return err
	}
	defer stderr.Close() //nolint:errcheck // as above
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, stdout, stderr
	err = cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		answer.Code, err = exit.ExitCode(), nil
	}
	if err == nil {
		answer.Peak = measure.PeakOf(cmd.ProcessState)
	}
	return err
}
