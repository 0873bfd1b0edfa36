package main

// help is what -h prints. A test holds that it has every flag.
const help = `robobatch decides for every URL of a log whether robots.txt lets a crawler fetch it.

    robobatch -rules dir -in urls.zst

reads the URLs of urls.zst, one a line, finds the robots.txt of each one's origin in dir, writes a row per URL to
urls.verdicts.parquet and prints a summary. It opens no network connection.

    robobatch rules -rules dir

lists the rules themselves, and what is wrong with them: see robobatch rules -h.

    robobatch compile -rules dir -out rules.rbp

compiles them into one file, which -rules takes in place of dir and which is ready at once: see robobatch compile -h.

    … | robobatch pipe -rules rules.rbp | …

adds verdicts to the rows of an Arrow stream, for engines that call a program: see robobatch pipe -h.

    robobatch bench -rules dir -in urls.zst

measures such a run and prints lines for benchstat: see robobatch bench -h.

    robobatch help topic

tells more of formats, agents, columns or dialects, or prints a man page (man) or completion (bash, zsh, fish).

Input
  -rules dir     robots.txt files, named https_example.com.txt (that origin), or example.com.txt or
                 example.com/robots.txt (http and https), or captures (.warc, .jsonl); or one such file;
                 or a compiled pack (.rbp); or one robots.txt, with -origin
  -origin url    whose robots.txt the file of -rules is, such as https://www.example.com; default: the site of -base
  -in log        URLs, one a line, or a format below, in zstd, gzip or plain text; a pattern such as 'logs/*.zst'; - is
                 standard input. May be repeated
  -format name   what the lines of the logs are: auto (default: told by the first of them), urls, combined (Apache, nginx), w3c
                 (IIS), cloudfront, alb, json, csv, tsv, cdxj, parquet or warc; docs/FORMATS.md describes them
  -base url      the site that the logs are of, where they have paths only, as in https://www.example.com
  -url-field name
                 the field with the URL, path or request, in formats that name their fields; in json also a path: request.uri
  -url-column name
                 the same, for tables
  -host-field name
                 the field with the host
  -ua-field name the field with the User-Agent
  -time-field name
                 the field with the time
  -keep fields   fields that become columns behind those of the verdicts, such as status,referer,time; a type may be named,
                 as in price:float: text, int, float, time, bool. May be repeated
  -limit n       stop after n URLs; 0, the default, is all

Question
  -agent names   crawlers, by product token, separated by commas; each gives a row per URL. May be repeated.
                 @search, @ai and others name a set of known crawlers, @./list.txt a file with a name a line.
                 Default *, a crawler that no group names
  -agent-from-log
                 decide each row for the crawler that its User-Agent names, and add the column violation
  -unknown-agents what
                 with that, rows of others: star (default: only groups for * bind them) or skip (leave them out)
` + rowReadingHelp + `  -missing what  allow (default), disallow or null: the answer where an origin has no robots.txt in -rules
  -url-as-is     match URLs byte for byte, without normalising their escapes

Output
  -out file      x.parquet, x.arrow (Arrow IPC file), x.arrows (Arrow IPC stream), x.csv or x.jsonl (JSON Lines), these two
                 also with .zst or .gz behind; - is standard output. Default: the name of the first log without .zst,
                 .gz, .txt, .log, .urls and the like, plus .verdicts.parquet, in the working directory;
                 stdin.verdicts.parquet for -in -. With -partition-by, a directory
  -out-format name
                 parquet, arrow, arrows, csv, csv.zst, csv.gz, jsonl, jsonl.zst or jsonl.gz: what -out is, where its name does not
                 say. Default: parquet, and arrows for -out -
  -columns list  which columns, and in which order:
                 line,input,url,origin,agent,allowed,reason,rule_line,rule (the default), canonical_url, violation
  -layout how    long (default): a row for each URL and agent; or wide: a row per URL, with columns for each agent,
                 such as allowed_googlebot,rule_line_googlebot, and reason and rule if -columns names them
  -where kinds   write only the rows that are disallowed, allowed, violations (with -agent-from-log) or bad (the URL is);
                 several kinds, separated by commas, add up. A wide row counts for each of its agents. The summary
                 counts all rows
  -partition-by list
                 write a directory in the layout of Hive, out/agent=Googlebot/allowed=true/part-0.parquet, by one or more of
                 origin, agent, allowed and date (the day in UTC of the log's time)
  -sort order    none (default): as in the input; or origin: by origin, and as in the input where it is the same
  -compression name
                 of columns: zstd (default), snappy, gzip or none in Parquet; none (default), zstd or lz4 in Arrow
  -level n       of the compression, in Parquet: 1 (default) to 22 for zstd, 1 to 9 for gzip, where 6 is the default
  -row-group n   the most rows of a row group, in Parquet; default 524288
  -bloom list    columns of text that get Bloom filters, in Parquet, such as url,origin
  -stats file    write the summary as JSON, too; - is standard output
  -rejects file  list the lines that were refused, and those whose URL is bad, as JSON Lines
  -max-rejects n stop with exit code 1 when more than n lines, or n% of all, are such; the rows before that are kept as
                 x.partial.parquet

Run
  -workers n     goroutines that match; default: one per processor. The output does not depend on it
  -max-memory size
                 such as 256MiB: of a run, about; rules that do not fit are dropped, and loaded again where needed. Unless
                 they are a pack already, they are compiled into a temporary one beside the output first. Rows that
                 -sort and -partition-by hold take a quarter of it. Each worker but the first needs 24 MiB beyond 64 MiB:
                 there are fewer, and a note, where it has no room. A row group of Parquet, or an Arrow file, in which
                 hundreds of thousands of rules or origins differ takes some 30 MiB more: see -row-group.
                 Default: 1280MiB for packs of more than 512 MiB, otherwise none
  -progress how  auto (default: a bar on a terminal; lines elsewhere, and where TERM=dumb says that the terminal cannot
                 move its cursor), bar, plain (lines), off. No terminal gets colours, whatever NO_COLOR says
  -quiet         print errors only
  -version       print the version
  -h             print this

Exit codes: 0 done; 1 more rejects than -max-rejects allows; 2 an error of usage, input or output; 129, 130 and 143 after SIGHUP, SIGINT and SIGTERM. The output gets its
name when it is complete. Where a log turns out to be damaged, the rows before the damage are kept as
x.partial.parquet, and the exit code is 2.
`

