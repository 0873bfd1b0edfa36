package passage

import (
	"errors"
	"fmt"
	"slices"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/flags"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/say"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/summary"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/warning"
	"github.com/robobatch/robobatch/engine"
)

// warnFiles returns the warnings about which files are logs: those of directories that are none by their
// names, and those that are there more than once.
func (p *Passage) warnFiles() (warnings []warning.Warning) {
	files := p.Files
	if files == nil {
		return nil
	}
	if files.Repeated > 0 {
		text := "decided and counted more than once: " + say.Count(files.Repeated, "file") + ", as -in leads there again, by the same name or another: name each file once"
		d := warning.Warning{Code: warning.RepeatedInput, Text: text, Count: files.Repeated}
		for _, r := range files.Repeats[:min(len(files.Repeats), warning.Examples)] {
			d.Examples = append(d.Examples, say.File(r.First)+" and "+say.File(r.Again))
		}
		warnings = append(warnings, d)
	}
	if files.Others > 0 {
		text := "not read in the directories of -in: " + say.Count(files.Others, "file") + ", as their names do not end as those of logs do: name them, or a pattern, if they are logs"
		warnings = append(warnings, warning.Warning{Code: warning.UnreadFiles, Text: text, Count: files.Others, Examples: files.Unread[:min(len(files.Unread), warning.Examples)]})
	}
	return warnings
}

// WarnRows prints the warnings about the logs' rows, and returns their summary. It returns an error if
// the rows lack something that the run asked for.
func (p *Passage) WarnRows() (*summary.Report, error) {
	s := p.Summary()
	if text := s.Rows().Bad; text != "" {
		return nil, errors.New(text)
	}
	s.Warnings = slices.Concat(s.Warnings, s.Warn(), p.Rejected(s))
	p.WarnRest(s.Warnings)
	p.HintLogs(s)
	return s, nil
}

// HintLogs prints which fields of the logs were read, and hints about the memory.
func (p *Passage) HintLogs(s *summary.Report) {
	p.PrintTook(s)
	p.HintMemory()
}

// PrintTook prints which fields of the logs were read.
func (p *Passage) PrintTook(s *summary.Report) {
	for _, line := range s.Took() {
		p.Print(say.NoCommands(say.Line(line)) + "\n")
	}
}

// JudgesNothing returns an error if gates would pass only because there was nothing to judge: no request has rules, or
// the one robots.txt is none.
func (p *Passage) JudgesNothing(s *summary.Report) error {
	rows, rules := s.Rows(), p.Now.Path
	if rows.Decided > 0 && rows.Without == rows.Decided {
		return fmt.Errorf("-fail judges nothing: none of %s has a robots.txt in %s; http and https differ, as example.com and www.example.com do", say.Count(rows.Read, "row"), say.File(rules))
	}
	if p.Now.Odd().IsOdd() {
		return fmt.Errorf("-fail judges nothing: %s is no robots.txt, so that all is allowed", say.File(rules))
	}
	return nil
}

// HintMemory says which limit of memory would be enough, if rules were loaded again and again.
func (p *Passage) HintMemory() {
	for _, side := range p.Sides() {
		side.HintMemory(side.Store, &p.Console)
	}
}

// Rejected returns the warning about the rows without a verdict, of a command that does not list them.
func (p *Passage) Rejected(s *summary.Report) []warning.Warning {
	bad := s.Counts.Reasons[engine.ReasonBadURL.String()] / int64(max(1, len(flags.AgentsOf(&p.Now.Opt))))
	return s.Rejected(summary.Sum(s.Counts.Refused)+bad, "-rejects of robobatch lists them")
}
