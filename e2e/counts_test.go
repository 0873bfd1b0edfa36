package e2e

import (
	"encoding/json"
	"maps"
	"os"
	"testing"
)

// counts are the numbers that every reader takes from an output.
type counts struct {
	Rows     int64            `json:"rows"`
	Allowed  int64            `json:"allowed"`
	Denied   int64            `json:"denied"`
	Unknown  int64            `json:"unknown"`   // allowed is null
	Reasons  map[string]int64 `json:"reasons"`   // only those that occur
	RuleLine int64            `json:"rule_line"` // sum
	Rules    int64            `json:"rules"`     // rows with a rule
	URLBytes int64            `json:"url_bytes"` // sum of the lengths of the texts in the url column
}

// equal reports a difference between the counts of two readers. Counts that the command does not report are not
// compared.
func (c counts) equal(t *testing.T, who string, want counts) {
	t.Helper()
	if c.Rows != want.Rows || c.Allowed != want.Allowed || c.Denied != want.Denied || c.Unknown != want.Unknown ||
		c.RuleLine != want.RuleLine || !maps.Equal(c.Reasons, want.Reasons) ||
		want.URLBytes >= 0 && (c.URLBytes != want.URLBytes || c.Rules != want.Rules) {
		t.Errorf("%s counts\n%+v, want\n%+v", who, c, want)
	}
}

// readStats reads the counts from the file that -stats wrote.
func readStats(t *testing.T, name string) counts {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var report struct {
		Counts struct {
			Rows        int64            `json:"rows"`
			Allowed     int64            `json:"allowed"`
			Disallowed  int64            `json:"disallowed"`
			Null        int64            `json:"null"`
			Reasons     map[string]int64 `json:"reasons"`
			RuleLineSum int64            `json:"rule_line_sum"`
		} `json:"counts"`
	}
	if err := json.Unmarshal(data, &report); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	stats := report.Counts
	maps.DeleteFunc(stats.Reasons, func(_ string, n int64) bool { return n == 0 })
	return counts{
		Rows: stats.Rows, Allowed: stats.Allowed, Denied: stats.Disallowed, Unknown: stats.Null,
		Reasons: stats.Reasons, RuleLine: stats.RuleLineSum, URLBytes: -1,
	}
}
