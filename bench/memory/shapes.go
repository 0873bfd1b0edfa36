package main

// A shape is a kind of run that needs much memory.
type shape struct {
	name  string
	rules *input
	log   *input // nil if the run reads only rules
	out   string // name of the output; "" if there is none
	flags []string
	page  string // value of -report; "" if there is none

	command string // "" means a run
	old     *input // the previous rules, for diff and report
	stdin   *input // nil if there is none
	sitemap *input // value of -in-sitemap; nil if there is none

	least int64 // the limit in bytes below which the run may refuse to start; 0 means mustRun
}

// shapes are the runs. All have the origins in random order, so that rules are dropped and loaded again continually. In
// the shapes of diff, every row changes, because of a rule of its own origin.
var shapes = []shape{
	{name: "plain", rules: pack, log: urls, out: "x.parquet"},
	{name: "strays", rules: words, log: urls, out: "x.parquet", flags: []string{"-origin", "https://none.example", "-no-rows", "allow"}},
	{name: "workers", rules: pack, log: urls, out: "x.parquet", flags: []string{"-workers", "8"}},
	{name: "sort", rules: pack, log: urls, out: "x.parquet", flags: []string{"-sort", "origin"}},
	{name: "arrow", rules: pack, log: urls, out: "x.arrow"},
	{name: "stream", rules: pack, log: urls, out: "x.arrows"},
	{name: "jsonl", rules: pack, log: urls, out: "x.jsonl.gz"},
	{name: "wide", rules: pack, log: urls, out: "x.parquet", flags: []string{"-agent", "@search,@ai", "-layout", "wide"}},
	{name: "widerules", rules: pack, log: urls, out: "x.parquet", flags: []string{"-agent", "@search,@ai", "-layout", "wide", "-columns", "url,allowed,reason,rule_line,rule"}},
	{name: "agents", rules: pack, log: urls, out: "x.parquet", flags: []string{"-agent", "@search,@ai", "-where", "disallowed"}},
	{name: "longurls", rules: pack, log: long, out: "x.parquet"},
	{name: "kept", rules: pack, log: events, out: "x.parquet", flags: []string{"-keep", "time,method,status:int,referer,country,ms:float,bytes:int,request_id,session,cached:bool,user_agent"}},
	{name: "partition", rules: pack, log: events, out: "x", flags: []string{"-partition-by", "date,allowed", "-sort", "origin", "-out-format", "parquet", "-keep", "time,status:int,referer"}},
	{name: "fromlog", rules: pack, log: events, out: "x.csv.zst", flags: []string{"-agent-from-log", "-columns", "line,url,agent,allowed,violation,rule"}},
	{name: "asof", rules: history, log: events, out: "x.parquet", flags: []string{"-as-of", "log"}},
	{name: "captures", rules: captures, log: urls, out: "x.parquet"},
	{name: "diff", command: "diff", old: closing, rules: pack, log: urls, flags: []string{"-agent", "*,Googlebot,GPTBot"}},
	{name: "diffrows", command: "diff", old: pack, rules: closing, log: events, out: "x.parquet", flags: []string{"-agent-from-log", "-keep", "status:int"}},
	{name: "coverage", command: "coverage", rules: pack, log: urls},
	{name: "coverby", command: "coverage", rules: pack, log: events, out: "x.parquet", flags: []string{"-agent-from-log", "-by", "agent"}},
	{name: "conduct", command: "conduct", rules: history, log: events, out: "x.parquet", flags: []string{"-as-of", "log"}},
	{name: "conductby", command: "conduct", rules: pack, log: events, out: "x.csv", flags: []string{"-by", "agent"}},
	{name: "sitemap", rules: pack, log: urls, sitemap: urls, out: "x.parquet", least: 512 * mib},
	{name: "reportsitemap", command: "report", rules: pack, log: urls, sitemap: urls, out: "x.html", least: 768 * mib},
	{name: "sitemaplog", rules: pack, log: sitemap, out: "x.parquet"},
	{name: "report", command: "report", rules: pack, log: urls, out: "x.html"},
	{name: "reportlog", command: "report", rules: captures, log: events, out: "x.html", flags: []string{"-agent-from-log"}, least: 512 * mib},
	{name: "reportold", command: "report", old: closing, rules: pack, log: urls, out: "x.html", flags: []string{"-agent", "*,Googlebot,GPTBot"}},
	{name: "window", rules: pack, log: windows, out: "x.parquet"},
	{name: "windows", rules: pack, log: windows, out: "x.parquet", flags: []string{"-workers", "8"}},
	{name: "windowdiff", command: "diff", old: closing, rules: pack, log: windows},
	{name: "windowcover", command: "coverage", rules: pack, log: windows},
	{name: "windowpage", command: "report", rules: pack, log: windows, out: "x.html", least: 512 * mib},
	{name: "rulesalone", command: "diff", old: words, rules: changed},
	{name: "rulesrows", command: "diff", old: words, rules: changed, out: "x.parquet"},
	{name: "reportrun", rules: pack, log: urls, out: "x.parquet", page: "x.html"},
	{name: "reportdiff", command: "diff", old: closing, rules: pack, log: urls, page: "x.html"},
	{name: "pipe", command: "pipe", rules: pack, stdin: stream, flags: []string{"-agent", "*,Googlebot,GPTBot"}},
}
