package cli

import (
	"fmt"
	"slices"
	"strings"
)

// Markdown returns a page with all flags of all commands. A flag that several commands share stands
// there once.
func (p *Program) Markdown() string {
	var titles []string
	listed := map[string][]*Flag{} // by section
	owners := map[string][]string{}
	for i := range p.Commands {
		c := &p.Commands[i]
		for j := range c.Flags {
			f := &c.Flags[j]
			key := f.Section + f.usage() + f.text()
			if len(owners[key]) == 0 {
				if len(listed[f.Section]) == 0 {
					titles = append(titles, f.Section)
				}
				listed[f.Section] = insert(listed[f.Section], f)
			}
			owners[key] = append(owners[key], "`"+p.Title(c)+"`")
		}
	}
	var sb strings.Builder
	fmt.Fprintf(&sb, "# Flags of %s\n\n%s\n", p.Name, strings.TrimSpace(p.Intro))
	for _, title := range titles {
		fmt.Fprintf(&sb, "\n## %s\n", title)
		for _, f := range listed[title] {
			writeMarkdownFlag(&sb, f, owners[f.Section+f.usage()+f.text()], len(p.Commands))
		}
	}
	for i := range p.Commands {
		if c := &p.Commands[i]; c.Rest != "" {
			fmt.Fprintf(&sb, "\n## %s: exit codes\n\n%s\n", p.Title(c), Fill(strings.TrimPrefix(strings.TrimSpace(c.Rest), "Exit codes: "), helpWidth))
		}
	}
	return sb.String()
}

// insert adds a flag behind those of its name, or at the end.
func insert(flags []*Flag, f *Flag) []*Flag {
	at := len(flags)
	for i, other := range flags {
		if other.Name == f.Name {
			at = i + 1
		}
	}
	return slices.Insert(flags, at, f)
}

// writeMarkdownFlag writes a flag, and whose it is, of so many commands.
func writeMarkdownFlag(sb *strings.Builder, f *Flag, owners []string, commands int) {
	whose := enumerate(owners)
	if len(owners) == commands {
		whose = "all commands"
	}
	text := strings.ReplaceAll(f.text(), "*", `\*`)
	fmt.Fprintf(sb, "\n### `%s`\n\n%s\n\nFor %s.\n", f.usage(), Fill(text, helpWidth), whose)
}
