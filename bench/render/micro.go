package main

import "strings"

// inputs are the logs of the benchmarks of package bench, in the order shown.
var inputs = []struct{ key, label string }{
	{"data=quickstart/log=mixed", "quickstart, mixed"},
	{"data=collection/log=real", "collection, real"},
	{"data=collection/log=shuffled", "collection, shuffled"},
	{"data=collection/log=synth", "collection, synth"},
}

func (r *results) microTable() string {
	t := &table{}
	head := make([]string, 0, 1+len(inputs))
	head = append(head, "CPU ns per URL (MB of URLs per CPU second)")
	for _, in := range inputs {
		head = append(head, in.label)
	}
	t.add(head...)
	for _, bench := range []string{"Match", "Decode", "Read", "Evaluate"} {
		t.add(r.microRow(bench, "")...)
	}
	for _, opt := range []string{"url=false/workers=1", "url=false/workers=2", "url=true/workers=1", "url=true/workers=2"} {
		t.add(r.microRow("Run", "/"+opt)...)
	}
	return t.String()
}

func (r *results) microRow(bench, opt string) []string {
	row := make([]string, 0, 1+len(inputs))
	row = append(row, "`"+bench+opt+"`")
	for _, in := range inputs {
		name := bench + "/" + in.key + opt
		cell := r.cell(name, "cpu-ns/url", 1)
		if bench == "Run" {
			cell += " (" + r.cell(name, "MB/cpu-s", 1) + ")"
		}
		row = append(row, cell)
	}
	return row
}

func (r *results) madeUpTable() string {
	t := &table{}
	t.add("`Match/data=madeup`", "CPU ns per URL")
	for _, name := range r.names {
		if shape, ok := strings.CutPrefix(name, "Match/data=madeup/"); ok {
			t.add("`"+shape+"`", r.cell(name, "cpu-ns/url", 1))
		}
	}
	return t.String()
}

func (r *results) rulesTable() string {
	t := &table{}
	t.add("", "quickstart", "collection")
	row := func(label, bench, unit string) {
		t.add(label, r.cell(bench+"/data=quickstart", unit, 1), r.cell(bench+"/data=collection", unit, 1))
	}
	row("`Parse`: MB per CPU second", "Parse", "MB/cpu-s")
	row("`Parse`: CPU ns per rule", "Parse", "cpu-ns/rule")
	row("`Compile`: CPU ns per rule", "Compile", "cpu-ns/rule")
	row("`BuildStore`: MB per CPU second", "BuildStore", "MB/cpu-s")
	row("`BuildStore`: CPU ns per rule", "BuildStore", "cpu-ns/rule")
	row("bytes per byte of rule text: tables", "BuildStore", "tables-B/rule-B")
	row("... with references to the rules", "BuildStore", "refs-B/rule-B")
	row("... the whole heap of the store", "BuildStore", "heap-B/rule-B")
	return t.String()
}
