package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/doubt"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/memory"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/say"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/words"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest"
	"github.com/robobatch/robobatch/ingest/logfiles"
	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/output"
	"github.com/robobatch/robobatch/robots"
)

// checkWork checks how many goroutines work, and on how many URLs.
func checkWork(a *args, faults *cli.Faults) {
	faults.Add("workers", memory.CheckWorkers(a.workers))
	if a.Limit < 0 {
		faults.Add("limit", fmt.Errorf("%d is negative: use 0 for all URLs, or more", a.Limit))
	}
}

// chooseInput returns how the lines of the logs are read, and the columns that -keep makes of their
// fields.
func chooseInput(a *args, faults *cli.Faults) (opt ingest.LogOptions, kept []output.KeptColumn) {
	var err error
	opt.Limit, opt.Raws = a.Limit, a.rejects != ""
	opt.Fields.Agents, opt.Fields.Times = a.AgentFromLog, a.ByRow()
	opt.Fields.Need = a.AgentFromLog && !a.allowBad
	opt.Format, err = ingest.ParseFormat(a.Format)
	faults.Add("format", cli.Hint(err, a.Format, words.Formats()))
	if a.Base != "" {
		opt.Fields.Base, err = robots.ParseOrigin(a.Base)
		faults.Add("base", err)
	}
	opt.Fields.URL, opt.Fields.Host = a.URLField, a.HostField
	opt.Fields.Agent, opt.Fields.Time = a.UAField, a.TimeField
	for _, text := range a.Keep {
		column, name := parseKeep(text)
		if slices.ContainsFunc(kept, func(k output.KeptColumn) bool { return k.Name == name }) || column.Field == "" {
			faults.Add("keep", fmt.Errorf("%q is empty, or the name of another column: name each field once", text))
			continue
		}
		opt.Keep = append(opt.Keep, column)
		kept = append(kept, output.KeptColumn{Name: name, Kind: column.Kind})
	}
	if a.rejects == say.Std {
		faults.Add("rejects", errors.New("standard output is not for rejects: name a file"))
	}
	return opt, kept
}

// findLogs finds the logs that -in names, all of which must be there.
func findLogs(names []string, stdin io.Reader) (*logfiles.List, error) {
	list, err := logfiles.Find(names, stdin)
	return list, errors.Join(list.Err(), err)
}

// mostWindows is how many logs are looked at for the window that they need. Others may be refused later.
const mostWindows = 1000

// windowOf returns the largest window of zstd that logs need, under a limit of memory; 0 is no limit.
func windowOf(files *logfiles.List, limit int64) int64 {
	if files == nil || limit <= 0 {
		return 0
	}
	names := files.Names()
	return ingest.Window(names[:min(len(names), mostWindows)])
}

// doubtInputs returns the doubts about which files are logs: those of directories that are none by their
// names, and those that are there more than once.
func doubtInputs(files *logfiles.List) (doubts []doubt.Doubt) {
	if files == nil {
		return nil
	}
	if files.Repeated > 0 {
		text := "decided and counted more than once: " + say.Count(files.Repeated, "file") + ", as -in leads there again, by the same name or another: name each file once"
		d := doubt.Doubt{Code: doubt.RepeatedInput, Text: text, Count: files.Repeated}
		for _, r := range files.Repeats[:min(len(files.Repeats), doubt.Examples)] {
			d.Examples = append(d.Examples, say.File(r.First)+" and "+say.File(r.Again))
		}
		doubts = append(doubts, d)
	}
	if files.Others > 0 {
		text := "not read in the directories of -in: " + say.Count(files.Others, "file") + ", as their names do not end as those of logs do: name them, or a pattern, if they are logs"
		doubts = append(doubts, doubt.Doubt{Code: doubt.UnreadFiles, Text: text, Count: files.Others, Examples: files.Unread[:min(len(files.Unread), doubt.Examples)]})
	}
	return doubts
}

// setKinds sets the kinds of the kept columns to those that the logs have.
func setKinds(kept []output.KeptColumn, logs *ingest.Logs) {
	for i := range kept {
		kept[i].Kind = logs.Kept()[i].Kind
	}
}

// parseKeep reads a field and maybe its type, as in "status" and "price:float". The name is that of
// the column: a field with the name of a column of the verdicts gets "in_" before it.
func parseKeep(text string) (column ingest.KeptColumn, name string) {
	field := strings.TrimSpace(text)
	kind, named := ingest.FieldKind(field), false
	if i := strings.LastIndexByte(field, ':'); i >= 0 {
		if k, ok := words.KeptTypes[field[i+1:]]; ok {
			field, kind, named = field[:i], k, true
		}
	}
	name = field
	if slices.Contains(output.Columns(), name) {
		name = "in_" + name
	}
	return ingest.KeptColumn{Field: field, Kind: kind, Own: !named && kind == engine.KeptText}, name
}
