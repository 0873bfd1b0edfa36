package flags

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/msg"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/outputs"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/summary"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/ingest"
	"github.com/robobatch/robobatch/internal/atomicfile"
	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/internal/storage"
	"github.com/robobatch/robobatch/output"
	"github.com/robobatch/robobatch/robots"
)

// Logs holds the flags that choose the logs and their format.
type Logs struct {
	In []string
	summary.InputForm
	Limit int64 // of URLs; 0 means none
}

// Flags returns the flags of logs.
func (l *Logs) Flags() []cli.Flag {
	return []cli.Flag{
		{Name: "in", Arg: "log", Files: true, Needed: NameLog, Set: cli.Each(&l.In), Doc: `
			A log to read, plain, zstd or gzip: one URL per line, or in another -format. A directory means all logs
			below it, by
extension; 'logs/*.zst' is a pattern (** for any directories); @list.txt has one name per line; - is standard input;
s3://bucket/key and s3://bucket/logs/ are in object storage. May be repeated.`},
		{
			Name: "format", Arg: "name", Values: Formats(), Default: "auto",
			Set: cli.Text(&l.Format), Doc: `
			Format of the logs (docs/FORMATS.md). auto detects it from the first lines; the others are urls, combined
			(Apache, nginx), w3c (IIS), cloudfront, alb, npm, haproxy, squid, s3, envoy, json, logfmt, ltsv, csv, tsv,
			cdxj, parquet, sitemap and warc. Also a log_format or LogFormat, or @file with one.`,
		},
		{Name: "base", Arg: "url", Set: cli.Text(&l.Base), Doc: `
			The site of the logs, if they contain only paths. Write it like
			https://www.example.com.`},
		{Name: "field", Arg: "name", Set: func(s string) error {
			l.Field = append(l.Field, strings.Split(s, ",")...)
			return nil
		}, Doc: `
			The log field for a role, such as url=target or host=authority. host=none means no field. In json it may
			be a path: url=request.uri. May be repeated.`},
		{Name: "client-at", Arg: "n", Default: "0", Set: cli.Int(&l.ClientAt), Doc: `
			Position of the client's address in a field with several. 1 is the first, -1 the last.`},
		{
			Name: "keep", Arg: "fields", Values: Fields(), List: true,
			Set: func(s string) error { // the record has the words as written
				l.Keep = append(l.Keep, strings.Split(s, ",")...)
				return nil
			}, Doc: `
			Log fields to append as columns, such as status,referer,time. A type is optional, as in price:float (text,
			int, float, time, bool). May be repeated.`,
		},
		{
			Name: "limit", Arg: "n", Default: "0",
			Set: cli.Int(&l.Limit), Doc: "Stop after n URLs, or n of each input with one output per input. 0 reads all.",
		},
	}
}

// Choose returns the options for reading the logs, and the columns of -keep, in the same order as opt.Keep. It adds
// all faults to faults.
func (l *Logs) Choose(faults *cli.Faults) (opt ingest.LogOptions, kept []output.KeptColumn) {
	var err error
	opt.Limit = l.Limit
	format := l.Format
	if name, ok := strings.CutPrefix(format, "@"); ok {
		format, err = readPattern(name)
		faults.Add("format", err)
	}
	if err == nil {
		opt.Format, err = ingest.ParseFormat(format)
		faults.Add("format", cli.Hint(err, format, Formats()))
	}
	if l.Base != "" {
		opt.Fields.Base, err = robots.ParseOrigin(l.Base)
		faults.Add("base", err)
	}
	opt.Fields.Named = map[string]string{}
	for _, text := range l.Field {
		role, name, _ := strings.Cut(strings.TrimSpace(text), "=")
		_, err := cli.Choose("role", role, ingest.FieldRoles())
		if _, twice := opt.Fields.Named[role]; err == nil && (name == "" || twice) {
			err = fmt.Errorf("%q: name one field of the log for a role, as in %s=x, or none", text, role)
		}
		faults.Add("field", err)
		opt.Fields.Named[role] = name
	}
	if opt.Fields.ClientAt = l.ClientAt; l.ClientAt < -1 {
		faults.Add("client-at", fmt.Errorf("%d: write 1 for the first address, 2 for the second, and so on, or -1 for the last", l.ClientAt))
	}
	for _, text := range l.Keep {
		field := strings.TrimSpace(text) // "status" or, with a type, "price:float"
		kind, named := ingest.FieldKind(field), false
		if i := strings.LastIndexByte(field, ':'); i >= 0 {
			if k, ok := KeptTypes[field[i+1:]]; ok {
				field, kind, named = field[:i], k, true
			}
		}
		name := field
		if slices.Contains(output.Columns(), name) {
			name = "in_" + name // verdicts already have such a column
		}
		if slices.ContainsFunc(kept, func(k output.KeptColumn) bool { return k.Name == name }) || field == "" {
			faults.Add("keep", fmt.Errorf("%q is empty, or the name of another column: name each field once", text))
			continue
		}
		opt.Keep = append(opt.Keep, ingest.KeptColumn{Field: field, Kind: kind, Own: !named && kind == engine.KeptText})
		kept = append(kept, output.KeptColumn{Name: name, Kind: kind})
	}
	return opt, kept
}

