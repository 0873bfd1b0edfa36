package pipe

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"

	"github.com/robobatch/robobatch/engine"
	"github.com/robobatch/robobatch/robots"
)

// agentsInRows are names of agents, some of which testRules names.
var agentsInRows = []string{"*", "botone", "BotOne/2", "Other-Bot", "nobody", "AdsBot-Google", "360Spider"}

// agentStream returns a stream with columns url, n and agent, of these types, in record batches.
func agentStream(t *testing.T, r *rand.Rand, urlType, agentType arrow.DataType, records int) (in []byte, urls [][]byte, agents []string) {
	t.Helper()
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "agent", Type: agentType}, {Name: "n", Type: arrow.PrimitiveTypes.Int64}, {Name: "url", Type: urlType, Nullable: true},
	}, nil)
	var b bytes.Buffer
	w := ipc.NewWriter(&b, ipc.WithSchema(schema))
	for range records {
		rows := 1 + r.IntN(40)
		texts, names, numbers := make([][]byte, rows), make([][]byte, rows), array.NewInt64Builder(alloc)
		for i := range rows {
			texts[i] = randomURL(r)
			name := agentsInRows[r.IntN(len(agentsInRows))]
			names[i], agents = []byte(name), append(agents, name)
			numbers.Append(int64(i))
		}
		urls = append(urls, texts...)
		columns := []arrow.Array{textArray(t, agentType, names), numbers.NewArray(), textArray(t, urlType, texts)}
		if err := w.Write(array.NewRecord(schema, columns, int64(rows))); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), urls, agents
}

// byNameStore returns a store of testRules for agents that rows name.
func byNameStore(t *testing.T) *engine.Store {
	t.Helper()
	return buildTestStore(t, engine.StoreOptions{LogAgents: engine.LogAgentsByName, Directives: robots.Directives()})
}

// TestAgentColumn compares streams with a column of agents with the main job for each of these agents.
func TestAgentColumn(t *testing.T) {
	store, columns := byNameStore(t), []string{"canonical_url", "origin", "rule", "allowed", "rule_line", "reason"}
	types := urlTypes()
	for i := range types {
		urlType, agentType := types[i], types[(3*i+1)%len(types)]
		t.Run(fmt.Sprintf("%v/%v", urlType, agentType), func(t *testing.T) {
			r := rand.New(rand.NewPCG(uint64(i), 7))
			in, urls, agents := agentStream(t, r, urlType, agentType, 1+r.IntN(4))
			var out bytes.Buffer
			stats, err := Run(t.Context(), store, bytes.NewReader(in), &out, Options{Columns: columns, AgentColumn: "agent", Workers: 1 + r.IntN(3)})
			if err != nil {
				t.Fatal(err)
			}
			if stats.Rows != int64(len(urls)) {
				t.Errorf("%d rows, want %d", stats.Rows, len(urls))
			}
			got := map[string][]string{}
			for _, rec := range readStream(t, &out).records {
				for c, f := range rec.Schema().Fields() {
					for row := range int(rec.NumRows()) {
						got[f.Name] = append(got[f.Name], value(rec.Column(c), row))
					}
				}
			}
			for _, agent := range agentsInRows {
				for name, values := range mainJob(t, newStore(t, true, agent), urls, columns) {
					for row, want := range values {
						if agents[row] == agent && got[name][row] != want {
							t.Fatalf("%s of row %d (%.100q) for %q: the main job has %q, but the pipe has %q", name, row, urls[row], agent, want, got[name][row])
						}
					}
				}
			}
		})
	}
}

// TestAgentColumnFaults tests that the error names a row without an agent, and that earlier record batches are written.
func TestAgentColumnFaults(t *testing.T) {
	store := byNameStore(t)
	refused := errors.New("refused")
	for _, c := range []struct{ name, want string }{
		{"\x00null", "record batch 2: row 3: no name of a crawler: the agent is null"},
		{"", "record batch 2: row 3: no name of a crawler: the agent is empty"},
		{strings.Repeat("x", engine.MaxAgentName+1), "the agent has 129 bytes"},
		{"bad", "record batch 2: row 3: no name of a crawler: refused"},
	} {
		schema := arrow.NewSchema([]arrow.Field{{Name: "url", Type: arrow.BinaryTypes.String}, {Name: "agent", Type: arrow.BinaryTypes.String, Nullable: true}}, nil)
		var in, out bytes.Buffer
		w := ipc.NewWriter(&in, ipc.WithSchema(schema))
		for record := range 2 {
			b := array.NewRecordBuilder(alloc, schema)
			b.Field(0).(*array.StringBuilder).AppendValues([]string{"https://example.com/", "https://example.com/", "https://example.com/"}, nil)
			name := "botone"
			if record == 1 {
				name = c.name
			}
			b.Field(1).(*array.StringBuilder).AppendValues([]string{"*", "*", name}, []bool{true, true, name != "\x00null"})
			if err := w.Write(b.NewRecord()); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		check := func(name string) error {
			if name == "bad" {
				return refused
			}
			return nil
		}
		_, err := Run(t.Context(), store, &in, &out, Options{AgentColumn: "agent", CheckAgent: check, RefuseAgents: true})
		if err == nil || !strings.Contains(err.Error(), c.want) || !errors.Is(err, ErrAgent) {
			t.Errorf("%.20q: %v, want %q", c.name, err, c.want)
		}
		r, err := ipc.NewReader(&out)
		if err != nil {
			t.Fatal(err)
		}
		if !r.Next() || r.Record().NumRows() != 3 || r.Next() {
			t.Errorf("%.20q: the output is not exactly the first record batch", c.name)
		}
	}
}

// TestNoAgentColumn tests that the error names a missing column.
func TestNoAgentColumn(t *testing.T) {
	in, _, _ := agentStream(t, rand.New(rand.NewPCG(1, 1)), arrow.BinaryTypes.String, arrow.BinaryTypes.String, 1)
	for _, c := range []struct {
		column string
		want   error
	}{{"bot", ErrNoAgentColumn}, {"n", ErrType}} {
		_, err := Run(t.Context(), byNameStore(t), bytes.NewReader(in), &bytes.Buffer{}, Options{AgentColumn: c.column})
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), fmt.Sprintf("%q", c.column)) {
			t.Errorf("%s: %v", c.column, err)
		}
	}
}
