package crawlers

import (
	_ "embed" // the table
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

//go:embed crawlers.tsv
var tsv string

// known contains all crawlers: the rows of crawlers.tsv, and those added with [Add].
var known = func() *table {
	all, err := parseTable("crawlers.tsv", tsv)
	if err != nil {
		panic(err) // the tests of this package find it
	}
	return newTable(all)
}()

// date is the newest day on which a row of crawlers.tsv was checked.
var date = slices.MaxFunc(known.all, func(a, b Crawler) int { return strings.Compare(a.Checked, b.Checked) }).Checked

// Date returns the newest day on which a row of crawlers.tsv was checked, such as 2026-01-31. Crawlers from [Add]
// do not count.
func Date() string { return date }

// A table contains crawlers and indexes to find them.
type table struct {
	all       []Crawler
	byToken   map[string]int // index in all, by the token in lower case
	operators []int16        // operators[i]: the first crawler in all with the operator of all[i]; i if that is ""
	names     []name
	heads     []int16 // by the hash of the first word: index in names of the first name; -1 if there is none
}

// newTable indexes crawlers. The table keeps the slice.
func newTable(all []Crawler) *table {
	t := &table{all: all, byToken: make(map[string]int, len(all)), operators: make([]int16, len(all))}
	first := map[string]int16{}
	for i := range all {
		t.byToken[strings.ToLower(all[i].Token)] = i
		t.operators[i] = int16(i)
		if operator := all[i].Operator; operator != "" {
			if _, known := first[operator]; !known {
				first[operator] = int16(i)
			}
			t.operators[i] = first[operator]
		}
	}
	count := 0
	for i := range all {
		count += len(all[i].Names)
	}
	size := 256
	for size < 2*count {
		size *= 2
	}
	t.heads = slices.Repeat([]int16{-1}, size)
	for i, c := range all {
		for _, text := range c.Names {
			n := name{text: strings.ToLower(text), crawler: int16(i)}
			for n.first < len(text) && class[text[n.first]] != 0 {
				n.first++
			}
			head := &t.heads[hash([]byte(n.text[:n.first]))&uint32(size-1)]
			n.next, *head = *head, int16(len(t.names))
			t.names = append(t.names, n)
		}
	}
	return t
}

// maxCrawlers is the maximum number of crawlers. The rules of each robots.txt have an element for each.
const maxCrawlers = 4096

// Add adds the crawlers of a file in the format of crawlers.tsv; messages refer to the file by name. A known token
// replaces that crawler, and a known name then belongs to the crawler in the file. The error joins the first faults,
// about 20 at most; a fault of one line has its number and, if it concerns one, the column. After any fault, nothing is
// added. Add keeps no reference to text. Call it only at the start of a program: nothing else of this package may run
// at the same time, and earlier results do not change.
func Add(name string, text []byte) error {
	own, err := parseTable(name, string(text))
	if err != nil {
		return err
	}
	all := slices.Clone(known.all)
	for i := range all {
		all[i].Names = slices.DeleteFunc(slices.Clone(all[i].Names), func(n string) bool {
			return slices.ContainsFunc(own, func(c Crawler) bool { return c.isCalled(n) })
		})
	}
	for _, c := range own {
		if i, ok := known.byToken[strings.ToLower(c.Token)]; ok {
			all[i] = c
		} else {
			all = append(all, c)
		}
	}
	if len(all) > maxCrawlers {
		return fmt.Errorf("%s: too many crawlers: %d, in addition to %d known ones; the limit is %d", name, len(own), len(known.all), maxCrawlers)
	}
	next := newTable(all)
	var errs []error
	for _, c := range own {
		for _, other := range []string{c.AliasOf, c.Fallback} {
			if _, ok := next.byToken[strings.ToLower(other)]; other != "" && !ok && len(errs) < maxFaults {
				errs = append(errs, fmt.Errorf("%s: %s falls back to %s, which is not a known crawler", name, c.Token, other))
			}
		}
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	known = next
	return nil
}

// isCalled reports whether the crawler has a name, ignoring case.
func (c *Crawler) isCalled(name string) bool {
	return slices.ContainsFunc(c.Names, func(n string) bool { return strings.EqualFold(n, name) })
}

// A column is a column of the table with the function that parses its values. Empty values are not parsed.
type column struct {
	name string
	set  func(c *Crawler, value string) error
}

// columns are all columns that a table can have.
var columns = []column{
	// A product token, which must not be one for uses of pages.
	{"token", func(c *Crawler, value string) error {
		if strings.HasPrefix(strings.ToLower(value), "__usage_") {
			return fmt.Errorf("%q names a use of pages, not a crawler: delete the line", value)
		}
		if value == "" || len(value) > maxName || strings.ContainsAny(value, " ,@*/\"") {
			return fmt.Errorf("%q is not a product token: write one word of at most %d letters, as after User-agent: in robots.txt", value, maxName)
		}
		c.Token = value
		return nil
	}},
	// The name of an operator; if it is absent, the crawler is its own operator.
	{"operator", func(c *Crawler, value string) error {
		if value != none {
			c.Operator = value
		}
		return nil
	}},
	// Purposes, separated by commas. Unknown purposes are errors.
	{"purposes", func(c *Crawler, list string) error {
		for p := range strings.SplitSeq(list, ",") {
			if p = strings.TrimSpace(p); !slices.Contains(purposes, p) {
				return fmt.Errorf("unknown purpose %q: use some of %s", p, strings.Join(purposes, ", "))
			}
			c.Purposes = append(c.Purposes, p)
		}
		return nil
	}},
	{"names", (*Crawler).setNames},
	// Habits, separated by commas.
	{"habits", func(c *Crawler, list string) error {
		for habit := range strings.SplitSeq(list, ",") {
			switch name, value, _ := strings.Cut(strings.TrimSpace(habit), "="); name {
			case none:
			case "nostar":
				c.IgnoresStar = true
			case "unbound":
				c.Unbound = true
			case "unstated":
				c.Unstated = true
			case "fallback":
				c.Fallback = value
			case "alias":
				c.AliasOf = value
			default:
				return fmt.Errorf("unknown habit %q: use nostar, unbound, unstated, fallback=TOKEN, alias=TOKEN or -", habit)
			}
		}
		return nil
	}},
	// Address lists, as NAME=URL or NAME, separated by "|".
	{"ranges", func(c *Crawler, list string) error {
		if list == none {
			return nil
		}
		for text := range strings.SplitSeq(list, "|") {
			name, url, found := strings.Cut(text, "=")
			if name == "" || name != strings.ToLower(name) || strings.ContainsAny(name, " .\\") || found && !strings.Contains(url, "://") {
				return fmt.Errorf("invalid address list %q: write NAME=URL, where NAME is the file name in lower case without its extension", text)
			}
			c.Ranges = append(c.Ranges, Range{Name: name, URL: url})
		}
		return nil
	}},
	// Suffixes of host names, separated by "|".
	{"hosts", func(c *Crawler, list string) error {
		if list == none {
			return nil
		}
		for host := range strings.SplitSeq(list, "|") {
			if !strings.Contains(host, ".") || strings.HasPrefix(host, ".") || strings.ContainsAny(host, "*/: ") {
				return fmt.Errorf("%q is not a domain such as googlebot.com", host)
			}
			c.Hosts = append(c.Hosts, host)
		}
		return nil
	}},
	{"source", func(c *Crawler, value string) error { c.Source = value; return nil }},
	// The day on which the row was last checked, if there is one.
	{"checked", func(c *Crawler, day string) error {
		if day == none {
			return nil
		}
		if _, err := time.Parse(time.DateOnly, day); err != nil {
			return fmt.Errorf("invalid day %q: write 2026-01-31, or -", day)
		}
		c.Checked = day
		return nil
	}},
}

// none is the value of a column that means absent.
const none = "-"

// A reader reads a table.
type reader struct {
	file    string
	columns []column       // by field; nil before the header row
	tokens  map[string]int // the line of each token, in lower case
	names   map[string]int // the line of each name, in lower case
	errs    []error
}

// maxFaults is the maximum number of faults that are reported for a table.
const maxFaults = 20

// parseTable reads a table. file is its name for messages. A byte order mark, empty lines and lines that start with "#"
// are skipped; the first other line is the header row. The error joins the faults: reading stops after maxFaults of
// them. A table without crawlers is a fault.
func parseTable(file, text string) (all []Crawler, err error) {
	r := reader{file: file, tokens: map[string]int{}, names: map[string]int{}}
	n := 0
	for line := range strings.SplitSeq(strings.TrimPrefix(text, "\ufeff"), "\n") {
		n++
		line = strings.TrimSuffix(line, "\r")
		switch {
		case strings.TrimSpace(line) == "" || line[0] == '#':
		case r.columns == nil:
			if r.readHead(n, strings.Split(line, "\t")); r.columns == nil {
				return nil, errors.Join(r.errs...)
			}
		default:
			all = append(all, r.readRow(n, strings.Split(line, "\t")))
		}
		if len(r.errs) >= maxFaults {
			break
		}
	}
	if len(all) == 0 && len(r.errs) == 0 {
		r.errs = append(r.errs, fmt.Errorf("%s has no crawlers: write the column names in the first line, and one crawler in each line after it", file))
	}
	return all, errors.Join(r.errs...)
}

// addFault records a fault in a line, and in a column unless that is "".
func (r *reader) addFault(line int, column string, err error) {
	if column != "" {
		column = ", column " + column
	}
	r.errs = append(r.errs, fmt.Errorf("%s, line %d%s: %w", r.file, line, column, err))
}

// readHead sets the columns from the header row. After a fault, which it records, there are none.
func (r *reader) readHead(line int, fields []string) {
	var head []column
	for _, name := range fields {
		i := slices.IndexFunc(columns, func(c column) bool { return c.name == name })
		switch {
		case i < 0:
			names := make([]string, 0, len(columns))
			for _, c := range columns {
				names = append(names, c.name)
			}
			r.addFault(line, "", fmt.Errorf("unknown column %q: name columns in the first line, separated by one tab, out of %s", name, strings.Join(names, ", ")))
			return
		case slices.ContainsFunc(head, func(c column) bool { return c.name == name }):
			r.addFault(line, name, errors.New("duplicate column"))
			return
		}
		head = append(head, columns[i])
	}
	if !slices.Contains(fields, columns[0].name) {
		r.addFault(line, "", errors.New("missing column token, the name that a crawler looks for in robots.txt"))
		return
	}
	r.columns = head
}

// readRow returns the crawler in a row, with defaults for the missing columns: its token is its name, and its purpose
// "other". After a fault, which it records, the crawler is incomplete.
func (r *reader) readRow(line int, fields []string) (c Crawler) {
	if len(fields) != len(r.columns) {
		r.addFault(line, "", fmt.Errorf("%d fields instead of %d: separate them with one tab", len(fields), len(r.columns)))
		return c
	}
	before := len(r.errs)
	for i, value := range fields {
		value = strings.TrimSpace(value)
		var err error
		if !utf8.ValidString(value) || strings.ContainsFunc(value, func(r rune) bool { return !unicode.IsPrint(r) }) {
			err = fmt.Errorf("%q is not printable UTF-8 text", value)
		} else if value != "" || r.columns[i].name == columns[0].name {
			err = r.columns[i].set(&c, value)
		}
		if err != nil {
			r.addFault(line, r.columns[i].name, err)
		}
	}
	if len(r.errs) > before {
		return c
	}
	if len(c.Purposes) == 0 {
		c.Purposes = []string{other}
	}
	if c.Names == nil {
		if err := c.setNames(c.Token); err != nil {
			r.addFault(line, columns[0].name, err)
		}
	}
	r.recordUnique(line, "token", r.tokens, c.Token)
	for _, name := range c.Names {
		r.recordUnique(line, "names", r.names, name)
	}
	return c
}

// recordUnique records a token or a name in seen, by its lower case. If it is already in another line, that is a fault.
func (r *reader) recordUnique(line int, column string, seen map[string]int, text string) {
	key := strings.ToLower(text)
	if first, ok := seen[key]; ok {
		r.addFault(line, column, fmt.Errorf("%q is already in line %d", text, first))
		return
	}
	seen[key] = line
}

// maxName is the maximum length of a token or a name; real ones are much shorter.
const maxName = 128

// setNames sets the names to those in a list, separated by "|"; "-" means no names. A word that browsers send is an
// error, because it would match every browser.
func (c *Crawler) setNames(list string) error {
	c.Names = []string{}
	if list == none {
		return nil
	}
	for name := range strings.SplitSeq(list, "|") {
		_, client := clientWords[strings.ToLower(name)]
		switch {
		case name == "" || len(name) > maxName || class[name[0]] == 0:
			return fmt.Errorf("invalid User-Agent name %q: begin it with a letter or digit, and use at most %d bytes", name, maxName)
		case client:
			return fmt.Errorf("%q is sent by browsers and other clients, so it does not identify a crawler", name)
		}
		c.Names = append(c.Names, name)
	}
	return nil
}
