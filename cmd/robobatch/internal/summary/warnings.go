package summary

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/msg"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/outputs"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/warning"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest"
	"github.com/robobatch/robobatch/output"
	"github.com/robobatch/robobatch/robots"
)

// Rows returns the numbers of rows by which -no-rows and -require-rules judge the run. Bad says what is wrong with
// all rows: they have no URL, belong to another site than -base, or have no User-Agent; "" otherwise.
func (r *Report) Rows() outputs.Rows {
	c := &r.Counts
	rows := outputs.Rows{
		Read: c.URLs + c.Skipped, Without: c.Reasons[engine.ReasonNoRobots.String()],
		Decided: c.Rows - c.Reasons[engine.ReasonBadURL.String()],
	}
	if c.Bad() > 0 {
		rows.Bad = r.noURLsText()
	} else {
		rows.Bad = cmp.Or(r.elsewhereText(), r.NoClients())
	}
	return rows
}

// NoClients returns the fault that no row has a User-Agent, if the run needs User-Agents to identify crawlers; ""
// otherwise.
func (r *Report) NoClients() string {
	if rows := r.Counts.URLs + r.Counts.Skipped; !r.AgentFromLog || rows == 0 || r.read.Agents > 0 {
		return ""
	}
	text := "no row has a User-Agent, which -agent-from-log needs to identify crawlers. The format is " + r.Formats()
	for _, in := range r.Inputs {
		if in.of == nil {
			continue
		}
		for _, left := range in.of.Left {
			if left.Role == "agent" {
				return text + ": " + leftText(left)
			}
		}
	}
	if slices.ContainsFunc(r.Inputs, func(in Input) bool { return ingest.Format(in.Format).AnyField() }) {
		text += ": name the field with -field agent=name, if there is one, or the crawlers"
	} else {
		text += ": name the crawlers"
	}
	return text + " with -agent"
}

// Warn returns the warnings about the rows of the logs, except for kinds that the report already has.
func (r *Report) Warn() (all []warning.Warning) {
	c, read := &r.Counts, &r.read
	rows := c.URLs + c.Skipped
	add := func(code warning.Code, n int64, lines []ingest.Place, text string) {
		if n == 0 {
			return
		}
		d := warning.Warning{Code: code, Text: text, Count: n}
		for _, at := range lines {
			d.Examples = append(d.Examples, fmt.Sprintf("%s: line %d", msg.File(r.Inputs[at.Input].Name), at.Line))
		}
		all = append(all, d)
	}
	switch bad, logs := c.Bad(), int64(len(r.Inputs)); {
	case bad > 0:
		add(warning.NoURLs, bad, nil, r.noURLsText())
	case rows > 0 && c.URLs == 0:
		add(warning.NoRows, c.Skipped, nil, "all rows skipped: their User-Agents are unknown (-unknown-agents skip)")
	case rows == 0 && logs > 1:
		add(warning.NoRows, logs, nil, fmt.Sprintf("none of the %d logs has rows; -no-rows fail makes that an error", logs))
	case rows == 0:
		add(warning.NoRows, logs, nil, "the log has no rows; -no-rows fail makes that an error")
	}
	all = append(all, r.aboutRules...)
	if c.Undated == c.URLs {
		add(warning.NoTimes, c.Undated, nil, "no row has a valid time, so the newest captures were used: name the time field with -field time=name")
	}
	null := ""
	if r.AgentFromLog {
		null = ", and their violation is null"
	}
	add(warning.UntimedRules, c.Timeless, nil, fmt.Sprintf("-as-of log: %s disallowed by a robots.txt with an unknown effective date%s: its only timestamp is a file modification time, or it has none; use captures with timestamps",
		msg.Were(c.Timeless, "row"), null))
	add(warning.FailedFetches, c.Unfetched, nil, msg.Count(c.Unfetched, "row")+" by crawlers disallowed only because a fetch of robots.txt failed: the crawler's own fetch may have succeeded, so the violation is null")
	if n := rows - read.Agents; r.AgentFromLog && c.Bad() == 0 && 10*n > rows {
		add(warning.NoUserAgents, n, nil, fmt.Sprintf("%s of %s without a User-Agent in the log: their crawlers are unknown", msg.Number(n), msg.Count(rows, "row")))
	}
	all = append(all, r.warnWhiteSpace()...)
	add(warning.MixedEncoding, read.Wide, read.FirstWide, msg.Count(read.Wide, "line")+" in another encoding than the beginning of the log: convert each part before joining, for example: iconv -f UTF-16 -t UTF-8")
	add(warning.JoinedLines, read.Joined, read.FirstJoined, msg.Count(read.Joined, "line")+" with several records, or with NUL bytes from a crash, gave at most one row each: check them, and convert CR line endings, for example: tr '\\r' '\\n'")
	if c.Bad() == 0 && 10*Sum(c.Refused) <= c.Lines()+c.Skipped { // otherwise Rejected warns
		add(warning.MixedFormats, read.Mixed, read.FirstMixed, msg.Were(read.Mixed, "line")+" rejected: several in a row, or requests in another format: name that part of the log as a separate input; robobatch -rejects lists the lines")
	}
	all = append(all, r.warnHeadless()...)
	add(warning.HeadlessTable, read.Headed, read.FirstHeaded, msg.Count(read.Headed, "line")+" in lists of URLs with column names, like the header row of a table, whose columns would be read as parts of URLs: name each table as a separate input")
	add(warning.AddressHosts, read.Addresses, read.FirstAddress, msg.Count(read.Addresses, "row")+" with an address as the host, from the start of the line: if that is the client (%{X-Forwarded-For}i), name the site of the log with -base")
	all = slices.Concat(all, r.warnGrowing(), r.warnFields())
	add(warning.TwoQueries, read.Queries, read.FirstQueries, msg.Count(read.Queries, "row")+" with a query in the URL, which is used, and another in the query field: add -field query=none if that is right")
	if n := read.NoTimes; 10*n > rows {
		add(warning.TimesLost, n, nil, fmt.Sprintf("%s with an invalid time, such as %q: name another field with -field time=name, or write times as in 2026-01-31T18:00:00Z", msg.Count(n, "row"), shorten(read.FirstNoTime)))
	}
	return slices.DeleteFunc(all, func(d warning.Warning) bool {
		return slices.ContainsFunc(r.Warnings, func(seen warning.Warning) bool { return seen.Code == d.Code })
	})
}

