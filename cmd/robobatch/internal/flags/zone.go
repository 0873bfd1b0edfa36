package flags

import (
	"time"
	_ "time/tzdata" // so that zones are known where the system has none

	"github.com/robobatch/robobatch/internal/cli"
	"github.com/robobatch/robobatch/internal/localtime"
)

// A Zone is the place by whose clock days and hours are counted.
type Zone struct {
	Name string // "" is UTC
	Used bool   // something besides a page counts by it
}

// Flag returns the flag -timezone.
func (z *Zone) Flag() cli.Flag {
	return cli.Flag{Name: "timezone", Arg: "name", Rare: true, Set: cli.Text(&z.Name), Doc: `
		The zone of the days of a report and of -partition-by date. Its IANA name, such as Europe/Berlin. Default:
		UTC.`}
}

// Location returns the zone; UTC, with a fault, if there is none of that name.
func (z *Zone) Location(faults *cli.Faults) *time.Location {
	loc, err := localtime.Parse(z.Name)
	faults.Add("timezone", err)
	if err != nil {
		return time.UTC
	}
	return loc
}
