package measure

import (
	"cmp"
	"strings"
	"testing"
	"time"
)

// TestLadder tests that steps are compared by their minimum times, and that cases about rules are not steps.
func TestLadder(t *testing.T) {
	took := map[string][]time.Duration{
		"Parse":         {1, 1},
		"Unpack":        {200_000, 100_000},
		"Read":          {150_000, 180_000},
		"Run/workers=1": {350_000, 400_000},
	}
	var l ladder
	var cases []Case
	for _, name := range []string{"Parse", "Unpack", "Read", "Run/workers=1"} {
		cases = append(cases, Case{name, cmp.Or(map[string]string{"Parse": "rule", "Unpack": "line"}[name], "url"), func() (Sample, error) {
			cpu := took[name][0]
			took[name] = took[name][1:]
			return Sample{Work: Work{Units: 1000}, Wall: 1, CPU: cpu}, nil
		}})
		l.watch(&cases[len(cases)-1])
	}
	var out strings.Builder
	if err := Rounds(t.Context(), &out, 2, cases); err != nil {
		t.Fatal(err)
	}
	out.Reset()
	if err := l.write(&out); err != nil {
		t.Fatal(err)
	}
	want := `# least CPU time for a URL, and as a multiple of the first:
#   Unpack                      100.0 ns    1.00
#   Read                        150.0 ns    1.50
#   Run/workers=1               350.0 ns    3.50
`
	if out.String() != want {
		t.Errorf("%s", out.String())
	}
	if err := new(ladder).write(&out); err != nil || out.String() != want {
		t.Errorf("without steps: %v, %s", err, out.String())
	}
}
