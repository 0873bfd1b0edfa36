package page

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/robobatch/robobatch/aggregate"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/msg"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/report"
	"github.com/robobatch/robobatch/report/whatif"
	"github.com/robobatch/robobatch/robots"
)

// whatIfCounts is the maximum number of counts in the editor, one for each URL and crawler.
const whatIfCounts = 500_000

// whatIfPanel returns the panel with the editor for robots.txt. run.Files are the files of busiest, in the same
// order. If no text can be edited, the panel says why.
func (p *Page) whatIfPanel(run *report.Run, busiest []aggregate.BusyFile, opt *engine.StoreOptions) report.Panel {
	data := whatif.Data{Dialect: opt.Dialect, LeftOut: whyNoTexts(run.Files), Note: leftOutNote(run.Files)}
	number := map[int]int{} // numbers of crawlers in the editor
	for a, n := range p.counts.counter.AgentCounts(run) {
		if n.Allowed+n.Denied+n.Unknown > 0 {
			number[a] = len(data.Agents)
			data.Agents, data.Names = append(data.Agents, n.Name), append(data.Names, n.Name)
		}
	}
	verdicts := int64(len(opt.Agents)) // per request
	if opt.LogAgents != engine.LogAgentsOff {
		verdicts = 1
		if _, data.Others = number[0]; data.Others {
			data.Names[0] = "other clients"
		}
	}
	data.Several = verdicts > 1
	most := min(whatif.MaxURLs, whatIfCounts/max(1, len(data.Agents)))
	data.Limit = fmt.Sprintf("the page includes only the most requested URLs: as many as fit into -max-memory, and at most %d of %s", most, msg.Count(int64(len(data.Agents)), "crawler"))
	files := editableFiles(run)
	wanted := make([][]engine.SiteID, len(files))
	for n, i := range files {
		for j := range busiest { // and of others that were in force at its origin
			if busiest[j].Origin == busiest[i].Origin {
				wanted[n] = append(wanted[n], busiest[j].Sites...)
			}
		}
		slices.Sort(wanted[n])
		wanted[n] = slices.Compact(wanted[n])
	}
	for n, requested := range p.counts.counter.MostRequested(wanted, most) {
		f, sites := &run.Files[files[n]], wanted[n]
		origin := whatif.Origin{
			Origin: robots.Origin(cmp.Or(run.HostOrigin(f.All()...), f.Origin)), Others: f.Origins - 1, Text: f.Text, Name: p.path,
			Requests: f.Requests * verdicts, URLs: make([]whatif.URL, len(requested)),
		}
		var all []whatif.Count // separate slices would be slower
		for i := range requested {
			begin := len(all)
			for _, c := range requested[i].Counts {
				all = append(all, whatif.Count{Agent: number[c.Agent], Requests: c.Requests, Bytes: c.Bytes})
			}
			origin.URLs[i] = whatif.URL{Path: requested[i].Path, Counts: all[begin:len(all):len(all)]}
		}
		if urls, requests, known := p.counts.counter.SiteTotals(sites); known {
			origin.Requests = requests * verdicts
			if len(sites) == 1 { // with several sites, a path is one URL of the editor
				origin.Distinct = int(urls)
			}
		}
		data.Origins = append(data.Origins, origin)
	}
	made := whatif.New(data)
	return report.Panel{ID: "what-if", Title: "What if", HTML: made.HTML, CSS: made.Style, Scripts: made.Scripts, Wasm: len(made.Scripts) > 0}
}

// editableFiles returns the indexes in run.Files of the files in the editor, at most whatif.MaxOrigins: the file of
// the host in the page's heading, followed by the busiest ones.
func editableFiles(run *report.Run) (files []int) {
	for i := range run.Files {
		if isEditable(&run.Files[i]) {
			files = append(files, i)
		}
	}
	first := slices.IndexFunc(files, func(i int) bool {
		f := &run.Files[i]
		return run.HostOrigin(f.All()...) != ""
	})
	if first > 0 {
		file := files[first]
		files = slices.Insert(slices.Delete(files, first, first+1), 0, file)
	}
	return files[:min(len(files), whatif.MaxOrigins)]
}

// isEditable reports whether the complete text of a file is available. Only the beginning of a very large file is
// loaded, and an edit of that would lose the rest. If an origin has several texts, only the last one in force is
// editable.
func isEditable(f *report.File) bool {
	return f.Text != nil && !f.Older && len(f.Text) <= robots.MaxBytes
}

// tooLarge says why a file cannot be edited.
const tooLarge = "is larger than 500 KiB: the report has only its beginning, so an edit would lose the rest"

// whyNoTexts says why no file is editable; "" if one is.
func whyNoTexts(files []report.File) string {
	if len(files) == 0 {
		return "No request is for a site with rules in its robots.txt."
	}
	for i := range files {
		if isEditable(&files[i]) {
			return ""
		}
	}
	if len(files[0].Text) > robots.MaxBytes {
		return "The robots.txt of " + files[0].Origin + " " + tooLarge + "."
	}
	return files[0].Note
}

// leftOutNote names the first origin whose text is too large to be edited, and the number of others; "" if there are
// none.
func leftOutNote(files []report.File) string {
	first, more := "", -1
	for i := range files {
		if f := &files[i]; f.Text != nil && len(f.Text) > robots.MaxBytes {
			first = cmp.Or(first, f.Origin)
			more++
		}
	}
	if more < 0 {
		return ""
	}
	text := "The robots.txt of " + first + " is not included, because it " + tooLarge
	if more > 0 {
		text += fmt.Sprintf("; and %d more for the same reason", more)
	}
	return text + "."
}
