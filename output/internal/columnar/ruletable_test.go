package columnar

import (
	"testing"

	"github.com/robobatch/robobatch/crawlers/ranges"
	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/robots"
)

// TestRuleTableBound fills a table with more rules than its limit. It checks that the table stays small, and returns
// the latest values.
func TestRuleTableBound(t *testing.T) {
	table := newRuleTable()
	for i := range int32(3 * maxRuleEntries) {
		e := table.findOrAdd(1+uint64(i%7), i)
		if e.group != 0 {
			t.Fatalf("rule %d is known before it is added", i)
		}
		*e = ruleEntry{group: 1 + uint64(i%7), rule: i, id: i, line: -i}
		if again := table.findOrAdd(1+uint64(i%7), i); again.id != i || again.line != -i {
			t.Fatalf("rule %d became %+v", i, *again)
		}
	}
	if len(table.entries) != maxRuleEntries || 2*table.used > len(table.entries) {
		t.Errorf("%d of %d entries are used, the limit is %d", table.used, len(table.entries), maxRuleEntries)
	}
}

// ruleCatalog has a rule for each number, of one site.
type ruleCatalog struct{}

func (ruleCatalog) Origin(engine.SiteID) robots.Origin                     { return "https://a.example" }
func (ruleCatalog) FirstAgent(engine.RulingID, int) int                    { return 0 }
func (ruleCatalog) AgentName(engine.RulingID, int) string                  { return "" }
func (ruleCatalog) ProofName(ranges.Proof) string                          { return "" }
func (ruleCatalog) HowUsed(engine.RulingID, int, engine.Preference) string { return "" }

func (ruleCatalog) Note(engine.RulingID, int, robots.Directive) (note robots.Note, ok bool) {
	return note, false
}
func (ruleCatalog) Binding(int) engine.Binding { return engine.BindingUnknown }
func (ruleCatalog) Rule(_ engine.RulingID, _ int, rule int32) robots.Rule {
	return robots.Rule{Line: rule + 1, Value: string('a' + rule%20)}
}

// TestNumberingRules numbers more rules than the table can have. It checks that a text keeps its number, which is 0
// if there is no column of texts.
func TestNumberingRules(t *testing.T) {
	for _, test := range []struct {
		columns   []string
		id, texts int // of the rule with the text c
	}{
		{[]string{"rule_line", "rule"}, 2, 20},
		{[]string{"rule_line"}, 0, 0},
	} {
		l, err := NewSchema(Shape{Names: test.columns}, []string{"*"})
		if err != nil {
			t.Fatal(err)
		}
		n := NewNumbering(ruleCatalog{}, nil, []string{"*"}, l)
		for rule := range int32(2 * maxRuleEntries) {
			if id, line := n.addRule(0, 0, rule); line != rule+1 || rule%20 == 2 && int(id) != test.id {
				t.Fatalf("%v: rule %d has number %d and line %d", test.columns, rule, id, line)
			}
		}
		got := 0
		for _, d := range n.ruleTexts {
			got += d.Len()
		}
		if got != test.texts {
			t.Errorf("%v: %d texts, want %d", test.columns, got, test.texts)
		}
	}
}

// TestRuleTableSpread checks that rules of many sites or agents are found with few probes.
func TestRuleTableSpread(t *testing.T) {
	const most = 64 // maximum number of consecutive used entries; about 20 are usual in a table that is half full
	for name, group := range map[string]func(i int) uint64{
		"sites":  func(i int) uint64 { return groupOf(engine.RulingID(i), 0) },
		"agents": func(i int) uint64 { return groupOf(1, i) },
	} {
		for rule := range int32(3) {
			table, row, longest := newRuleTable(), 0, 0
			for i := range minRuleEntries / 2 {
				e := table.findOrAdd(group(i), rule)
				*e = ruleEntry{group: group(i), rule: rule}
			}
			for i := range table.entries {
				if row++; table.entries[i].group == 0 {
					row = 0
				}
				longest = max(longest, row)
			}
			if longest > most {
				t.Errorf("rule %d of many %s: %d consecutive used entries", rule, name, longest)
			}
		}
	}
}
