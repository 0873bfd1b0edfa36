package repcase

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/robobatch/robobatch/robots"
)

// answers has the content of a file, to be asked in the words of the suites.
type answers struct {
	row     *Directive
	dialect robots.Dialect
	report  *robots.Report
}

// A question is one kind of expectation.
type question struct {
	key     string
	compare func(a *answers, value json.RawMessage) (got, want string, err error)
}

// questions are the kinds that are understood. A row has one of them, some together with a URL.
var questions = []question{
	{"crawl_delay", (*answers).crawlDelay},
	{"sitemaps", (*answers).sitemaps},
	{"host", (*answers).host},
	{"host_with_fallback", (*answers).host},
	{"clean_param", (*answers).cleanParam},
	{"detect", (*answers).detect},
	{"matching_line", (*answers).matchingLine},
	{"rules", (*answers).rules},
	{"api", (*answers).api},
}

// none is how the absence of a value is written.
const none = "none"

// crawlDelay: a number, a number as text, or null. Two suites report no value as 0.
func (a *answers) crawlDelay(value json.RawMessage) (got, want string, err error) {
	got = none
	if s, ok := a.report.CrawlDelay(robots.NewAgent(a.row.Agent, a.dialect)); ok {
		got = number(s)
	}
	if want = none; string(value) != "null" {
		f, err := strconv.ParseFloat(strings.Trim(string(value), `"`), 64)
		if err != nil {
			return "", "", err
		}
		want = number(f)
	}
	if want == "0" && got == none && (strings.HasPrefix(a.row.ID, "vipnytt") || strings.HasPrefix(a.row.ID, "t1gor")) {
		want = none
	}
	return got, want, nil
}

