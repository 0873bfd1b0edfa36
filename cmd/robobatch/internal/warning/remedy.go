package warning

import (
	"cmp"
	"errors"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/msg"
	"github.com/robobatch/robobatch/ingest"
	"github.com/robobatch/robobatch/ingest/rulefiles"
	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/internal/measure"
	"github.com/robobatch/robobatch/internal/pack"
	"github.com/robobatch/robobatch/internal/storage"
	"github.com/robobatch/robobatch/output"
	"github.com/robobatch/robobatch/pipe"
)

// remedies are the fixed texts, by sentinel. The first match is used. Libraries do not know flags: they return
// sentinels and typed errors that describe the fault, and only this package says which flag helps. To add a remedy,
// give the library such an error, and add a line here (for a fixed text) or a case to [Remedies.Add].
var remedies = []struct {
	err    error
	remedy string
}{
	{ingest.ErrNoURL, "name the field with -field url=name; if it is a list of URLs instead of a table, add -format urls"},
	{ingest.ErrNoAgents, "-agent-from-log needs it to identify crawlers: name the field with -field agent=name, if there is one, or the crawlers with -agent"},
	{ingest.ErrNoClients, "-ranges needs it to verify crawlers: name the field with -field client=name, if there is one"},
	{ingest.ErrManyClients, "choose the client's address: -client-at 1 for the first, -client-at -1 for the last"},
	{ingest.ErrManyURLs, "name one with -field url=name"},
	{ingest.ErrSeparator, "use -format csv"},
	{ingest.ErrNativeIIS, "configure IIS to write the W3C format, with cs-uri-stem, cs-uri-query and cs(User-Agent)"},
	{ingest.ErrNoHeader, "add a header row, for example: (echo url,clicks; cat file) | robobatch -in - …; if it is a list of URLs, add -format urls"},
	{ingest.ErrJoined, "name each part as a separate input, for example: -in access.log -in access.log.1.gz; or decompress the parts before joining"},
	{ingest.ErrNoFields, "prepend it from the complete log, for example: { grep -m1 '^#Fields' whole.log; cat part.log; } > new.log"},
	{ingest.ErrJSONText, "write one object per line, for example: jq -c 'arrays[], objects' log.json | robobatch -in - …"},
	{ingest.ErrNotFormat, "leave out -format to detect the format, or name another"},
	{output.ErrDictMemory, "write Parquet or an Arrow stream (.arrows), or raise -max-memory"},
	{pipe.ErrNoColumn, "name the column of the URLs with -url-column"},
	{pipe.ErrNoAgentColumn, "name the column of the crawlers with -agent-column"},
	{pipe.ErrNoField, "name the column with -field"},
	{pipe.ErrTimeType, "cast it to a timestamp, or name another with -field"},
	{pipe.ErrTaken, "rename the added columns with -prefix, or leave this one out with -columns"},
	{pipe.ErrType, "cast it to a string, or name another with -url-column"},
	{pack.ErrVersion, "rebuild it from its files, for example: robobatch compile -rules robots/ -out robots.rbp"},
	{rulefiles.ErrOriginDir, "leave -origin out, as the file names give the origins, or name one file"},
	{rulefiles.ErrOriginFile, "leave -origin out, or rename the file if it is a robots.txt"},
	{ingest.ErrPipedWARC, "name the file, with -format warc"},
	{ingest.ErrURLList, "if it is a table or another format, name that, such as -format csv"},
	{output.ErrOutput, "choose with -partition-mode: replace, replace-partitions (those with new rows) or append"},
	{output.ErrOther, "name another directory, or -partition-mode replace"},
	{output.ErrSameRun, "nothing was added; to write them again, use -partition-mode replace-partitions"},
	{output.ErrStopped, "run that command again, or use -partition-mode replace"},
	{measure.ErrNoURLs, "name a log with URLs, or the format with -format"},
}

// Quote quotes a text as an argument for a shell. It escapes characters that control a terminal.
func Quote(text string) string {
	return "'" + strings.ReplaceAll(msg.Printable(text), "'", `'\''`) + "'"
}

// A remediedError is a library error with its remedy.
type remediedError struct {
	err    error
	remedy string
}

// Error returns the error and its remedy. If the error has several lines, the remedy is on a line of its own.
func (e *remediedError) Error() string {
	text := e.err.Error()
	if strings.Contains(text, "\n") {
		return text + "\n" + e.remedy
	}
	if strings.HasPrefix(e.remedy, "or ") {
		return text + ", " + e.remedy
	}
	return text + ": " + e.remedy
}

// Unwrap returns the error of the library.
func (e *remediedError) Unwrap() error { return e.err }

// Remedies holds the facts about a command on which remedies depend, besides the error.
type Remedies struct {
	Logs, Packs bool   // whether the command reads logs, so that its rules may be a pack
	Keeps       bool   // whether the command keeps the rows before a fault, or has a flag for that
	Origin      string // value of -origin; "" if not given
}

// ShortenJSON is a command that shortens long lines of JSON.
const ShortenJSON = "jq -c '{url,status}'"

// damageRemedy is the remedy for damaged capture files.
const damageRemedy = "get a complete copy, or use the intact part with -accept-damaged-rules"

