// Command published counts sites with published methods and with the exact one (docs/CENSUS.md):
//
//	go run -C bench ./published consent                           by lines, on the real robots.txt that there are
//	go run -C bench ./published series CLONE captures.jsonl.zst   the history of a git repository of robots.txt, as captures
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os/exec"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/robobatch/robobatch/bench/internal/corpus"
	"github.com/robobatch/robobatch/bench/internal/madeup"
	"github.com/robobatch/robobatch/bench/internal/tool"
	"github.com/robobatch/robobatch/robots"
)

// main runs the method that the arguments name.
func main() {
	tool.Main("published", func(ctx context.Context, arguments []string) error {
		switch {
		case len(arguments) == 1 && arguments[0] == "consent":
			return countConsent()
		case len(arguments) == 3 && arguments[0] == "series":
			return madeup.WriteFile(arguments[2], func(w io.Writer) (err error) {
				packed, err := zstd.NewWriter(w)
				if err != nil {
					return err
				}
				defer func() { err = errors.Join(err, packed.Close()) }()
				lines := json.NewEncoder(packed)
				for r, err := range readHistory(ctx, arguments[1]) {
					if err != nil {
						return err
					}
					capture := struct {
						URL       string    `json:"url"`
						Status    int       `json:"status"`
						FetchedAt time.Time `json:"fetched_at"`
						Body      []byte    `json:"body_b64"`
						Error     string    `json:"error,omitempty"`
					}{r.URL, r.Status, r.FetchedAt, r.Body, r.Error}
					if err := lines.Encode(capture); err != nil {
						return err
					}
				}
				return nil
			})
		}
		return errors.New("want consent, or series, a clone and the file to write")
	})
}

// crawlers are the crawlers that are counted.
var crawlers = []string{"GPTBot", "CCBot", "Google-Extended", "ClaudeBot", "Googlebot"}

// A method selects the lines that bind an agent.
type method struct {
	name     string
	exact    bool // keys are compared exactly with "User-agent" and "Disallow", and only complete lines are comments
	blank    bool // an empty line ends a group
	replaces bool // every user-agent line starts a group
	never    bool // a group ends only at the end of the file
	once     bool // after the first rule, every user-agent line starts a group
	anyCase  bool // names are compared without regard to case
}

// methods are those of src/web_analysis/parse_robots.py in Data-Provenance-Collection, and the same without its
// differences from the standard.
var methods = []method{
	{name: "2024-05 (257a063)", exact: true, blank: true, replaces: true},
	{name: "2025-01 (00bc365)", never: true},
	{name: "2025-03 (60c189c)", once: true},
	{name: "names in any case", once: true, anyCase: true},
	{name: "and whole groups", anyCase: true},
}

// countConsent prints how many sites of the corpus block each crawler, by each method.
func countConsent() error {
	base, err := corpus.Find(".")
	if err != nil {
		return err
	}
	files, closed := 0, make([][]int, len(methods))
	for m := range closed {
		closed[m] = make([]int, len(crawlers))
	}
	for r, err := range base.Rules {
		if err != nil {
			return err
		}
		files++
		for m := range methods {
			all := methods[m].readLines(string(r.Body))
			for i, name := range crawlers {
				if methods[m].anyCase {
					name = strings.ToLower(name)
				}
				if isClosed(all, name) {
					closed[m][i]++
				}
			}
		}
	}
	fmt.Printf("%-18s", fmt.Sprintf("%d files", files))
	for _, name := range crawlers {
		fmt.Printf("  %16s", name)
	}
	for m := range methods {
		fmt.Printf("\n%-18s", methods[m].name)
		for _, n := range closed[m] {
			fmt.Printf("  %16d", n)
		}
	}
	fmt.Println()
	return nil
}

// lines are the Allow and Disallow values for an agent.
type lines struct{ allow, disallow []string }

// readLines reads a robots.txt line by line. It returns the values of Allow and Disallow lines by user agent, in the
// case of its first occurrence.
func (m *method) readLines(text string) map[string]*lines {
	all, names, current, ruled := map[string]*lines{}, map[string]string{}, []string(nil), false
	for line := range strings.Lines(strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")) {
		if !m.exact {
			line, _, _ = strings.Cut(line, "#")
		}
		line = strings.TrimSpace(line)
		if m.blank && (line == "" || line[0] == '#') {
			current = nil
		}
		key, value, ok := strings.Cut(line, ":")
		if value = strings.TrimSpace(value); !ok {
			continue
		}
		if !m.exact {
			key = strings.ToUpper(key[:min(1, len(key))]) + strings.ToLower(key[min(1, len(key)):])
		}
		switch key {
		case "User-agent":
			if m.replaces || ruled && !m.never {
				current = nil
			}
			ruled = ruled && m.once
			name := value
			if m.anyCase {
				name = strings.ToLower(name)
			}
			folded := name
			if !m.exact {
				folded = strings.ToLower(name)
			}
			if _, known := names[folded]; !known {
				names[folded], all[name] = name, &lines{}
			}
			current = append(current, names[folded])
		case "Allow", "Disallow":
			ruled = true
			for _, name := range current {
				if l := all[name]; key == "Allow" {
					l.allow = append(l.allow, value)
				} else {
					l.disallow = append(l.disallow, value)
				}
			}
		case "Crawl-delay", "Sitemap":
			ruled = ruled || m.once
		}
	}
	return all
}

