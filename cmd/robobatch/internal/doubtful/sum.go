package doubtful

import (
	"fmt"
	"slices"
	"strings"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/doubt"
	"github.com/robobatch/robobatch/cmd/robobatch/internal/say"
)

// A Sum adds up doubts of many inputs: one for each code.
type Sum struct {
	sums []codeSum // in the order in which the codes came
}

type codeSum struct {
	doubt.Doubt
	inputs int
}

// Add adds the doubts about an input.
func (s *Sum) Add(input string, doubts []doubt.Doubt) {
	for _, d := range doubts {
		i := slices.IndexFunc(s.sums, func(sum codeSum) bool { return sum.Code == d.Code })
		if i < 0 {
			i = len(s.sums)
			s.sums = append(s.sums, codeSum{Doubt: doubt.Doubt{Code: d.Code, Text: d.Text}})
		}
		sum := &s.sums[i]
		sum.inputs++
		sum.Count += d.Count
		if len(sum.Examples) < doubt.Examples {
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

// Doubts returns the doubts about so many inputs, which a noun names, with the first ones as examples.
func (s *Sum) Doubts(inputs int, noun string) []doubt.Doubt {
	all := make([]doubt.Doubt, len(s.sums))
	for i, sum := range s.sums {
		all[i] = sum.Doubt
		all[i].Text = fmt.Sprintf("%s of %s, the first of them: %s", say.Number(int64(sum.inputs)), say.Count(int64(inputs), noun), sum.Text)
	}
	return all
}
