package crawlers

import (
	_ "embed" // the table
	"fmt"
	"slices"
	"strings"
)

//go:embed crawlers.tsv
var tsv string

// table is all crawlers.
var table = mustParse(tsv)

// mustParse parses the embedded table. A fault in it is a fault of this package, which its tests
// find.
func mustParse(text string) []Crawler {
	all, err := parse(text)
	if err != nil {
		panic(err)
	}
	return all
}

// numFields is the number of columns of the table, which its own head explains.
const numFields = 7

// parse reads the table.
func parse(text string) ([]Crawler, error) {
	var all []Crawler
	for i, line := range strings.Split(text, "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		c, err := parseRow(strings.Split(line, "\t"))
		if err != nil {
			return nil, fmt.Errorf("crawlers.tsv, line %d: %w", i+1, err)
		}
		all = append(all, c)
	}
	return all, nil
}

// parseRow reads one row.
func parseRow(fields []string) (c Crawler, err error) {
	if len(fields) != numFields || slices.Contains(fields, "") {
		return c, fmt.Errorf("%d columns in place of %d, or an empty one", len(fields), numFields)
	}
	c = Crawler{Token: fields[0], Operator: fields[1], Source: fields[5]}
	for p := range strings.SplitSeq(fields[2], ",") {
		if !slices.Contains(purposes, p) {
			return c, fmt.Errorf("purpose %q", p)
		}
		c.Purposes = append(c.Purposes, p)
	}
	if fields[3] != "-" {
		c.Names = strings.Split(fields[3], "|")
	}
	if fields[6] != "-" {
		c.Checked = fields[6]
	}
	return c, c.setHabits(fields[4])
}

// setHabits reads the column of habits.
func (c *Crawler) setHabits(list string) error {
	for habit := range strings.SplitSeq(list, ",") {
		switch name, value, _ := strings.Cut(habit, "="); name {
		case "-":
		case "nostar":
			c.IgnoresStar = true
		case "unbound":
			c.Unbound = true
		case "fallback":
			c.Fallback = value
		default:
			return fmt.Errorf("habit %q", habit)
		}
	}
	return nil
}