// Add returns the error with its remedy. In a joined error, each part gets its own remedy. An error that has no
// remedy, or already has one, is returned unchanged; nil stays nil.
func (s Remedies) Add(err error) error {
	if all, ok := cli.Joined(err); ok {
		all = slices.Clone(all)
		for i, err := range all {
			all[i] = s.Add(err)
		}
		return errors.Join(all...)
	}
	if _, ok := errors.AsType[*remediedError](err); ok || err == nil {
		return err
	}
	if packing, ok := errors.AsType[*ingest.PackingError](err); ok {
		return &remediedError{err, unpackRemedy(err, packing.Tool, "")}
	}
	if other, ok := errors.AsType[*ingest.ForeignError](err); ok {
		return &remediedError{err, foreignRemedy(err, other)}
	}
	if shape, ok := errors.AsType[*ingest.ShapeError](err); ok {
		remedy := "give the log_format or LogFormat of its server with -format"
		if shape.Pattern != "" {
			remedy += ", or start from -format " + Quote(shape.Pattern)
		}
		return &remediedError{err, remedy}
	}
	switch {
	case errors.Is(err, ingest.ErrLineEnds):
		return &remediedError{err, unpackRemedy(err, `tr '\r' '\n'`, "<")}
	case errors.Is(err, ingest.ErrLongLines):
		return &remediedError{err, unpackRemedy(err, ShortenJSON, " ")}
	case errors.Is(err, ingest.ErrWrapped):
		return &remediedError{err, unpackRemedy(err, "jq -r .log", " ")}
	case errors.Is(err, ingest.ErrNoBase):
		return &remediedError{err, "name its site with -base " + cmp.Or(s.Origin, "https://www.example.com")}
	case errors.Is(err, rulefiles.ErrNoOrigin):
		remedy, others := "add -origin https://www.example.com", "a directory, a .warc or a .jsonl file"
		if s.Logs {
			remedy += " (or, if the log has only paths, -base https://www.example.com for both)"
		}
		if s.Packs {
			others = "a directory, a .warc or a .jsonl file, or a pack (.rbp)"
		}
		return &remediedError{err, remedy + ", or name " + others}
	}
	if _, ok := errors.AsType[*rulefiles.DamageError](err); ok {
		return &remediedError{err, damageRemedy}
	}
	if text := partRemedy(err); text != "" && !s.Keeps {
		return &remediedError{err, text}
	}
	for _, r := range remedies {
		if errors.Is(err, r.err) {
			return &remediedError{err, r.remedy}
		}
	}
	return err
}

// unpackRemedy says by which shell command to unpack or convert the log, and pass it to the program. tool is the
// command, and before precedes the file name in it.
func unpackRemedy(err error, tool, before string) string {
	verb := "unpack"
	if before != "" || strings.HasPrefix(tool, "iconv ") {
		verb = "convert"
	}
	at, ok := errors.AsType[*ingest.LineError](err)
	if ok = ok && at.Name != msg.Std; ok {
		info, err := os.Stat(at.Name)
		ok = err != nil || info.Mode()&os.ModeNamedPipe == 0 // a named pipe can be read only once
	}
	if ok {
		if packing, ok := errors.AsType[*ingest.PackingError](err); ok && packing.Outer > 0 && slices.Contains([]string{"zip", "7z", "rar"}, packing.Packing.String()) { // no tool reads these from a pipe
			inner := "inner." + packing.Packing.String()
			return "unpack it first, for example: " + tool + " " + msg.File(at.Name) + " > " + inner + ", and name " + inner
		}
		return verb + " it first, for example: " + tool + " " + strings.TrimSpace(before) + msg.File(at.Name) + " | robobatch -in - …"
	}
	switch command, _, _ := strings.Cut(tool, " "); command {
	case "tar":
		tool += " -"
	case "unzip", "7z", "unrar": // they read only files
		return "write it to a file first, and then: " + tool + " file | robobatch -in - …"
	}
	return verb + " it in the pipe, for example: … | " + tool + " | robobatch -in - …"
}

// partRemedy says how to read the lines before the end of a truncated compressed log, for a command that does not
// keep rows; "" for other errors.
func partRemedy(err error) string {
	at, ok := errors.AsType[*ingest.LineError](err)
	if !ok || !errors.Is(err, ingest.ErrTruncated) || at.Name == msg.Std || storage.IsRemote(at.Name) {
		return ""
	}
	tool := map[string]string{".gz": "gzip", ".zst": "zstd", ".bz2": "bzip2", ".xz": "xz"}[path.Ext(at.Name)]
	if tool == "" {
		return ""
	}
	return "or read the lines before that, for example: " + tool + " -dc " + msg.File(at.Name) + " > part.log, and name part.log"
}

// foreignRemedy says how to skip a file that is not a log.
func foreignRemedy(err error, other *ingest.ForeignError) string {
	remedy := "leave it out"
	at, ok := errors.AsType[*ingest.LineError](err)
	ok = ok && at.Name != msg.Std
	if ok {
		if i := strings.LastIndexByte(at.Name, '/'); i >= 0 {
			remedy += ", as in -in '" + msg.Printable(at.Name[:i+1]) + "access*'"
		}
	}
	if other.Kind == ingest.ForeignXML {
		return remedy + "; the only XML files that can be read are sitemaps"
	}
	var names []string
	for _, f := range ingest.Formats() {
		if f != ingest.Auto {
			names = append(names, f.String())
		}
	}
	return remedy + ", or name its format with -format, if it is one of " + strings.Join(names, ", ")
}
