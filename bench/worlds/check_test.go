package worlds

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
)

// A line has the fields of a log line that check reads.
type line struct {
	at           int64
	ip, path     string
	status, size int
	agent        string

	impostor, listed bool // from a network of impostors; in the sitemap
}

// parse reads a line of the combined format.
func parse(text string) (l line, err error) {
	f := strings.Split(text, `"`)
	if len(f) != 7 {
		return l, fmt.Errorf("malformed line: %q", text)
	}
	address, clock, _ := strings.Cut(f[0], " - - [")
	at, err := time.Parse("02/Jan/2006:15:04:05 -0700] ", clock)
	if err != nil {
		return l, err
	}
	words, numbers := strings.Fields(f[1]), strings.Fields(f[2])
	if len(words) != 3 || len(numbers) != 2 {
		return l, fmt.Errorf("malformed line: %q", text)
	}
	l = line{at: at.Unix(), ip: address, path: words[1], agent: strings.ToLower(f[5])}
	l.status, err = strconv.Atoi(numbers[0])
	if err == nil {
		l.size, err = strconv.Atoi(numbers[1])
	}
	return l, err
}

// check reads a world, counts the lines that show each fault according to truth.json, and returns the counts that
// differ by more than 5 %.
func check(dir string) (problems []string, err error) {
	text, err := os.ReadFile(filepath.Join(dir, "truth.json"))
	if err != nil {
		return nil, err
	}
	var r report
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, err
	}
	listed := map[string]bool{}
	_, err = read(filepath.Join(dir, "sitemap.xml.zst"), func(text string) error {
		url, _, _ := strings.Cut(strings.TrimPrefix(text, "<url><loc>"+r.Base), "<")
		listed[url] = true
		return nil
	})
	if err != nil {
		return nil, err
	}
	var impostors []string // networks
	if net, ok := r.Innocent["few impostors"].(string); ok {
		impostors = append(impostors, net)
	}
	for _, f := range r.Faults {
		impostors = append(impostors, f.Networks...)
	}
	counts, last := make([]int, len(r.Faults)), make([]int64, len(r.Faults))
	ends := make([][2]int64, len(r.Faults))
	for i, f := range r.Faults {
		for j, s := range []string{f.From, f.To} {
			at, err := time.Parse(time.RFC3339, s)
			if err != nil {
				return nil, err
			}
			ends[i][j] = at.Unix()
		}
	}
	n, err := read(filepath.Join(dir, "access.log.zst"), func(text string) error {
		l, err := parse(text)
		l.impostor = slices.ContainsFunc(impostors, func(net string) bool { return strings.HasPrefix(l.ip, net+".") })
		l.listed = listed[l.path]
		for i := range r.Faults {
			if err != nil || l.at < ends[i][0] || l.at >= ends[i][1] || !r.Faults[i].namesClient(&l) {
				continue
			}
			if r.Faults[i].isShownBy(&l, l.at-last[i]) {
				counts[i]++
			}
			if !isAsset(l.path) {
				last[i] = l.at
			}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if n != r.Lines {
		problems = append(problems, fmt.Sprintf("%d lines, truth.json says %d", n, r.Lines))
	}
	for i, f := range r.Faults {
		if d := counts[i] - f.Lines; max(d, -d) > max(2, f.Lines/20) {
			problems = append(problems, fmt.Sprintf("%s: %d lines show it, truth.json says %d", f.Code, counts[i], f.Lines))
		}
	}
	return problems, nil
}

// read calls a function with the lines of a file, and returns their number.
func read(name string, each func(string) error) (n int, err error) {
	f, err := os.Open(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	dec, err := zstd.NewReader(f, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return 0, err
	}
	defer dec.Close()
	lines := bufio.NewScanner(io.Reader(dec))
	for lines.Scan() {
		n++
		if err := each(lines.Text()); err != nil {
			return n, err
		}
	}
	return n, lines.Err()
}

func isAsset(path string) bool {
	return path == "/robots.txt" || strings.HasPrefix(path, "/assets/") || strings.HasPrefix(path, "/static/")
}

// namesClient reports whether the fault names the client of a line.
func (f *truth) namesClient(l *line) bool {
	if l.impostor != (f.Networks != nil) && f.Agents[0] != "*" {
		return false
	}
	return slices.ContainsFunc(f.Agents, func(name string) bool {
		return name == "*" || strings.Contains(l.agent, strings.ToLower(name))
	})
}

// isShownBy reports whether a line shows a fault. pause is the time since the previous page of the same clients.
func (f *truth) isShownBy(l *line, pause int64) bool {
	under := strings.HasPrefix(l.path, f.Path)
	switch f.Code {
	case "robots_txt_failed", "robots_txt_missing", "robots_txt_other_text":
		return l.path == f.Path && l.status == f.Status && l.size == f.Size
	case "site_closed", "crawler_stopped", "crawler_slowed", "crawler_surge":
		return !isAsset(l.path)
	case "section_closed":
		return under && !isAsset(l.path)
	case "resources_blocked", "endless_urls", "rules_ignored":
		return under && l.path != "/robots.txt"
	case "outage", "server_errors", "not_found_section":
		return under && l.status == f.Status
	case "sitemap_bad_urls":
		return under && l.status == f.Status && l.listed
	case "crawler_refused":
		return under && l.status == f.Status && !isAsset(l.path)
	case "redirect_chain":
		for _, path := range f.Paths {
			under = under || strings.HasPrefix(l.path, path)
		}
		return under && l.status == f.Status
	case "parameter_crawl":
		return under && strings.Contains(l.path, "?"+f.Parameter+"=")
	case "bytes_hog":
		return under && l.size == f.Size
	case "soft_not_found":
		return under && l.status == 200 && !l.listed && l.size-f.Size < f.Size/200 && f.Size-l.size < f.Size/200
	case "crawl_delay_ignored":
		return !isAsset(l.path) && pause < int64(f.Delay)-1
	}
	return f.Networks != nil
}