// dialectHelp is the help of the flags that say how robots.txt is read.
const dialectHelp = `  -dialect name  google (default), rfc9309, google-2010 or yandex: how to read robots.txt
  -agent-chars set
                 standard (default: letters, - and _) or extended (digits and dots, too): what a crawler's name may hold
  -yandex-empty-allow what
                 disallow (default) or ignore: what "Allow:" without a value does in the dialect yandex
  -yandex-strict-blank
                 let an empty line end a section in the dialect yandex
`

// readingHelp is the help of the flags of a reading.
const readingHelp = dialectHelp + `  -as-of moment  use the captures that were in force then, as in 2026-01-31T18:00:00Z, or 2026-01-31 for the start of
                 that day in UTC. Default: the newest capture
`

// rowReadingHelp is the same where rows of logs are decided.
const rowReadingHelp = dialectHelp + `  -as-of moment  use the captures that were in force then, as in 2026-01-31T18:00:00Z, or 2026-01-31 for the start of
                 that day in UTC; log: for each row those at its own time. Default: the newest capture
`

// rulesHelp is what rules -h prints.
const rulesHelp = `robobatch rules lists what robots.txt say, and what is wrong with them.

    robobatch rules -rules dir

writes a table to dir.rules.parquet, with a row for each group, rule, crawl delay, sitemap, host, clean-param and
diagnostic of each origin, its line, and status, time and size of the fetch. It opens no network connection.

Input
  -rules dir     as for robobatch: a directory, a file of captures, or one robots.txt with -origin
  -origin url    list this origin only; or whose robots.txt the file of -rules is

Question
  -agent names   list the rules that bind these crawlers, instead of every group. Separated by commas; may be repeated
` + readingHelp + `
Output
  -out file      x.parquet or x.jsonl (JSON Lines); - is JSON Lines on standard output. Default: the name of the
                 rules plus .rules.parquet, in the working directory

Run
  -workers n     goroutines that inspect; default: one per processor. The output does not depend on it
  -progress how  auto (default: a bar on a terminal; lines elsewhere, and where TERM=dumb says that the terminal cannot
                 move its cursor), bar, plain (lines), off. No terminal gets colours, whatever NO_COLOR says
  -quiet         print errors only
  -h             print this
`

