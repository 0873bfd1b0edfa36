package output

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/output/internal/columnar"
	"github.com/robobatch/robobatch/output/internal/container"
	"github.com/robobatch/robobatch/robots"
)

func TestParseLayout(t *testing.T) {
	for _, l := range []Layout{Long, Wide} {
		if got, err := ParseLayout(l.String()); got != l || err != nil {
			t.Errorf("ParseLayout(%q) = %v, %v", l, got, err)
		}
	}
	if _, err := ParseLayout("pivot"); !errors.Is(err, columnar.ErrLayout) || !strings.Contains(err.Error(), `"pivot": use long or wide`) {
		t.Error(err)
	}
}

// TestColumnNames tests the names and the order of columns, and the errors.
func TestColumnNames(t *testing.T) {
	for _, tt := range []struct {
		opt     Options
		agents  string
		want    string // names, or
		wantErr string // the error
	}{
		{Options{}, "a,b", "line,input,url,origin,agent,allowed,reason,rule_line,rule", ""},
		{Options{Layout: Wide}, "*", "line,input,url,origin,allowed_star,rule_line_star", ""},
		{Options{Layout: Wide}, "Googlebot-Image,GPTBot", "line,input,url,origin,allowed_googlebot_image,allowed_gptbot,rule_line_googlebot_image,rule_line_gptbot", ""},
		{
			Options{Layout: Wide, Columns: []string{"rule", "url", "allowed"}, Kept: []KeptColumn{{Name: "status"}}},
			"*,MJ12bot/1.4",
			"rule_star,rule_mj12bot_1_4,url,allowed_star,allowed_mj12bot_1_4,status",
			"",
		},
		{Options{Layout: Wide, Columns: []string{"reason", CanonicalURL}}, "Ботик,x y\xff", "reason_ботик,reason_x_y_,canonical_url", ""},
		{Options{Layout: Wide, Columns: []string{"rule_line"}}, "line,x", "rule_line_line,rule_line_x", ""},
		{
			Options{Layout: Wide},
			"a-b,c,a_b",
			"",
			`the agents "a-b" and "a_b" would share the column allowed_a_b: leave one of them out, or use the long layout`,
		},
		{Options{Layout: Wide, Columns: []string{"allowed"}}, "*,star", "", `"*" and "star" would share the column allowed_star`},
		{Options{Layout: Wide, Columns: []string{"rule", "rule_line"}}, "line_x,x", "", `"line_x" and "x" would share the column rule_line_x`},
		{Options{Layout: Wide, Columns: []string{"line", "agent"}}, "a", "", "instead of agent: remove it"},
		{Options{Layout: Wide, Columns: []string{"nosuch", "agent"}}, "a", "", `column "nosuch" is unknown`},
		{Options{Layout: Wide, Kept: []KeptColumn{{Name: "allowed_star"}}}, "*", "", `column "allowed_star" is the name of another column`},
	} {
		names, err := tt.opt.ColumnNames(strings.Split(tt.agents, ","))
		if got := strings.Join(names, ","); got != tt.want || (err == nil) != (tt.wantErr == "") {
			t.Errorf("agents %s, %v: %s, %v, want %s", tt.agents, tt.opt, got, err, tt.want)
		}
		if err != nil && (!strings.Contains(err.Error(), tt.wantErr) || !errors.Is(err, columnar.ErrColumn)) {
			t.Errorf("agents %s: %v, want %s", tt.agents, err, tt.wantErr)
		}
	}
}

// wideRows is what the rows of a table must be in the wide layout, with these columns.
func (t *table) wideRows(columns []string) [][]any {
	var out [][]any
	n := len(t.agents)
	for url := 0; url < len(t.rows); url += n {
		var row []any
		for _, name := range columns {
			switch col := slices.Index(Columns(), name); col {
			case colAllowed, colReason, colRuleLine, colRule, colContentUsage, colContentUsageLine, colContentSignal,
				colContentSignalLine, colTrainAI, colSearch, colAIInput, colPolicy, colPolicyLine:
				for a := range n {
					row = append(row, t.rows[url+a][col])
				}
			default:
				row = append(row, t.rows[url][col])
			}
		}
		out = append(out, append(row, t.rows[url][len(Columns()):]...))
	}
	return out
}