// noURLsText returns the text of the warning that no line gave a URL, with the likely cause and a remedy. Call it
// only if Counts.Bad is not 0.
func (r *Report) noURLsText() string {
	if long := r.Counts.LongLines + r.Counts.Refused["too_long"]; 2*long > r.Counts.Bad() {
		return fmt.Sprintf("%s longer than %d KiB, so no URL is read: for JSON, keep only the fields that you need, for example: %s log.jsonl | robobatch -in - …", msg.Were(long, "line"), ingest.MaxLine>>10, warning.ShortenJSON)
	}
	format := "The format was detected as " + r.Formats() + ": if that is wrong, use -format"
	if r.Format != ingest.Auto.String() {
		format = "The format is " + r.Formats() + ", as -format says: if that is wrong, use another"
	}
	if slices.ContainsFunc(r.Inputs, func(in Input) bool { return ingest.Format(in.Format).AnyField() }) {
		format += "; if the URL is in another field, use -field url=name"
		if fields := &r.read.Urlless; len(fields.URLs)+len(fields.Others) > 0 {
			format += ". In the first line without a URL, " + fields.String()
		}
	}
	if r.Base == "" && r.Formats() == "urls" {
		format += "; if lines are paths, use -base"
	}
	if r.Counts.URLs == 0 {
		names := slices.SortedFunc(maps.Keys(r.Counts.Refused), func(a, b string) int {
			return cmp.Or(cmp.Compare(r.Counts.Refused[b], r.Counts.Refused[a]), cmp.Compare(a, b))
		})
		all := make([]string, 0, 3)
		for _, name := range names[:min(len(names), 3)] {
			all = append(all, name+" "+msg.Number(r.Counts.Refused[name]))
		}
		return "every line was rejected (" + strings.Join(all, ", ") + "). " + format
	}
	if hostFirst.MatchString(r.read.FirstBare) {
		return fmt.Sprintf("no line is a URL with a scheme: %q begins with a host. The scheme (http or https) is unknown: put https:// in front of the URLs, for example: sed 's#^#https://#' for a list", shorten(r.read.FirstBare))
	}
	return "no line is a URL with a scheme and a host. " + format
}

