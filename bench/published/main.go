// Command published counts sites by methods that were published, and exactly (docs/CENSUS.md):
//
//	go run -C bench ./published consent                       by lines, on the real robots.txt that there are
//	go run -C bench ./published series CLONE captures.jsonl   the history of a git repository of robots.txt, as captures
package main

import (
	"bufio"
	"bytes"
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

	"github.com/robobatch/robobatch/bench/internal/corpus"
	"github.com/robobatch/robobatch/bench/internal/madeup"
	"github.com/robobatch/robobatch/bench/internal/tool"
	"github.com/robobatch/robobatch/robots"
)

func main() {
	tool.Main("published", func(ctx context.Context, arguments []string) error {
		switch {
		case len(arguments) == 1 && arguments[0] == "consent":
			return consent()
		case len(arguments) == 3 && arguments[0] == "series":
			return madeup.WriteRules(arguments[2], history(ctx, arguments[1]))
		}
		return errors.New("want consent, or series, a clone and the file to write")
	})
}

// crawlers are those that are counted.
var crawlers = []string{"GPTBot", "CCBot", "Google-Extended", "anthropic-ai", "ClaudeBot", "Googlebot"}

// consent counts the sites that close themselves to crawlers as lines of a robots.txt say it.
func consent() error {
	base, err := corpus.Find(".")
	if err != nil {
		return err
	}
	files := 0
	var closed [2][]int
	for reset := range closed {
		closed[reset] = make([]int, len(crawlers))
	}
	for r, err := range base.Rules {
		if err != nil {
			return err
		}
		files++
		for reset := range closed {
			lines := linesByAgent(string(r.Body), reset == 1)
			for i, name := range crawlers {
				if isClosed(lines, name) {
					closed[reset][i]++
				}
			}
		}
	}
	fmt.Printf("%d files\ncrawler          agents are never reset  agents are reset\n", files)
	for i, name := range crawlers {
		fmt.Printf("%-16s %22d  %16d\n", name, closed[0][i], closed[1][i])
	}
	return nil
}

// Lines are the values of Allow and Disallow for an agent.
type lines struct{ allow, disallow []string }

// linesByAgent reads a robots.txt line by line. Rules are those of all agents so far, or, with reset, of those since the last rule.
func linesByAgent(text string, reset bool) map[string]*lines {
	all, names, current, ruled := map[string]*lines{}, map[string]string{}, []string(nil), false
	for line := range strings.Lines(strings.ReplaceAll(text, "\r", "\n")) {
		line, _, _ = strings.Cut(line, "#")
		key, value, ok := strings.Cut(strings.TrimSpace(line), ":")
		if value = strings.TrimSpace(value); !ok {
			continue
		}
		switch strings.ToLower(key) {
		case "user-agent":
			if reset && ruled {
				current = nil
			}
			ruled = false
			folded := strings.ToLower(value)
			if _, known := names[folded]; !known {
				names[folded], all[value] = value, &lines{}
			}
			current = append(current, names[folded])
		case "allow", "disallow":
			ruled = true
			for _, name := range current {
				if l := all[name]; strings.EqualFold(key, "allow") {
					l.allow = append(l.allow, value)
				} else {
					l.disallow = append(l.disallow, value)
				}
			}
		}
	}
	return all
}

// isClosed reports whether the lines of an agent, or else of *, have "Disallow: /", and no Allow. Lines with "?" do not count.
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

// history yields the robots.txt of a git repository, a capture for each commit that changed one. The files are data/SOURCE/HOST, and in some a
// JSON object says why there is no text.
func history(ctx context.Context, clone string) iter.Seq2[robots.Response, error] {
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
		if err := errors.Join(errIn, errOut); err != nil {
			yield(robots.Response{}, err)
			return
		}
		if err := cat.Start(); err != nil {
			yield(robots.Response{}, err)
			return
		}
		defer func() { cat.Wait() }()
		defer asked.Close()
		from := bufio.NewReaderSize(answers, 1<<20)
		var at time.Time
		seen := map[string]bool{} // hosts of the commit
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
			body, err := blob(asked, from, fields[3])
			if err != nil {
				yield(robots.Response{}, fmt.Errorf("%s: %w", fields[5], err))
				return
			}
			if !yield(responseOf(origin, at, body), nil) {
				return
			}
		}
	}
}

// blob reads an object.
func blob(asked io.Writer, from *bufio.Reader, id string) ([]byte, error) {
	if _, err := io.WriteString(asked, id+"\n"); err != nil {
		return nil, err
	}
	head, err := from.ReadString('\n')
	if err != nil {
		return nil, err
	}
	fields := strings.Fields(head) // id, type, size
	size, err := strconv.Atoi(fields[len(fields)-1])
	if err != nil {
		return nil, fmt.Errorf("read an object: %s", head)
	}
	body := make([]byte, size+1) // a line feed follows
	_, err = io.ReadFull(from, body)
	return body[:size], err
}

// responseOf returns a capture.
func responseOf(origin robots.Origin, at time.Time, body []byte) robots.Response {
	r := robots.Response{Origin: origin, URL: string(origin) + robots.TxtPath, FetchedAt: at, Status: 200, Body: body}
	var issue struct {
		Type   string `json:"issue_type"`
		Error  string `json:"error_msg"`
		Status int    `json:"status_code"`
	}
	if bytes.HasPrefix(body, []byte("{")) && json.Unmarshal(body, &issue) == nil && issue.Type != "" {
		r.Status, r.Body = issue.Status, nil
		if issue.Status == 0 {
			r.Error = issue.Error
		}
	}
	return r
}
