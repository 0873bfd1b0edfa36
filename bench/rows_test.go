package bench

import (
	"cmp"
	"fmt"
	"testing"

	"github.com/robobatch/robobatch/output"
)

// BenchmarkLayout measures complete runs, like BenchmarkAgents, in both layouts, with the columns rule_line and
// allowed, or also with reason and rule. The long layout has the same columns and agent.
func BenchmarkLayout(b *testing.B) {
	for _, in := range inputs() {
		for _, n := range []int{10, 95} {
			for _, rule := range []bool{false, true} {
				for _, layout := range []output.Layout{output.Long, output.Wide} {
					columns := output.Wide.DefaultColumns()
					if layout == output.Long {
						columns = append(columns, "agent")
					}
					if rule {
						columns = append(columns, "reason", "rule")
					}
					b.Run(fmt.Sprintf("%s/agents=%d/layout=%s/rule=%t", in.name, n, layout, rule), func(b *testing.B) {
						benchmarkAgents(b, in, n, runOptions{workers: 1, layout: layout, columns: columns})
					})
				}
			}
		}
	}
}

// BenchmarkWhere measures complete runs that write all columns of all rows, or only of disallowed rows.
func BenchmarkWhere(b *testing.B) {
	for _, in := range inputs() {
		for _, where := range []output.Where{0, output.WhereDisallowed} {
			b.Run(fmt.Sprintf("%s/where=%s", in.name, cmp.Or(where.String(), "all")), func(b *testing.B) {
				benchmarkAgents(b, in, 1, runOptions{workers: 1, url: true, where: where})
			})
		}
	}
}