// hostFirst matches URLs without a scheme, as some tools export them: www.example.com/page.
var hostFirst = regexp.MustCompile(`^(//)?([A-Za-z0-9_-]+\.)+[A-Za-z][A-Za-z0-9-]*(:[0-9]+)?([/?#].*)?$`)

// warnHeadless returns a warning if logs that were read as URLs look like tables without a header row; nil otherwise.
func (r *Report) warnHeadless() []warning.Warning {
	d := warning.Warning{Code: warning.HeadlessTable}
	for _, in := range r.Inputs {
		if !in.headless {
			continue
		}
		if d.Count++; len(d.Examples) < warning.Examples {
			d.Examples = append(d.Examples, msg.File(in.Name))
		}
	}
	if d.Count == 0 {
		return nil
	}
	d.Text = msg.Count(d.Count, "log") + " read as URLs, but the first lines have the same number of values after the URL: if these are columns, add a header row; if not, add -format urls"
	return []warning.Warning{d}
}

// warnWhiteSpace returns a warning if URLs contain white space, after which other columns may begin; nil otherwise.
func (r *Report) warnWhiteSpace() []warning.Warning {
	n := r.read.Blank
	if n == 0 || r.Counts.Bad() > 0 { // if no line is a URL, there is another warning
		return nil
	}
	read := "spaces are read as %20, other white space unchanged"
	switch {
	case r.URLAsIs:
		read = "it is matched unchanged"
	case r.Dialect == robots.RFC9309.String():
		read = "it is read as %20, %09 and so on"
	}
	do := "check that the URLs are complete"
	if slices.ContainsFunc(r.read.FirstBlank, func(url ingest.BlankURL) bool { return r.Inputs[url.Input].Format == ingest.URLs.String() }) {
		do = "columns after a URL need a header row and -format"
	}
	d := warning.Warning{Code: warning.WhiteSpace, Text: msg.Count(n, "URL") + " with white space inside; " + read + "; " + do, Count: n, Short: true}
	for _, url := range r.read.FirstBlank {
		d.Examples = append(d.Examples, fmt.Sprintf("%s: line %d: %q", msg.File(r.Inputs[url.Input].Name), url.Line, shorten(url.URL)))
	}
	return []warning.Warning{d}
}

// elsewhereText returns the fault that all lines name other sites than -base; "" if some row may belong to the site
// of -base.
func (r *Report) elsewhereText() string {
	if n := r.Counts.URLs + r.Counts.Skipped; r.Base == "" || n == 0 || r.read.Elsewhere < n {
		return ""
	}
	field, inner := "", ""
	for _, in := range r.Inputs {
		for _, text := range in.Fields {
			if name, ok := strings.CutPrefix(text, "host = "); ok {
				field, inner = ", in "+name, ", or add -field host=none if these are internal names behind a proxy"
			}
		}
	}
	return "-base " + r.Base + " is for lines without a host, but all lines of this log name another site" + field +
		": leave it out (use -origin for rules in one file)" + inner
}

// leftText says which unread field of a log may have a role, such as client, and how to read it.
func leftText(left ingest.Left) string {
	switch {
	case left.Pattern != "":
		return fmt.Sprintf("the %s may be in an unread part of the line (%q): read it with -format %s", left.Role, left.Value, warning.Quote(left.Pattern))
	case left.Field == "":
		return fmt.Sprintf("the first lines have no known field for the %s, which -keep needs: name it with -field %s=name", left.Role, left.Role)
	}
	return fmt.Sprintf("the log has no known field for the %s, but the unread field %q may be one (%q): read it with -field %s=%s", left.Role, left.Field, left.Value, left.Role, left.Field)
}