// TestWide compares the wide layout with the transposed long layout: with invalid URLs, long lines, several inputs,
// kept columns, few and many agents, shared rules and invalid UTF-8, in chunks of many sizes.
func TestWide(t *testing.T) {
	for _, tt := range []struct {
		spec    tableSpec
		columns string
		chunk   columnar.Limits
	}{
		{tableSpec{urls: 1, agents: 1, sites: 1, batch: 1}, "", container.ParquetChunk},
		{tableSpec{urls: 300, agents: 1, sites: 9, batch: 7, dirty: true}, "rule,line,allowed,url,reason,rule_line", columnar.Limits{Rows: 31, Bytes: 1 << 20}},
		{tableSpec{urls: shorter(4000), agents: 3, sites: 90, batch: 1000, dirty: true}, "", columnar.Limits{Rows: 1000, Bytes: 30_000}},
		{tableSpec{urls: shorter(4000), agents: 3, sites: 90, batch: 1000, dirty: true}, "rule,origin,canonical_url,input,reason", columnar.Limits{Rows: 1 << 20, Bytes: 50_000}},
		{tableSpec{urls: 700, agents: 95, sites: 40, batch: 130, dirty: true}, "line,input,url,origin,allowed,reason,rule_line,rule", columnar.Limits{Rows: 170, Bytes: 1 << 20}},
		{tableSpec{urls: 700, agents: 50, sites: 10, batch: 130, strays: true}, "rule_line", container.ParquetChunk},
	} {
		tt.spec.keepRows = true
		table := tt.spec.make()
		table.addKept()
		names, err := ParseColumns(tt.columns)
		if tt.columns == "" {
			names = Wide.DefaultColumns()
		}
		if err != nil {
			t.Fatal(err)
		}
		opt := Options{Layout: Wide, Columns: names, Kept: keptColumns, Workers: 2}
		wantNames, err := opt.ColumnNames(table.agents)
		if err != nil {
			t.Fatal(err)
		}
		want := table.wideRows(names)
		for _, f := range testedFormats() {
			t.Run(fmt.Sprintf("urls=%d/agents=%d/columns=%s/%s", tt.spec.urls, tt.spec.agents, tt.columns, f), func(t *testing.T) {
				t.Parallel()
				opt := opt
				opt.Format = f
				data, w := table.limited(t, opt, tt.chunk)
				got := read(t, f, data)
				if !slices.Equal(got.columns, wantNames) {
					t.Errorf("columns %q, want %q", got.columns, wantNames)
				}
				sameRows(t, got.rows, want)
				if w.Rows() != int64(len(want)) {
					t.Errorf("%d rows counted of %d", w.Rows(), len(want))
				}
			})
		}
	}
}

// TestWideInvalid tests that escaped bytes are counted as in the long layout.
func TestWideInvalid(t *testing.T) {
	table := tableSpec{urls: 20_000, agents: 4, sites: 60, batch: 3000, dirty: true}.make()
	for f := range Format(container.NumFormats) {
		var counts []int64
		for _, layout := range []Layout{Long, Wide} {
			w, err := table.writeTo(io.Discard, Options{Format: f, Layout: layout, Columns: []string{"rule", "line"}})
			if err != nil {
				t.Fatal(err)
			}
			counts = append(counts, w.InvalidBytes())
		}
		if counts[0] != counts[1] || counts[0] == 0 {
			t.Errorf("%s: %d invalid bytes in the long layout, %d in the wide one", f, counts[0], counts[1])
		}
	}
}

// TestWideRows tests the number of rows in a chunk.
func TestWideRows(t *testing.T) {
	for agents, want := range map[int]int{0: 32 << 10, 1: 32 << 10, 16: 32 << 10, 32: 16 << 10, 95: 5518, 1 << 20: 1} {
		l := &columnar.Schema{Wide: agents > 0, Agents: make([][]int, agents)}
		if got := container.ParquetChunk.ForSchema(l); got.Rows != want || got.Bytes != container.ParquetChunk.Bytes {
			t.Errorf("%d agents: chunks of %+v, want %d rows", agents, got, want)
		}
	}
}

// TestWideNeedsAgents requests the wide layout for a store whose agents come from the log.
func TestWideNeedsAgents(t *testing.T) {
	if _, err := NewWriter(io.Discard, logStore(t), Options{Layout: Wide}); !errors.Is(err, columnar.ErrLayout) {
		t.Errorf("New: %v", err)
	}
	store, err := engine.BuildStore(func(func(robots.Response, error) bool) {}, engine.StoreOptions{Agents: []string{"a-b", "a_b"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NewWriter(io.Discard, store, Options{Layout: Wide}); !errors.Is(err, columnar.ErrColumn) {
		t.Errorf("New: %v", err)
	}
}
