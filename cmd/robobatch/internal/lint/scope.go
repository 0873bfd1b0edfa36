package lint

import (
	"slices"

	"github.com/robobatch/robobatch/robots"
)

// ofFile are the codes about all of a file, wherever the line stands: those of directives that are of no
// group, those of bytes, and those of names, which decide whom a group binds.
var ofFile = map[robots.Code]bool{
	"agent_cut": true, "agent_list": true, "agent_never_matches": true, "agent_retired": true, "agent_space": true, "agent_typo": true,
	"bad_clean_param": true, "bad_host": true, "bad_sitemap": true, "blocked_sitemap": true, "bom": true, "content_signal_outside_group": true, "cut_line": true, "extra_host": true,
	"garbled_line": true, "joined_lines": true, "not_robots": true,
	"html": true, "http_sitemap": true, "license_not_absolute": true, "no_directive": true, "not_utf8": true, "nul": true, "rule_without_group": true, "too_large": true,
	"too_many_rules": true, "utf16": true,
}

// Binding returns those of the diagnostics of a report that concern crawlers: those about lines of groups
// that bind one of them, and those about all of the file.
func Binding(report *robots.Report, diagnostics []robots.Diagnostic, asked []robots.Agent) []robots.Diagnostic {
	bound := map[int]bool{}
	for _, who := range asked {
		for _, i := range report.File.Binding(who) {
			bound[i] = true
		}
	}
	group := -1 // that the line is in
	groups := report.File.Groups
	return slices.DeleteFunc(slices.Clone(diagnostics), func(d robots.Diagnostic) bool {
		for group+1 < len(groups) && groups[group+1].Line <= d.Line {
			group++
		}
		return group >= 0 && !bound[group] && !ofFile[d.Code]
	})
}