// warnFields returns the warnings about the fields of the logs. Logs with the same fault share a warning, which names
// the first of them.
func (r *Report) warnFields() (all []warning.Warning) {
	index := map[string]int{} // by the text about the first log
	add := func(code warning.Code, in *Input, about, text string) {
		i, ok := index[string(code)+about]
		if !ok {
			i = len(all)
			index[string(code)+about] = i
			all = append(all, warning.Warning{Code: code, Text: msg.File(in.Name) + ": " + text})
		}
		all[i].Count++
	}
	for i := range r.Inputs {
		in := &r.Inputs[i]
		took := in.of
		if took == nil {
			continue
		}
		for _, left := range took.Left {
			add(warning.UnreadField, in, left.Role, leftText(left))
		}
		if took.Mixed != "" {
			add(warning.MixedProducers, in, "", fmt.Sprintf("the first lines come from both %s and %s, and are read as %[1]s: name each part as a separate input", took.Producer, took.Mixed))
		}
		if took.DayOnly != "" && (r.ByRow() || r.RangesHash != "") {
			add(warning.DayOnly, in, "", fmt.Sprintf("the time field contains only days (%q), so each row counts at the start of its day", took.DayOnly))
		}
		if took.Proxied != "" && r.RangesHash != "" {
			add(warning.ProxiedClients, in, "", fmt.Sprintf("the client addresses belong to a private network, but %q contains others: add -field client=%s, and -client-at 1 or -1, depending on where your proxies add theirs", took.Proxied, took.Proxied))
		}
	}
	return all
}

// WarnRejected returns a warning if over a tenth of the lines, or an eighth of the bytes, were rejected, because the
// remaining rows may not represent the log; nil otherwise, and if no line gave a URL, for which there is another
// warning. lines is the number of rejected lines, and list is advice on how to list them.
func (r *Report) WarnRejected(lines int64, list string) []warning.Warning {
	c := &r.Counts
	all := c.Lines() + c.Skipped
	lost := r.read.Lost
	if lines > Sum(c.Refused) {
		lost += r.badBytes
	}
	isText := !slices.ContainsFunc(r.Inputs, func(in Input) bool { // then the size is known
		return in.Format == ingest.Parquet.String() || in.Format == ingest.WARC.String() || in.Format == ingest.Sitemap.String()
	})
	if c.Bad() > 0 || 10*lines <= all && (8*lost <= r.read.Bytes || !isText) {
		return nil
	}
	text := fmt.Sprintf("%s of %s rejected, without a verdict", msg.Number(lines), msg.Were(all, "line"))
	if 10*lines <= all {
		text = fmt.Sprintf("%s of %s, with %s of the bytes, were rejected, without a verdict",
			msg.Number(lines), msg.Count(all, "line"), strings.TrimSpace(msg.Percent(lost, r.read.Bytes)))
	}
	var why []string
	if bad := lines - Sum(c.Refused); bad > 0 {
		why = append(why, fmt.Sprintf("%s %s", engine.ReasonBadURL, msg.Number(bad)))
	}
	for _, reason := range slices.Sorted(maps.Keys(c.Refused)) {
		if n := c.Refused[reason]; n > 0 {
			why = append(why, fmt.Sprintf("%s %s", reason, msg.Number(n)))
		}
	}
	text += " (" + strings.Join(why, ", ") + "): " + list + "; -max-rejects makes it an error"
	return []warning.Warning{{Code: warning.RejectedLines, Text: text, Count: lines}}
}

// shorten returns the first hundred bytes of a long text.
func shorten(text string) string { return shortenTo(text, 100) }

// shortenTo truncates a text to a number of bytes, and appends "..." if it was longer.
func shortenTo(text string, most int) string {
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "..."
	}
	return text
}

// warnGrowing returns a warning if logs grew while they were read; nil otherwise.
func (r *Report) warnGrowing() []warning.Warning {
	n := int64(len(r.grown))
	if n == 0 {
		return nil
	}
	text := msg.Count(n, "log") + " grew while it was read: its last line may be incomplete"
	if n > 1 {
		text = msg.Count(n, "log") + " grew while they were read: their last lines may be incomplete"
	}
	d := warning.Warning{Code: warning.GrowingLog, Text: text, Count: n}
	for _, name := range r.grown[:min(n, warning.Examples)] {
		d.Examples = append(d.Examples, msg.File(name))
	}
	return []warning.Warning{d}
}

// WarnFormulas adds a warning if the output has cells that spreadsheets would execute.
func (r *Report) WarnFormulas(f *output.File) {
	r.Warnings = append(r.Warnings, warning.Formulas(f.Formulas())...)
}
