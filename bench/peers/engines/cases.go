//go:build engines

package main

import (
	"context"
	"fmt"
	"iter"
	"os"
	"regexp/syntax"
	"strings"

	"github.com/robobatch/robobatch/automaton"
	"github.com/robobatch/robobatch/internal/measure"
)

// measureAll measures all engines on a workload in turns, and prints the results. The dense DFA is left out if it
// needs too many states.
func measureAll(w *workload, rounds int) error {
	want := make([]int32, len(w.of))
	w.matchOwn(want)
	before := measure.CPU()
	for _, s := range w.sites {
		if _, _, err := automaton.Compile(s.rules); err != nil {
			return err
		}
	}
	cases := []measure.Case{w.measureCase("robobatch", want, float64((measure.CPU() - before).Nanoseconds()), w.matchOwn)}
	for _, e := range engines {
		compiled, cost, err := w.compile(e)
		if err != nil {
			return fmt.Errorf("%s: %w", e.name, err)
		}
		defer compiled.free()
		cases = append(cases, w.measureCase(e.name, want, cost, func(winners []int32) { compiled.match(w, winners) }))
	}
	own := make([]*dense, len(w.sites))
	before = measure.CPU()
	for i, s := range w.sites {
		if own[i] = newDense(s); own[i] == nil {
			fmt.Fprintf(os.Stderr, "dense-dfa: left out of %s: over %d states\n", w.name, mostStates)
			return measure.Rounds(context.Background(), os.Stdout, rounds, cases)
		}
	}
	cost := float64((measure.CPU() - before).Nanoseconds())
	cases = append(cases, w.measureCase("dense-dfa", want, cost, func(winners []int32) {
		for i, path := range w.paths() {
			winners[i] = own[w.of[i]].match(path)
		}
	}))
	return measure.Rounds(context.Background(), os.Stdout, rounds, cases)
}

// measureCase returns the case of an engine, given the time for compiling all sites.
func (w *workload) measureCase(name string, want []int32, cost float64, match func(winners []int32)) measure.Case {
	turns := max(1, 400_000/len(w.of))
	return measure.Case{Name: fmt.Sprintf("Engine/w=%s/lib=%s", w.name, name), Unit: "path", Run: func() (measure.Sample, error) {
		winners := make([]int32, len(w.of))
		s, err := measure.Here(func() (measure.Work, error) {
			for range turns {
				match(winners)
			}
			return measure.Work{Units: int64(turns * len(w.of)), Bytes: int64(turns * len(w.text))}, nil
		})()
		equal := 0
		for i := range winners {
			if winners[i] == want[i] {
				equal++
			}
		}
		s.Extra = []measure.Metric{
			{Value: 100 * float64(equal) / float64(len(want)), Unit: "agree-%"},
			{Value: cost / float64(len(w.sites)), Unit: "compile-cpu-ns/origin"},
		}
		return s, err
	}}
}

// matchOwn is robobatch's loop: it sets winners to the rank of the rule that decides each path, or -1.
func (w *workload) matchOwn(winners []int32) {
	var s automaton.Scratch
	for i, path := range w.paths() {
		winners[i] = int32(w.sites[w.of[i]].own.Match(path, &s).Position())
	}
}

// paths yields all paths.
func (w *workload) paths() iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		begin := int64(0)
		for i, end := range w.ends {
			if !yield(i, w.text[begin:end]) {
				return
			}
			begin = end
		}
	}
}

// expressions returns the rules of a site as regular expressions over bytes, by ascending precedence.
func (s *site) expressions() []string {
	all := make([]string, len(s.order))
	for i, n := range s.order {
		p := automaton.ParsePattern(s.rules[n].Pattern)
		var b strings.Builder
		b.WriteByte('^')
		for k, piece := range strings.Split(p.Anchor+p.Rest, "*") {
			if k > 0 {
				b.WriteString(".*")
			}
			quote(&b, piece)
		}
		if p.End {
			b.WriteString(`\z`)
		}
		all[i] = b.String()
	}
	return all
}

// quote writes an expression to b that matches the bytes of s.
func quote(b *strings.Builder, s string) {
	for i := range len(s) {
		if c := s[i]; syntax.IsWordChar(rune(c)) {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(b, `\x%02x`, c)
		}
	}
}
