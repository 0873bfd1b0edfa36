package warning

import (
	"fmt"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/say"
)

// A Sum adds up warnings of many inputs: one for each code.
type Sum struct {
	sums []codeSum // in the order in which the codes came
}

type codeSum struct {
	Warning
	inputs int
}

// Add adds the warnings about an input.
func (s *Sum) Add(input string, warnings []Warning) {
	for _, d := range warnings {
		i := slices.IndexFunc(s.sums, func(sum codeSum) bool { return sum.Code == d.Code })
		if i < 0 {
			i = len(s.sums)
			s.sums = append(s.sums, codeSum{Warning: Warning{Code: d.Code, Text: d.Text}})
		}
		sum := &s.sums[i]
		sum.inputs++
		sum.Count += d.Count
		if len(sum.Examples) < Examples {
			example := say.File(input)
			if len(d.Examples) > 0 && strings.HasPrefix(d.Examples[0], example) {
				example = d.Examples[0]
			} else if len(d.Examples) > 0 {
				example += ": " + d.Examples[0]
			}
			sum.Examples = append(sum.Examples, example)
		}
	}
}

// Warnings returns the warnings about so many inputs, with the first ones as examples.
func (s *Sum) Warnings(inputs int) []Warning {
	all := make([]Warning, len(s.sums))
	for i, sum := range s.sums {
		all[i] = sum.Warning
		all[i].Text = fmt.Sprintf("%s of %s, the first of them: %s", say.Number(int64(sum.inputs)), say.Count(int64(inputs), "input"), sum.Text)
	}
	return all
}
