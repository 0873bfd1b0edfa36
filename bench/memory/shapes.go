package main

// A shape is a run that is hard on memory in a way of its own.
type shape struct {
	name  string
	rules *input
	log   *input
	out   string // name of the output
	flags []string
}

// shapes are what is run. All have each origin in random order, so that rules are dropped and
// loaded again all the time.
var shapes = []shape{
	{"plain", pack, urls, "x.parquet", nil},
	{"workers", pack, urls, "x.parquet", []string{"-workers", "8"}},
	{"sort", pack, urls, "x.parquet", []string{"-sort", "origin"}},
	{"arrow", pack, urls, "x.arrow", nil},
	{"stream", pack, urls, "x.arrows", nil},
	{"jsonl", pack, urls, "x.jsonl.gz", nil},
	{"wide", pack, urls, "x.parquet", []string{"-agent", "@search,@ai", "-layout", "wide"}},
	{"widerules", pack, urls, "x.parquet", []string{"-agent", "@search,@ai", "-layout", "wide", "-columns", "url,allowed,reason,rule_line,rule"}},
	{"agents", pack, urls, "x.parquet", []string{"-agent", "@search,@ai", "-where", "disallowed"}},
	{"longurls", pack, longURLs, "x.parquet", []string{"-bloom", "url"}},
	{"kept", pack, events, "x.parquet", []string{"-keep", "time,method,status:int,referer,country,ms:float,bytes:int,request_id,session,cached:bool,user_agent"}},
	{"partition", pack, events, "x", []string{"-partition-by", "date,allowed", "-sort", "origin", "-out-format", "parquet", "-keep", "time,status:int,referer"}},
	{"fromlog", pack, events, "x.csv.zst", []string{"-agent-from-log", "-columns", "line,url,agent,allowed,violation,rule"}},
	{"asof", history, events, "x.parquet", []string{"-as-of", "log"}},
	{"captures", captures, urls, "x.parquet", nil},
}
