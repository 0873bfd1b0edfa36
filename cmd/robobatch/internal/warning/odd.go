package warning

import (
	"fmt"
	"strings"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/say"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/robots"
)

// Rules returns a warning if files that were read as robots.txt are none. noun names the things that c counts.
func Rules(c *engine.OddCount, noun string) []Warning {
	if c.Number == 0 {
		return nil
	}
	byName := map[string]int64{}
	var names []string
	for odd, n := range c.Kinds {
		name := robots.Oddity(odd).String()
		if n > 0 && byName[name] == 0 {
			names = append(names, name)
		}
		byName[name] += n
	}
	for i, name := range names {
		names[i] = name + " " + say.Number(byName[name])
	}
	d := Warning{Code: OddRobots, Count: c.Number}
	d.Text = fmt.Sprintf("no real robots.txt: %s (%s)", say.Count(c.Number, noun), strings.Join(names, ", "))
	if c.Rows > 0 {
		d.Text += ", which decided " + say.Count(c.Rows, "row")
	}
	d.Text += "; crawlers that get such bytes find few rules in them, or none"
	for _, odd := range c.Worst {
		if odd.Origin == "" {
			break
		}
		text := string(odd.Origin)
		if odd.Rows > 0 {
			text += " (" + say.Count(odd.Rows, "row") + ")"
		}
		d.Examples = append(d.Examples, text+": "+OddName(odd.Odd))
	}
	return []Warning{d}
}

// OddName names the kind of a file that is no robots.txt.
func OddName(o robots.Oddity) string {
	switch o {
	case robots.OddHTML:
		return "an HTML page"
	case robots.OddText:
		return "text without any directive"
	case robots.OddNUL:
		return "bytes with NUL among them"
	case robots.OddParquet:
		return "a Parquet file"
	case robots.OddUTF16, robots.OddUTF16LE, robots.OddUTF16BE, robots.OddUTF32:
		return strings.ToUpper(o.String()[:3]) + "-" + o.String()[3:]
	case robots.NotOdd, robots.OddBlank, robots.OddGzip, robots.OddZstd, robots.OddXZ, robots.OddBzip2, robots.OddZip:
	}
	return "packed with " + o.String()
}