func number(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// sitemaps: a list of URLs.
func (a *answers) sitemaps(value json.RawMessage) (got, want string, err error) {
	var urls []string
	err = json.Unmarshal(value, &urls)
	return fmt.Sprintf("%q", a.urls()), fmt.Sprintf("%q", urls), err
}

func (a *answers) urls() []string {
	urls := make([]string, 0, len(a.report.Sitemaps))
	for _, s := range a.report.Sitemaps {
		urls = append(urls, s.URL)
	}
	return urls
}

// host: a name or null.
func (a *answers) host(value json.RawMessage) (got, want string, err error) {
	err = json.Unmarshal(value, &want)
	return a.report.Host(), want, err
}

// cleanParam: the values of the lines, with an example of their effect, or the paths by parameter.
func (a *answers) cleanParam(value json.RawMessage) (got, want string, err error) {
	var lines []string
	if json.Unmarshal(value, &lines) == nil {
		ours := a.cleanLines()
		examples := []struct{ In, Out string }{}
		if raw, ok := a.row.Expect["examples"]; ok {
			err = json.Unmarshal(raw, &examples)
		}
		for _, e := range examples {
			ours = append(ours, string(a.report.CleanParams.AppendCanonical(nil, []byte(e.In), a.dialect)))
			lines = append(lines, e.Out)
		}
		return fmt.Sprintf("%q", ours), fmt.Sprintf("%q", lines), err
	}
	var byParam map[string][]string
	err = json.Unmarshal(value, &byParam)
	return fmt.Sprint(a.cleanPaths()), fmt.Sprint(byParam), err
}

// cleanLines returns the Clean-param lines of the answer as they are written.
func (a *answers) cleanLines() []string {
	lines := make([]string, 0, len(a.report.CleanParams))
	for _, c := range a.report.CleanParams {
		line := strings.Join(c.Params, "&")
		if c.Path != "/" {
			line += " " + c.Path
		}
		lines = append(lines, line)
	}
	return lines
}

// cleanPaths returns the paths by parameter, without stars at the end, as they have no effect.
func (a *answers) cleanPaths() map[string][]string {
	paths := map[string][]string{}
	for _, c := range a.report.CleanParams {
		for _, p := range c.Params {
			paths[p] = append(paths[p], strings.TrimRight(c.Path, "*"))
		}
	}
	return paths
}

// detect: the parameters of the URL that do not count.
func (a *answers) detect(value json.RawMessage) (got, want string, err error) {
	var params []string
	var url string
	err = errors.Join(json.Unmarshal(value, &params), json.Unmarshal(a.row.Expect["url"], &url))
	left := paramsOf(string(a.report.CleanParams.AppendCanonical(nil, []byte(url), a.dialect)))
	cleaned := slices.DeleteFunc(paramsOf(url), func(p string) bool { return slices.Contains(left, p) })
	return fmt.Sprint(cleaned), fmt.Sprint(params), err
}

// paramsOf returns the names of a URL's parameters, sorted.
func paramsOf(url string) []string {
	_, query, _ := strings.Cut(url, "?")
	var names []string
	for p := range strings.SplitSeq(query, "&") {
		name, _, _ := strings.Cut(p, "=")
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// matchingLine: the line of the rule that decides the URL, -1 for none.
func (a *answers) matchingLine(value json.RawMessage) (got, want string, err error) {
	var url string
	err = json.Unmarshal(a.row.Expect["url"], &url)
	_, line := Ask(a.report.File, a.row.Agent, []byte(url), a.dialect, robots.Decide)
	if line == 0 {
		line = -1
	}
	return strconv.Itoa(int(line)), string(value), err
}

// rules: of each agent its rules and its other directives.
func (a *answers) rules(value json.RawMessage) (got, want string, err error) {
	byAgent := map[string]map[string]any{}
	if json.Unmarshal(value, &byAgent) != nil {
		return "", "", errors.New("the row does not say which agent it is about")
	}
	var all, ours []string
	for _, agent := range slices.Sorted(maps.Keys(byAgent)) {
		expect := byAgent[agent]
		for _, key := range slices.Sorted(maps.Keys(expect)) {
			all = append(all, fmt.Sprintf("%s %s %v", agent, key, expect[key]))
			ours = append(ours, fmt.Sprintf("%s %s %v", agent, key, a.rule(agent, key)))
		}
	}
	return fmt.Sprint(ours), fmt.Sprint(all), nil
}

// rule returns the file's answer to the agent under one key.
func (a *answers) rule(agent, key string) any {
	token := robots.NewAgent(agent, a.dialect)
	switch key {
	case "crawl-delay":
		s, _ := a.report.CrawlDelay(token)
		return s
	case "host":
		return a.report.Host()
	case "clean-param":
		return a.cleanLines()
	}
	values := []string{}
	rules, _ := a.report.File.Select(token)
	for _, r := range rules {
		if strings.HasPrefix(strings.ToLower(r.String()), key) && r.Value != "" {
			values = append(values, r.Value)
		}
	}
	return values
}

// api: a call of a method and the assertion on its result.
func (a *answers) api(value json.RawMessage) (got, want string, err error) {
	var api, assert, text string
	var expected any
	var index [][]string
	for key, v := range map[string]any{"api": &api, "assert": &assert, "expected": &expected, "index": &index} {
		if raw, ok := a.row.Expect[key]; ok {
			err = errors.Join(err, json.Unmarshal(raw, v))
		}
	}
	text, _ = expected.(string)
	switch api + " " + assert {
	case "getCleanParam assertArrayHasKey":
		return strconv.FormatBool(len(a.paramsAt(text)) > 0), "true", err
	case "getCleanParam assertEquals":
		return fmt.Sprint(a.paramsAt(index[0][0])), fmt.Sprint(expected), err
	case "getHost assertContains":
		return a.report.Host(), text, err
	case "getSitemaps assertContains":
		return strconv.FormatBool(slices.Contains(a.urls(), text)), "true", err
	case "getSitemaps assertCount":
		return strconv.Itoa(len(a.urls())), fmt.Sprint(expected), err
	}
	return "", "", fmt.Errorf("call %s %s is not understood", value, assert)
}

// paramsAt returns the parameters of a path, where "/*" stands for a missing one.
func (a *answers) paramsAt(path string) []string {
	var params []string
	for _, c := range a.report.CleanParams {
		if strings.TrimRight(c.Path, "*") == strings.TrimRight(path, "*") {
			params = append(params, c.Params...)
		}
	}
	return params
}
