package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Markdown returns a page with all flags of all commands. A flag of several commands has one entry, and in it each
// sentence once.
func (p *Program) Markdown() string {
	var titles []string
	sections := map[string][]*entry{}
	for i := range p.Commands {
		c := &p.Commands[i]
		for j := range c.Flags {
			f := &c.Flags[j]
			if len(sections[f.Section]) == 0 {
				titles = append(titles, f.Section)
			}
			// Add the flag of a command to its entry, which it makes if there is none.
			entries := sections[f.Section]
			owner := "`" + cmp.Or(c.Name, p.Name) + "`"
			i := slices.IndexFunc(entries, func(e *entry) bool { return e.usage == f.usage() })
			if i < 0 {
				i, entries = len(entries), append(entries, &entry{usage: f.usage()})
			}
			e, text := entries[i], strings.ReplaceAll(f.text(), "*", `\*`)
			j := slices.IndexFunc(e.variants, func(v variant) bool { return v.text == text })
			if j < 0 {
				j, e.variants = len(e.variants), append(e.variants, variant{text: text})
			}
			e.variants[j].owners = append(e.variants[j].owners, owner)
			sections[f.Section] = entries
		}
	}
	names := make([]string, len(p.Commands))
	for i := range p.Commands {
		names[i] = "`" + cmp.Or(p.Commands[i].Name, p.Name) + "`"
	}
	var sb strings.Builder
	fmt.Fprintf(&sb, "# Flags of %s\n\n%s\n", p.Name, strings.TrimSpace(p.Intro))
	for _, title := range titles {
		fmt.Fprintf(&sb, "\n## %s\n", title)
		for _, e := range sections[title] {
			// Write an entry of a program of these commands: the sentences that all variants share come first if all begin
			// with one, and last otherwise.
			fmt.Fprintf(&sb, "\n### `%s`\n", e.usage)
			if len(e.variants) == 1 {
				fmt.Fprintf(&sb, "\n%s\n\n%s.\n", Fill(e.variants[0].text, helpWidth), whose(e.variants[0].owners, names))
				continue
			}
			shared := sentences(e.variants[0].text)
			for _, v := range e.variants[1:] {
				own := sentences(v.text)
				shared = slices.DeleteFunc(shared, func(s string) bool { return !slices.Contains(own, s) })
			}
			last := len(shared) > 0 && slices.ContainsFunc(e.variants, func(v variant) bool { return sentences(v.text)[0] != shared[0] })
			if len(shared) > 0 && !last {
				fmt.Fprintf(&sb, "\n%s\n", Fill(strings.Join(shared, " "), helpWidth))
			}
			for _, v := range e.variants {
				own := slices.DeleteFunc(sentences(v.text), func(s string) bool { return slices.Contains(shared, s) })
				of := whose(v.owners, names)
				if len(own) == 0 {
					fmt.Fprintf(&sb, "\n%s.\n", Fill(of, helpWidth))
				} else {
					fmt.Fprintf(&sb, "\n%s\n", Fill(of+": "+strings.Join(own, " "), helpWidth))
				}
			}
			if last {
				fmt.Fprintf(&sb, "\n%s\n", Fill("All: "+strings.Join(shared, " "), helpWidth))
			}
		}
	}
	for i := range p.Commands {
		if c := &p.Commands[i]; c.Rest != "" {
			fmt.Fprintf(&sb, "\n## %s: exit codes\n\n%s\n", p.Title(c), Fill(strings.TrimPrefix(strings.TrimSpace(c.Rest), "Exit codes: "), helpWidth))
		}
	}
	return sb.String()
}

// An entry is a flag of the page with its texts.
type entry struct {
	usage    string
	variants []variant
}

// A variant is a text of a flag, and the commands that have it, as code.
type variant struct {
	text   string
	owners []string
}

// whose names some of all commands: by the others, where these are few.
func whose(owners, all []string) string {
	others := slices.DeleteFunc(slices.Clone(all), func(name string) bool { return slices.Contains(owners, name) })
	switch {
	case len(others) == 0:
		return "All commands"
	case len(others)+3 < len(owners):
		return "All commands but " + enumerate(others)
	}
	return strings.Join(owners, ", ")
}

// sentences returns the sentences of a text.
func sentences(text string) []string {
	all := strings.SplitAfter(strings.Join(strings.Fields(text), " "), ". ")
	for i := range all {
		all[i] = strings.TrimSpace(all[i])
	}
	return all
}
