package summary

import (
	"reflect"
	"testing"

	"github.com/robobatch/robobatch/cmd/robobatch/internal/doubt"
)

// TestAdd holds that all counts are added: a new one that is not shows here.
func TestAdd(t *testing.T) {
	var one, sum Counts
	v := reflect.ValueOf(&one).Elem()
	for i := range v.NumField() {
		switch f := v.Field(i); f.Kind() { //nolint:exhaustive // others are no counts
		case reflect.Int64:
			f.SetInt(int64(i + 1))
		case reflect.Map:
			f.Set(reflect.ValueOf(map[string]int64{"x": int64(i + 1)}))
		}
	}
	sum.Add(&one)
	sum.Add(&one)
	got := reflect.ValueOf(sum)
	for i := range v.NumField() {
		name, want := v.Type().Field(i).Name, int64(2*(i+1))
		switch f := got.Field(i); f.Kind() { //nolint:exhaustive // others are no counts
		case reflect.Int64:
			if f.Int() != want {
				t.Errorf("%s is %d, want %d", name, f.Int(), want)
			}
		case reflect.Map:
			if n := f.Interface().(map[string]int64)["x"]; n != want {
				t.Errorf("%s is %d, want %d", name, n, want)
			}
		}
	}
}

// TestDoubtSum holds that doubts of many inputs become one for each code.
func TestDoubtSum(t *testing.T) {
	var s DoubtSum
	for _, input := range []string{"a", "b", "c", "d"} {
		s.Add(input, []doubt.Doubt{{Code: doubt.NoRobots, Text: "of " + input, Count: 2, Examples: []string{"x", "y"}}})
	}
	s.Add("e", []doubt.Doubt{{Code: doubt.WhiteSpace, Text: "white", Count: 1, Examples: []string{"e: line 1"}}})
	want := []doubt.Doubt{
		{Code: doubt.NoRobots, Text: "4 of 9 inputs, the first of them: of a", Count: 8, Examples: []string{"a: x", "b: x", "c: x"}},
		{Code: doubt.WhiteSpace, Text: "1 of 9 inputs, the first of them: white", Count: 1, Examples: []string{"e: line 1"}},
	}
	if got := s.Doubts(9); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
}
