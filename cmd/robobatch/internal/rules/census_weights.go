package rules

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/msg"
	"github.com/robobatch/robobatch/internal/storage"
	"github.com/robobatch/robobatch/robots"
)

// mostWeight is the largest weight, so that no sum of weights overflows.
const mostWeight = 1e18

// readWeights reads a file with a weight per origin or host. Keys are normalised origins, or hosts in lower case.
// Empty lines, comments (#) and a header row are skipped. An invalid line, or a second weight for a key, is an error.
func readWeights(name string) (weights map[string]float64, err error) {
	f, err := storage.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	weights = map[string]float64{}
	lines := msg.NewLines(f)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(strings.TrimPrefix(lines.Text(), "\ufeff"))
		if line == "" || line[0] == '#' {
			continue
		}
		first, second, two := strings.Cut(strings.Replace(line, "\t", ",", 1), ",")
		site, text := strings.Trim(first, "\" "), strings.Trim(second, "\" ")
		weight, err := strconv.ParseFloat(text, 64)
		if err != nil { // the number may be in the first column
			site, text = text, site
			weight, err = strconv.ParseFloat(text, 64)
		}
		switch {
		case n == 1 && err != nil && two && !strings.ContainsAny(second, "0123456789"): // the header row
			continue
		case err != nil || !two || !(0 <= weight && weight <= mostWeight):
			return nil, fmt.Errorf("%s:%d: want an origin or a host, and a number of at most %.0e, separated by a tab or a comma", msg.File(name), n, mostWeight)
		}
		key := strings.TrimSuffix(strings.ToLower(site), "/")
		if strings.Contains(site, "://") {
			origin, err := robots.ParseOrigin(site)
			if err != nil {
				return nil, fmt.Errorf("%s:%d: %w", msg.File(name), n, err)
			}
			key = string(origin)
		}
		if _, twice := weights[key]; twice {
			return nil, fmt.Errorf("%s:%d: %s already has a weight", msg.File(name), n, msg.Line(key))
		}
		weights[key] = weight
	}
	return weights, lines.Err()
}

// weight returns the weight of an origin, or else of its host; ok is false if neither has one.
func (r *run) weight(o robots.Origin) (weight float64, ok bool) {
	if weight, ok = r.weights[string(o)]; !ok {
		_, host, _ := strings.Cut(string(o), "://")
		weight, ok = r.weights[host]
	}
	return weight, ok
}
