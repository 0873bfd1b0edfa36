package crawlers

import (
	"strings"
	"testing"
	"time"
)

// TestRetired checks that each retired token has a page of its operator, and known successors of the same operator.
func TestRetired(t *testing.T) {
	if len(retired) < 2 || strings.Count(retiredText, "\thttps://") != len(retired) {
		t.Errorf("%d tokens", len(retired))
	}
	for name, r := range retired {
		if _, ok := LookupRetired(strings.ToUpper(name)); !ok {
			t.Errorf("%s is in the table of crawlers, too", name)
		}
		if _, err := time.Parse(time.DateOnly, r.Checked); err != nil || !strings.HasPrefix(r.Source, "https://") {
			t.Errorf("%s: source %q of %q", name, r.Source, r.Checked)
		}
		for _, now := range r.Now {
			if c, ok := Lookup(now); !ok || c.Operator != r.Operator {
				t.Errorf("%s: %s is no crawler of %s", name, now, r.Operator)
			}
		}
	}
}