// compileHelp is what compile -h prints.
const compileHelp = `robobatch compile compiles robots.txt into a pack: one file that robobatch -rules takes, and starts with at once.

    robobatch compile -rules dir

writes dir.rbp. The pack is for one dialect; any crawler and any moment can be asked for. It opens no network connection.
docs/PACKS.md says when to compile first.

Input
  -rules dir     as for robobatch: a directory, a file of captures, or one robots.txt with -origin
  -origin url    whose robots.txt the file of -rules is

Question
` + dialectHelp + `
Output
  -out file      x.rbp. Default: the name of the rules plus .rbp, in the working directory

Run
  -workers n     goroutines that compile; default: one per processor. The output does not depend on it
  -progress how  auto (default: a bar on a terminal; lines elsewhere, and where TERM=dumb says that the terminal cannot
                 move its cursor), bar, plain (lines), off. No terminal gets colours, whatever NO_COLOR says
  -quiet         print errors only
  -h             print this
`

// benchHelp is what bench -h prints.
const benchHelp = `robobatch bench measures a run on your own rules and logs, and prints what benchstat reads.

    robobatch bench -rules dir -in urls.zst

prints, in several rounds, a line each for parsing the rules, compiling them, reading the logs and the whole run, with
processor time, rates, allocations and peak memory; of a pack, for opening it, and the run takes in loading its rules. It writes to a temporary directory and opens no network connection.

Input
  -rules dir     as for robobatch
  -origin url    whose robots.txt the file of -rules is
  -in log        as for robobatch, but no pipe. May be repeated
  -format name   what the lines of the logs are: auto (default), urls, combined, w3c, cloudfront, alb, json, csv, tsv, cdxj, parquet or warc
  -base url      as for robobatch
  -url-field name
                 as for robobatch
  -url-column name
                 the same, for tables
  -host-field name
                 as for robobatch
  -time-field name
                 as for robobatch
  -limit n       stop after n URLs; 0, the default, is all

Question
  -agent names   as for robobatch
` + rowReadingHelp + `
Output
  -columns list  as for robobatch

Run
  -workers n     goroutines; default: one, and then one per processor
  -rounds n      how often each is measured; default 6, the fewest that benchstat judges by
  -h             print this
`

// pipeHelp is what pipe -h prints.
const pipeHelp = `robobatch pipe adds verdicts to the rows of an Arrow IPC stream: for engines that hand rows to a program and take them back.

    … | robobatch pipe -rules rules.rbp | …

reads a stream with a column url on standard input, and writes it to standard output with the same rows and columns, batch
by batch, and the columns of the verdicts behind them. It opens no network connection. docs/ENGINES.md has examples.

Input
  -rules dir     as for robobatch; a compiled pack (.rbp) is ready at once
  -origin url    whose robots.txt the file of -rules is
  -url-column name
                 the column of the URLs; default: url. Its type is utf8, binary, a large or view form of them, or a dictionary of these

Question
  -agent names   as for robobatch; several give columns for each, as in allowed_googlebot, and still one row
` + readingHelp + `  -missing what  allow (default), disallow or null: the answer where an origin has no robots.txt in -rules
  -url-as-is     match URLs byte for byte, without normalising their escapes

Output
  -columns list  which columns, and in which order: origin,allowed,reason,rule_line,rule (the default of one agent),
                 canonical_url. Several agents have no reason and rule unless they are named
  -prefix text   what the names of these columns begin with, where the rows have columns of the same names
  -pool          write no end mark behind a stream: for executable_pool of ClickHouse, which sends one stream after another
                 and leaves the mark to be read as the beginning of the next answer

Run
  -workers n     goroutines that match; default: one per processor. The output does not depend on it
  -max-memory size
                 as for robobatch
  -quiet         print errors only
  -h             print this

Exit codes: 0 done, or standard output was closed; 2 an error of usage or input. The batches before a fault are written then, and the
stream has no end mark.
`
