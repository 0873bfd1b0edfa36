package warning

import (
	"reflect"
	"testing"
)

// TestSum checks that the warnings of many inputs are combined to one per code.
func TestSum(t *testing.T) {
	var s Sum
	for _, input := range []string{"a", "b", "c", "d"} {
		s.Add(input, []Warning{{Code: NoRobots, Text: "of " + input, Count: 2, Examples: []string{"x", "y"}}})
	}
	s.Add("e", []Warning{{Code: WhiteSpace, Text: "white", Count: 1, Examples: []string{"e: line 1"}}})
	want := []Warning{
		{Code: NoRobots, Text: "4 of 9 inputs, the first of them: of a", Count: 8, Examples: []string{"a: x", "b: x", "c: x"}},
		{Code: WhiteSpace, Text: "1 of 9 inputs, the first of them: white", Count: 1, Examples: []string{"e: line 1"}},
	}
	if got := s.Warnings(9); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
}