// isClosed reports whether the lines for an agent, or else for *, contain "Disallow: /" and no Allow. Lines with "?"
// are ignored.
func isClosed(all map[string]*lines, name string) bool {
	l := all[name]
	if l == nil {
		l = all["*"]
	}
	if l == nil {
		return false
	}
	query := func(value string) bool { return strings.Contains(value, "?") }
	allow, disallow := slices.DeleteFunc(slices.Clone(l.allow), query), slices.DeleteFunc(slices.Clone(l.disallow), query)
	return len(allow) == 0 && slices.Contains(disallow, "/")
}

// readHistory yields captures of the robots.txt in a git repository, one for each host in each commit that changed its
// file, in the order of commits. The files are data/SOURCE/HOST. Some contain a JSON object that says why there is no
// text. After an error it yields nothing more.
func readHistory(ctx context.Context, clone string) iter.Seq2[robots.Response, error] {
	return func(yield func(robots.Response, error) bool) {
		log := exec.CommandContext(ctx, "git", "-C", clone, "log", "--reverse", "--raw", "--no-renames", "--no-abbrev", "-m", "--first-parent", "--format=%ct", "--", "data")
		text, err := log.Output()
		if err != nil {
			yield(robots.Response{}, fmt.Errorf("read the history: %w", err))
			return
		}
		cat := exec.CommandContext(ctx, "git", "-C", clone, "cat-file", "--batch")
		asked, errIn := cat.StdinPipe()
		answers, errOut := cat.StdoutPipe()
		if err := cmp.Or(errIn, errOut, cat.Start()); err != nil {
			yield(robots.Response{}, err)
			return
		}
		defer func() {
			if err := errors.Join(asked.Close(), cat.Wait()); err != nil && ctx.Err() == nil {
				yield(robots.Response{}, fmt.Errorf("read the objects: %w", err))
			}
		}()
		from := bufio.NewReaderSize(answers, 1<<20)
		var at time.Time
		seen := map[string]bool{} // hosts in the commit
		for line := range strings.Lines(string(text)) {
			line = strings.TrimSuffix(line, "\n")
			if seconds, err := strconv.ParseInt(line, 10, 64); err == nil {
				at = time.Unix(seconds, 0).UTC()
				clear(seen)
				continue
			}
			fields := strings.Fields(line) // :mode mode old new status path
			if len(fields) != 6 || strings.Count(fields[5], "/") != 2 || strings.HasPrefix(fields[5], "data/cleaned/") || strings.Trim(fields[3], "0") == "" {
				continue
			}
			host := strings.ToLower(path.Base(fields[5]))
			origin, err := robots.ParseOrigin("http://" + host)
			if err != nil || seen[host] {
				continue
			}
			seen[host] = true
			_, errWrite := io.WriteString(asked, fields[3]+"\n")
			head, errRead := from.ReadString('\n') // id, type, size
			size, errSize := strconv.Atoi(strings.TrimSpace(head[strings.LastIndexByte(head, ' ')+1:]))
			if err := cmp.Or(errWrite, errRead, errSize); err != nil {
				yield(robots.Response{}, fmt.Errorf("%s: read an object: %w: %s", fields[5], err, head))
				return
			}
			body := make([]byte, size+1) // with a line feed
			_, err = io.ReadFull(from, body)
			body = body[:size]
			r := robots.Response{Origin: origin, URL: string(origin) + robots.TxtPath, FetchedAt: at, Status: 200, Body: body}
			var issue struct {
				Type   string `json:"issue_type"`
				Error  string `json:"error_msg"`
				Status int    `json:"status_code"`
			}
			if bytes.HasPrefix(body, []byte("{")) && json.Unmarshal(body, &issue) == nil && issue.Type != "" {
				r.Status, r.Body = issue.Status, []byte{}
				if issue.Status == 0 {
					r.Error = issue.Error
				}
			}
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}
