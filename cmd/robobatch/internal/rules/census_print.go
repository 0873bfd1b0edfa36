package rules

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/ci"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/console"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/msg"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/internal/extent"
	"github.com/robobatch/robobatch/robots"
)

// A Count counts the origins of a crawler at a moment.
type Count struct {
	Kind      string     `json:"kind"` // "crawler"
	Agent     string     `json:"agent"`
	Moment    *time.Time `json:"moment"`  // null means the newest capture
	Origins   int64      `json:"origins"` // fetched at any time
	None      Sites      `json:"none"`
	Some      Sites      `json:"some"`
	OnlyFiles Sites      `json:"open_only_files"` // included in Some
	All       Sites      `json:"all"`
	Unknown   Sites      `json:"unknown"`   // too many states
	NoCapture Sites      `json:"no_robots"` // nothing was fetched before the moment
}

// Sites counts origins by the group that binds the crawler.
type Sites struct {
	Origins int64    `json:"origins"`
	Name    int64    `json:"name"`     // the group names the crawler or its family
	Star    int64    `json:"star"`     // the group is for *
	NoGroup int64    `json:"no_group"` // no group
	NoText  int64    `json:"no_text"`  // a fetch decides instead of a text
	Weight  *float64 `json:"weight"`   // null without -weights
}

// counts are the counts of all crawlers and moments.
type counts struct {
	all     []Count // by moment, and agent
	dated   bool
	weights bool
	newest  int   // index of the last moment and the first agent, for which each origin has exactly one row
	weighed int64 // origins with a weight
	odd     engine.OddCount
}

// newCounts returns counts of 0 for each moment and agent of the run.
func newCounts(r *run) *counts {
	c := &counts{weights: r.weights != nil}
	for _, at := range r.moments {
		for _, agent := range r.opt.Agents {
			count := Count{Kind: "crawler", Agent: agent}
			if at != engine.NoTime {
				t := time.UnixMicro(at).UTC()
				count.Moment, c.dated = &t, true
			}
			for _, s := range []*Sites{&count.None, &count.Some, &count.OnlyFiles, &count.All, &count.Unknown, &count.NoCapture} {
				if c.weights {
					s.Weight = new(float64)
				}
			}
			c.all = append(c.all, count)
		}
	}
	c.newest = len(c.all) - len(r.opt.Agents)
	return c
}

// add counts a row. n is the index in c.all for its moment and agent.
func (c *counts) add(r *row, n int) {
	count := &c.all[n]
	count.Origins++
	if n == c.newest && r.weighed {
		c.weighed++
	}
	if n == c.newest && r.odd.IsOdd() {
		c.odd.Add(engine.OddOrigin{Origin: robots.Origin(r.origin), Odd: r.odd})
	}
	s := [...]*Sites{extent.Unknown: &count.Unknown, extent.None: &count.None, extent.Some: &count.Some, extent.All: &count.All}[r.Access]
	if !r.known {
		s = &count.NoCapture
	}
	s.add(r)
	if s == &count.Some && r.OnlyFiles == extent.All {
		count.OnlyFiles.add(r)
	}
}

// add counts the origin of a row, and adds its weight, if there are weights.
func (s *Sites) add(r *row) {
	s.Origins++
	if s.Weight != nil {
		*s.Weight += r.weight
	}
	switch {
	case !r.hasText():
		s.NoText++
	case r.choice == engine.ByStar:
		s.Star++
	case r.choice == engine.NoChoice:
		s.NoGroup++
	default:
		s.Name++
	}
}

// print prints the counts in one of [Forms]. The error is a write error.
func (c *counts) print(out io.Writer, form string) error {
	w := bufio.NewWriter(out)
	switch form {
	case "json":
		for i := range c.all {
			if err := msg.WriteJSON(w, &c.all[i]); err != nil {
				return console.OutError(err)
			}
		}
	case "markdown":
		head := c.head()
		fmt.Fprintf(w, "| %s |\n|%s\n", strings.ReplaceAll(strings.Join(head, " | "), "*", `\*`), strings.Repeat("---|", len(head)))
		for i := range c.all {
			cells := c.cells(&c.all[i])
			for k := range cells {
				cells[k] = ci.Markdown(strings.TrimSpace(cells[k]))
			}
			fmt.Fprintf(w, "| %s |\n", strings.Join(cells, " | "))
		}
	default:
		t, lines := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0), []string{strings.Join(c.head(), "\t"), ""}
		for i := range c.all {
			lines = slices.Insert(lines, i+1, msg.NoCommands(strings.Join(c.cells(&c.all[i]), "\t")))
		}
		if _, err := io.WriteString(t, strings.Join(lines, "\n")); err != nil {
			return console.OutError(err)
		}
		if err := t.Flush(); err != nil {
			return console.OutError(err)
		}
	}
	return console.OutError(w.Flush())
}

// head returns the column names of the table, with columns for moments and weights only if there are any.
func (c *counts) head() []string {
	head := []string{"crawler", "origins", "none", "by name", "by *", "unreachable", "some", "by name", "by *", "only files", "all", "unknown", "no robots.txt"}
	if c.dated {
		head = append([]string{"moment"}, head...)
	}
	if c.weights {
		head = append(head, "weight of none", "of some", "of all")
	}
	return head
}

// cells returns the line of the table for one element of c.all, in the order of [counts.head].
func (c *counts) cells(count *Count) []string {
	number := msg.Number
	cells := []string{
		msg.Line(count.Agent), number(count.Origins), number(count.None.Origins), number(count.None.Name), number(count.None.Star), number(count.None.NoText), number(count.Some.Origins), number(count.Some.Name),
		number(count.Some.Star), number(count.OnlyFiles.Origins), number(count.All.Origins), number(count.Unknown.Origins), number(count.NoCapture.Origins),
	}
	if c.dated {
		layout := time.DateOnly
		if !count.Moment.Equal(count.Moment.Truncate(24 * time.Hour)) {
			layout = time.RFC3339
		}
		cells = append([]string{count.Moment.Format(layout)}, cells...)
	}
	if c.weights {
		for _, s := range []*Sites{&count.None, &count.Some, &count.All} {
			cells = append(cells, fmt.Sprintf("%.6g", *s.Weight))
		}
	}
	return cells
}
