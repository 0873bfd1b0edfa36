package flags

import (
	"github.com/robobatch/robobatch/internal/cli"
)

// Rules are the flags that choose the rules.
type Rules struct {
	Path, Origin string
	AcceptDamage bool // for capture files
}

// Remedies for missing required flags.
const (
	NameRules = "name a directory of robots.txt files"
	NamePack  = "name a pack of rules (robobatch compile makes one), or a directory of robots.txt files"
	NameLog   = "name a log of URLs, or - for standard input"
)

const (
	oneDirectory = "put all robots.txt files into one directory"
	originDoc    = `
		The origin of the one robots.txt that -rules names. Write it like
		https://www.example.com.`
)

// Flags returns the flags that name robots.txt files, captures or a pack. needed is the remedy for a missing -rules;
// "" makes it optional.
func (r *Rules) Flags(needed string) []cli.Flag {
	rules := cli.Flag{Needed: needed, Doc: `
		The robots.txt files. A directory of https_example.com.txt (that origin), example.com.txt or
		example.com/robots.txt (http and https), or captures (.warc,
.jsonl); one such file; a pack (.rbp) of robobatch compile; or one robots.txt, with -origin. s3://bucket/rules.rbp and
s3://bucket/rules/ name object storage.`}
	return r.completeFlags(rules, cli.Flag{Set: cli.Once(&r.Origin, "one file is the robots.txt of one origin"), Doc: originDoc + " Default: the site of -base."})
}

// PipeFlags is Flags for the command pipe, which has no logs and is best used with a pack.
func (r *Rules) PipeFlags() []cli.Flag {
	return WithDocs(r.Flags(NamePack), map[string]string{"origin": originDoc})
}

// FileFlags returns the flags for files or captures; -origin chooses one of their origins.
func (r *Rules) FileFlags() []cli.Flag {
	rules := cli.Flag{Needed: NameRules, Doc: `
		The robots.txt files. A directory as for robobatch, a file of captures, or one robots.txt with -origin.`}
	return r.completeFlags(rules, cli.Flag{Set: cli.Once(&r.Origin, "leave it out to list all"), Doc: `
		List this origin only. If -rules names one robots.txt: the origin of that file.`})
}

// CompileFlags is FileFlags for a command that uses all origins. If -rules or -origin is repeated, the last value
// counts.
func (r *Rules) CompileFlags() []cli.Flag {
	all := WithDocs(r.FileFlags(), map[string]string{"origin": originDoc})
	all[0].Set, all[1].Set = cli.Text(&r.Path), cli.Text(&r.Origin)
	return all
}

// completeFlags completes the flags -rules and -origin with what they have in all commands, and returns them with
// -accept-damaged-rules.
func (r *Rules) completeFlags(rules, origin cli.Flag) []cli.Flag {
	rules.Name, rules.Arg, rules.Files, rules.Set = "rules", "dir", true, cli.Once(&r.Path, oneDirectory)
	origin.Name, origin.Arg = "origin", "url"
	return []cli.Flag{rules, origin, {Name: "accept-damaged-rules", Rare: true, Set: cli.Bool(&r.AcceptDamage), Doc: `
		Use the intact first part of damaged capture files. By default a damaged file is an error, because the missing
		rules are unknown.`}}
}

// Old holds the flags that name the previous rules for a comparison.
type Old struct{ Path, AsOf string }

// IsGiven reports whether previous rules are given.
func (o *Old) IsGiven() bool { return o.Path != "" || o.AsOf != "" }

// Flag returns the flag -old.
func (o *Old) Flag() cli.Flag {
	return cli.Flag{Name: "old", Arg: "dir", Files: true, Set: func(text string) error {
		if _, err := ParseMoment(text); err == nil {
			return cli.Once(&o.AsOf, "name one time")(text)
		}
		return cli.Once(&o.Path, oneDirectory)(text)
	}, Doc: `
		The previous rules, in any form of -rules. A time, such as 2026-01-31, means those of -rules in force then. Give
		it twice for both.`}
}
