package output

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/output/internal/container"
	"github.com/robobatch/robobatch/robots"
)

// hostileTexts are what logs and robots.txt can hold to break lines, quotes and encodings.
var hostileTexts = append(escapeSeeds, "\xff", "\xc3", "a\xe2\x82", "\xf0\x9f\x98", "\xed\xa0\x80", "\"\n\xff,\"", strings.Repeat(`,"`+"\n", 3000))

// hostileTable has those texts wherever a table has text: input, URL, origin of a stray, agent,
// rule and kept column.
func hostileTable() *table {
	n := len(hostileTexts)
	t := &table{catalog: &fakeCatalog{origins: []robots.Origin{"https://a.example"}}, inputs: hostileTexts, agents: []string{"*", `a,"b"`}}
	for i := range rulesPerSite {
		t.catalog.rules = append(t.catalog.rules, robots.Rule{Line: int32(i), Value: hostileTexts[n-1-i]})
	}
	for i := range n {
		b := &engine.Batch{Input: i, Kept: []engine.Kept{{Kind: engine.KeptText}, {Kind: engine.KeptText}}}
		for k, text := range hostileTexts {
			span := engine.Span{Off: uint32(len(b.Data)), Len: uint32(len(text))}
			b.Data = append(b.Data, text...)
			b.Lines = append(b.Lines, int64(k))
			b.URLs = append(b.URLs, span)
			b.Strays = append(b.Strays, []byte(text))
			b.Sites = append(b.Sites, []engine.SiteID{0, engine.SiteID(1<<31 | k), engine.NoSite}[k%3])
			b.Rulings = append(b.Rulings, 0)
			for a := range t.agents {
				v := engine.Verdict{Rule: engine.NoRule, Reason: engine.ReasonDefault, Access: engine.Allowed}
				if k%3 == 0 {
					v = engine.Verdict{Rule: int32((i + k + a) % rulesPerSite), Reason: engine.ReasonRule, Access: engine.Denied}
				}
				b.Verdicts = append(b.Verdicts, v)
			}
			for j := range b.Kept {
				b.Kept[j].Present = append(b.Kept[j].Present, (i+k+j)%2 == 0)
				if (i+k+j)%2 > 0 {
					span = engine.NoURL
				}
				b.Kept[j].Texts = append(b.Kept[j].Texts, span)
			}
		}
		t.batches = append(t.batches, b)
	}
	return t
}

// TestHostileTexts tests that CSV and JSON Lines, compressed or not, contain the same rows as Parquet.
func TestHostileTexts(t *testing.T) {
	table := hostileTable()
	kept := []KeptColumn{{Name: "referer", Kind: engine.KeptText}, {Name: "a\",\n\\\x00é", Kind: engine.KeptText}}
	opt := Options{Kept: kept, Workers: 2}
	keptColumns = append(keptColumns, kept[1])
	t.Cleanup(func() { keptColumns = keptColumns[:len(keptColumns)-1] })
	want := read(t, Parquet, table.bytes(t, opt))
	for f := CSV; f < Format(container.NumFormats); f++ {
		t.Run(f.Name(), func(t *testing.T) {
			t.Parallel()
			opt := opt
			opt.Format = f
			got := read(t, f, table.bytes(t, opt))
			if !reflect.DeepEqual(got.columns, want.columns) {
				t.Errorf("columns %q, want %q", got.columns, want.columns)
			}
			if len(got.rows) != len(want.rows) {
				t.Fatalf("%d rows, want %d", len(got.rows), len(want.rows))
			}
			for i := range got.rows {
				if !reflect.DeepEqual(got.rows[i], want.rows[i]) {
					t.Fatalf("row %d is %.1000s, want %.1000s", i, fmt.Sprintf("%q", got.rows[i]), fmt.Sprintf("%q", want.rows[i]))
				}
			}
		})
	}
}

// TestLongRule repeats, in all rows, a rule that is much longer than a piece. The memory must not exceed a piece, with
// any number of workers.
func TestLongRule(t *testing.T) {
	table := tableSpec{urls: max(150, shorter(300)), agents: 1, sites: 1, batch: 50, keepRows: true}.make()
	for i := range table.catalog.rules {
		table.catalog.rules[i].Value = strings.Repeat("*", 400<<10)
	}
	for f := CSV; f < Format(container.NumFormats); f++ {
		t.Run(f.Name(), func(t *testing.T) {
			t.Parallel()
			opt := Options{Format: f, Columns: []string{"line", "rule"}}
			one := table.bytes(t, opt)
			opt.Workers = 3
			if !bytes.Equal(table.bytes(t, opt), one) {
				t.Error("other bytes with more workers")
			}
			got := read(t, f, one)
			if !f.Readable() && got.groups < 2 {
				t.Errorf("%d pieces", got.groups)
			}
			for i, row := range got.rows {
				rule := ""
				if v := table.batches[i/50].Verdicts[i%50]; v.Rule != engine.NoRule {
					rule = table.catalog.Rule(0, 0, v.Rule).String()
				}
				if have, _ := row[1].(string); have != rule {
					t.Fatalf("row %d: %d bytes, want %d", i, len(have), len(rule))
				}
			}
		})
	}
}
