package robots

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// About returns the diagnostics of the file, and the ones of its sitemaps that depend on whose it is: that
// are fetched by http though the site has https, and that the rules forbid. An origin of http may have
// https, too, and "" is an unknown origin. The result is in the order of lines.
func (r *Report) About(o Origin) []Diagnostic {
	all := slices.Clip(r.Diagnostics)
	site, _ := SplitURL([]byte(o))
	alone := o == "" && r.oneSite()
	budget := maxCovered
	for _, s := range r.Sitemaps {
		u, err := SplitURL([]byte(s.URL))
		if err != nil {
			continue
		}
		own, err := AppendOrigin(nil, u)
		if err != nil {
			continue
		}
		at, _ := SplitURL(own)
		if string(at.Scheme) == "http" && string(site.Scheme) == "https" && len(at.Port) == 0 && withoutWWW(at.Host) == withoutWWW(site.Host) {
			all = append(all, Diagnostic{Line: s.Line, Code: codeHTTPSitemap, Text: "the site has https: write https://" + shortened(string(at.Host)+string(u.Path))})
		}
		if text := r.forbidden(u, &budget); text != "" && (string(at.Host) == string(site.Host) && string(at.Port) == string(site.Port) || alone) {
			all = append(all, Diagnostic{Line: s.Line, Code: codeBlockedSitemap, Text: text})
		}
	}
	slices.SortStableFunc(all, func(a, b Diagnostic) int { return cmp.Compare(a.Line, b.Line) })
	return all
}

// withoutWWW returns a host without "www." in front.
func withoutWWW(host []byte) string { return strings.TrimPrefix(string(host), "www.") }

// forbidden names the search engines that may fetch pages but not a URL of the site, and the
// rule that forbids it; "" if all may. It spends the budget, and returns "" when that is gone.
func (r *Report) forbidden(u URL, budget *int) string {
	path, _ := r.dialect.Path(u.Path, nil)
	var names []string
	var rule *Rule
	for _, x := range r.open {
		if *budget -= x.work * len(path); *budget < 0 {
			return ""
		}
		i := Decide(x.rules, path, r.dialect)
		if i < 0 || x.rules[i].Allow || Undefined(x.rules, i, path, r.dialect) || rule != nil && rule.Line != x.rules[i].Line {
			continue
		}
		rule = &x.rules[i]
		names = append(names, x.name)
	}
	if rule == nil {
		return ""
	}
	return fmt.Sprintf("line %d disallows it for %s: %s", rule.Line, strings.Join(names, ", "), quoted(rule))
}

// oneSite reports whether all sitemaps are of one host. Their site is treated as the site of the file then.
func (r *Report) oneSite() bool {
	host := ""
	for _, s := range r.Sitemaps {
		u, err := SplitURL([]byte(s.URL))
		if err != nil || host != "" && !strings.EqualFold(host, string(u.Host)) {
			return false
		}
		host = string(u.Host)
	}
	return true
}
