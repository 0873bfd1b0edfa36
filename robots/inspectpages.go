package robots

import (
	"slices"
	"strings"
)

// An indexer is a search engine's crawler that may fetch pages, with the rules for it.
type indexer struct {
	name  string
	rules []Rule
	work  int // see [workOf]
}

// An asset is a kind of file that pages need for rendering.
type asset struct {
	name string   // in words
	end  string   // of names of files
	dirs []string // where such files are mostly
}

var assets = []asset{
	{"style sheets", ".css", []string{"/css", "/stylesheet", "/stylesheets"}},
	{"scripts", ".js", []string{"/js", "/javascript", "/javascripts"}},
}

// blockedAssets reports rules that block style sheets or scripts for search engines that may fetch pages.
func (in *inspector) blockedAssets() {
	budget := maxCovered
	names, kind, remedies := map[int32][]string{}, map[int32]string{}, map[int32]string{}
	for _, x := range in.report.open {
		for i := range x.rules {
			r := &x.rules[i]
			path, what, remedy := assetOf(r)
			if path == nil {
				continue
			}
			if budget -= x.work * len(path); budget < 0 {
				return
			}
			if by := Decide(x.rules, path, in.dialect); x.rules[by].Line == r.Line && !Undefined(x.rules, by, path, in.dialect) {
				names[r.Line], kind[r.Line], remedies[r.Line] = append(names[r.Line], x.name), what, remedy
			}
		}
	}
	for line, list := range names {
		in.note(line, codeBlockedAssets, "%s may not fetch %s here, so pages are rendered without them: %s", strings.Join(list, ", "), kind[line], remedies[line])
	}
}

// assetOf returns a path of style sheets or scripts that a Disallow rule matches by extension or directory, what
// these files are, and a rule that allows them. It returns nil if there are none, or if the rule matches a single
// file, which no page may need.
func assetOf(r *Rule) (path []byte, what, remedy string) {
	text, closed := strings.CutSuffix(r.Pattern, "$")
	if r.Allow || len(text) > maxExample {
		return nil, "", ""
	}
	text = strings.TrimRight(text, "*")
	name, dir := strings.ToLower(strings.TrimRight(text, "?*")), strings.TrimSuffix(text, "/")
	for _, a := range assets {
		pattern, remedy := "", "delete the rule"
		if strings.HasSuffix(name, "*"+a.end) {
			pattern = text
		} else if !closed && slices.ContainsFunc(a.dirs, func(d string) bool { return strings.HasSuffix(strings.ToLower(dir), d) }) {
			pattern = dir + "/x" + a.end
			remedy = "add Allow: " + dir + "/*" + a.end // longer, so it wins
		}
		if paths := examples(pattern); len(paths) > 0 && matches(r.Pattern, paths[0]) {
			return paths[0], a.name, remedy
		}
	}
	return nil, "", ""
}