// maxPattern is the maximum size of a pattern file in bytes, far more than its 64 fields need.
const maxPattern = 64 << 10

// readPattern returns the log format in a file. Errors do not quote the file, because it may be the wrong one and
// contain a secret.
func readPattern(name string) (string, error) {
	f, err := storage.Open(name)
	if err != nil {
		return "", fmt.Errorf("read %s: %w: write @ and the name of a file with a log_format or LogFormat, or the pattern itself", msg.File(name), atomicfile.WithoutPath(err))
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxPattern+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("read %s: %w", msg.File(name), atomicfile.WithoutPath(err))
	case len(text) > maxPattern:
		return "", fmt.Errorf("%s has over %d KiB: copy only the log_format or LogFormat of the log into a separate file", msg.File(name), maxPattern>>10)
	case !bytes.ContainsAny(text, "$%"):
		return "", fmt.Errorf("%s has no field of a pattern, such as $request or %%r: copy the log_format or LogFormat of the log into it", msg.File(name))
	}
	return string(text), nil
}

// Limits are the limits at which a run fails.
type Limits struct {
	MaxRejects, RequireRules string
	NoRows                   string // a value of noRows
}

// noRows are the values of -no-rows.
var noRows = []string{"warn", "fail", "allow", "fail,allow"}

// Flags returns the flags of limits.
func (l *Limits) Flags() []cli.Flag {
	return []cli.Flag{
		{Name: "max-rejects", Arg: "n", Rare: true, Set: cli.Text(&l.MaxRejects), Doc: `
			Exit with code 1 if more lines are rejected: n, or n% of all.`},
		{Name: "require-rules", Arg: "share", Rare: true, Set: cli.NotEmpty(&l.RequireRules, "write a share, such as 99%"), Doc: `
			Exit with code 1 if too few rows with a URL have a robots.txt in -rules. The value is their minimum share, such as
			99%. Needs a log (-in).`},
		{Name: "no-rows", Arg: "what", Values: noRows, Default: noRows[0], Rare: true, Set: cli.Text(&l.NoRows), Doc: `
			What to do without rows, or without any URL. warn: warn if there are no rows; exit with code 2 if no line has
			a URL. fail: exit with code 1 if there are no rows. allow: accept logs without any URL. fail,allow: both.`},
	}
}

// AllowsBad reports whether logs without any URL are accepted.
func (l *Limits) AllowsBad() bool { return strings.HasSuffix(l.NoRows, "allow") }

// Choose returns the limits. Faults of -max-rejects go to input, all others to faults.
func (l *Limits) Choose(input, faults *cli.Faults) (outputs.RejectLimit, outputs.Requirements) {
	limit, err := outputs.ParseRejectLimit(l.MaxRejects)
	input.Add("max-rejects", err)
	_, err = cli.Choose("way", l.NoRows, noRows)
	faults.Add("no-rows", err)
	require := outputs.Requirements{Rows: strings.HasPrefix(l.NoRows, "fail"), AllowBad: l.AllowsBad()}
	require.Rules, err = outputs.ParseShare(l.RequireRules)
	faults.Add("require-rules", err)
	return limit, require
}

// Sitemaps are the values of -in-sitemap: sitemaps whose URLs are compared with the rows.
type Sitemaps struct{ Paths []string }

// Flag returns the flag -in-sitemap. adds is a sentence about its effect in the command.
func (s *Sitemaps) Flag(adds string) cli.Flag {
	return cli.Flag{Name: "in-sitemap", Arg: "path", Files: true, Set: cli.Each(&s.Paths), Doc: `
		A sitemap, an index with its files in the same directory, or a directory. ` + adds + ` May be repeated.`}
}
