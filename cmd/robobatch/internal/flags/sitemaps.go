package flags

import "github.com/robobatch/robobatch/internal/cli"

// Sitemaps are those whose URLs rows are compared with.
type Sitemaps struct{ Paths []string }

// Flag returns the flag -in-sitemap. adds is a sentence on its effect in the command.
func (s *Sitemaps) Flag(adds string) cli.Flag {
	return cli.Flag{Name: "in-sitemap", Arg: "path", Files: true, Set: cli.Each(&s.Paths), Doc: `
		A sitemap, an index whose files lie beside it, or a directory. ` + adds + ` May be repeated.`}
}
