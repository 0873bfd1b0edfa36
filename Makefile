# Targets for developers; `make check` is what CI runs. Every target works on a fresh clone with Go and make alone,
# but race (gcc), e2e (gcc, Node.js, Chromium), lint (it builds the linter, about two minutes the first time), and
# python and cluster-* (Python 3.10, Java 17, Slurm).
# No test depends on how fast the machine is: TIMEOUT ends only what hangs.

SHELL        := bash
GO           ?= go
GOLANGCI     := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
GOTESTSUM    := gotest.tools/gotestsum@v1.13.0
BENCHSTAT    := golang.org/x/perf/cmd/benchstat@v0.0.0-20260908200009-22c9c6c9d4da

FUZZTIME     ?= 10m
COMPARE      ?= 10m
HOSTILETRIES ?= 400
CENSUS       ?= 1000000
BENCH        ?= .
BENCHCOUNT   ?= 6
BENCHTIME    ?= 1s
BENCHPKGS    ?= ./...
ROUNDS       ?= 6
LIMITS       ?= 64MiB,128MiB,256MiB,512MiB
SHAPES       ?= .
BASE         ?= main
ONLY         ?=
SHARDROUNDS  ?= 50
TIMES        ?= 1000
MONTHS       ?= 10000
PAIRS        ?= 1000
QUESTIONS    ?= 2000000
OBJECTS      ?= 1000
WORLDS       ?= 20
ATTACK       ?=
TARGETS      ?=
ROWS         ?= 5000000
SPARK        ?=
# RESULTS passes on the lines of results and their headers, and shows all others: benchmarks may log any bytes.
RESULTS       = tee /dev/stderr | LC_ALL=C grep -aE '^(Benchmark[!-~]+[[:space:]]+[0-9]+[[:space:]]|(goos|goarch|pkg|cpu|corpus): |\# (go|date|load|engines|libraries): )'
# KEEP renames new results by date and machine.
KEEP          = cpu=$$(sed -n 's/([A-Z]*)//g; s/^cpu: //p' "$$new" | tail -n 1 | tr A-Z a-z | tr -cs 'a-z0-9\n' -); mv "$$new" "$$(dirname "$$new")/$$(date -u +%F)-$$cpu.txt"
# MEDIANS has benchstat sum up the newest file of bench/results.
NEWEST        = $(notdir $(lastword $(sort $(wildcard bench/results/*.txt))))
UNITS         = cpu-ns/url OR cpu-ns/path OR compile-cpu-ns/origin OR cpu-ns/row OR cpu-ns/rule OR load-cpu-ns/origin OR urls/s OR peak-B OR agree-% OR tables-B/rule-B OR refs-B/rule-B OR heap-B/rule-B
MEDIANS       = cd bench/results && $(GO) run $(BENCHSTAT) -ignore corpus -row .fullname -filter '.unit:($(UNITS))'
GOBENCH       = $(GO) test -run '^$$' -bench '$(BENCH)' -benchmem -benchtime $(BENCHTIME) -timeout 2h
BENCHDIR     ?= bench
SHORT        ?= -short
TIMEOUT      ?= 2h
# PROGRESS counts the packages that go build -v names, and passes on all other lines.
PROGRESS      = while IFS= read -r line; do case "$$line" in *[\ :]*) echo "$$line";; *) n=$$((n + 1)); [ $$((n % 25)) != 0 ] || echo "compiled $$n packages";; esac; done
# TESTS runs go test: a line a package when it ends, failures at once, and at the end why tests were skipped.
TESTS         = $(GO) run $(GOTESTSUM) --format pkgname-and-test-fails --format-hide-empty-pkg -- -vet=off -timeout $(TIMEOUT)

BIN          := robobatch
QUICKSTART   := testdata/quickstart
# SYSTEMS are the packages with code that differs between systems of Unix.
SYSTEMS       = ./internal/atomicfile ./internal/storage ./internal/measure ./ingest/rulefiles ./cmd/robobatch/internal/process

.DEFAULT_GOAL := build
.PHONY: help build dist dist-test dist-check quickstart test test-all times examples race lint arrows workflows wasm fmt scale preferences chance periods memory fuzz arm64 census hostile attack worlds shards objects python python-tables python-ray python-doors cluster cluster-slurm cluster-spark bench bench-compare bench-gate bench-peers bench-matrix bench-engines bench-whole bench-long bench-whatif bench-million bench-results bench-show bench-render e2e pictures example cover tidy check clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## /{printf "%-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## build ./robobatch
	@echo "Building ./robobatch. The first time, Go downloads its modules and compiles them: a minute or two."
	@set -o pipefail; CGO_ENABLED=0 $(GO) build -v -trimpath -o $(BIN) ./cmd/robobatch 2>&1 | $(PROGRESS)

dist: ## the packages of a release, in dist/, made anew: archives, .deb, wheels, checksums; for all systems, or TARGETS=linux/amd64
	rm -rf dist
	cd internal/dist && $(GO) run . -out ../../dist -targets '$(TARGETS)'

dist-test: ## build the packages for this machine twice, compare and install them; vet the code for Windows and macOS
	cd internal/dist && $(GO) vet ./... && $(GO) test -count 1 -timeout $(TIMEOUT) ./...
	for system in windows/amd64 darwin/arm64; do \
		GOOS=$${system%/*} GOARCH=$${system#*/} CGO_ENABLED=0 $(GO) vet $(SYSTEMS) || exit; done

dist-check: dist-test ## the same for all systems and processors, once with an empty cache of Go: 17 minutes of CPU
	cd internal/dist && ROBOBATCH_DIST=1 $(GO) test -count 1 -timeout $(TIMEOUT) ./...
	GOOS=windows GOARCH=amd64 CGO_ENABLED=0 $(GO) vet ./...
	GOOS=windows GOARCH=arm64 CGO_ENABLED=0 $(GO) vet ./...
	GOOS=darwin GOARCH=arm64 CGO_ENABLED=0 $(GO) vet ./...
	GOOS=darwin GOARCH=amd64 CGO_ENABLED=0 $(GO) vet ./...

quickstart: build ## build ./robobatch and run the main job on real data: 320 robots.txt, 32,576 URLs; with a report
	./$(BIN) -rules $(QUICKSTART)/rules -in $(QUICKSTART)/urls.zst -report quickstart.html
	@echo "To see the report: $$(command -v xdg-open >/dev/null && echo xdg-open || echo open) quickstart.html"

test: ## the tests of the main module, without their long comparisons; needs Go only
	@echo "Testing each package. The first time, Go downloads modules and compiles: some minutes on two cores."
	@CGO_ENABLED=0 $(TESTS) $(SHORT) ./...

test-all: ## all tests of the main module, the long comparisons included: some fifteen minutes of CPU
	@$(MAKE) --no-print-directory test SHORT=

times: ## every command that reads times, on 1,000 logs with times of years 1 to 9999; TIMES (1000); takes twenty minutes
	@ROBOBATCH_TIMES=$(TIMES) CGO_ENABLED=0 $(GO) test -count 1 -v -run TestExtremeTimes -timeout $(TIMEOUT) ./cmd/robobatch

examples: ## the library as another module uses it: each example prints what its comment says
	cd examples && $(GO) vet ./... && CGO_ENABLED=0 $(GO) test -timeout $(TIMEOUT) ./...

# RACED are the packages whose code or tests start goroutines, or guard what they share. The tests of others run in one
# goroutine, in which there is no race; the command's run their code in many.
RACED      = $$($(GO) list -f '{{range .GoFiles}}{{$$.Dir}}/{{.}} {{end}}{{range .TestGoFiles}}{{$$.Dir}}/{{.}} {{end}}{{range .XTestGoFiles}}{{$$.Dir}}/{{.}} {{end}}' ./... | \
	xargs grep -lE '^[^/"]*(\<go (func|[a-z][A-Za-z.]*\()|[a-z]\.Go\(|[[:blank:]](atomic\.|sync\.(RW)?Mutex))' | xargs -n 1 dirname | sort -u)

# What is not raced on each change, but every night (make race UNRACED='^$$'): scripts of commands that start no goroutine but
# the readers of rules, which tests of rulefiles race, or that repeat for minutes what others race; and long tests, most of them
# of damage, of random texts and of findings, whose code others race.
UNRACED    = ^TestScript$$/^(lint|explain|rules|compile|bench|check-exp|rfc9309|same-url|fault-(usage|judged|memory|series|stats)|report-(impostors|findings|texts|page|clients|sitemaps)|job-(accused|rows|ranges|text|encodings|named-agents|tables|partition-mode)|diff-paths|conduct-draft)|^Test(HostileTexts|LongRule|RowGroups|Allocs|BusiestStrays|ByName|Leads|LeadsOfLog|LineReader|TallyMost|FrequentStreaks|Findings|NoFindings|Spaces|NoSpaces|FiveFaults|ImpostorsApart|StaleLists|AheadDamage|LogsDamagedBlock|PairsDamage|Unverified|Decoder|Search|DisputesReal|CompareRandom|LimitLongRules|NamedHostile|PackRandom|PackDamaged|ArrangeDiskFull|InvalidBytes|Compression|RoundTrip|WhereAllocs|Wide|Kubernetes|Readme|HostileText|HostileForms|HostileChanges|Pages|Parts|SameURL|NoNetwork|ExtremeTimes|ListParquet|Named|SentToken|PreferencesChangeNoVerdict|PreferencesRandom|Disputes|RowTimesRandom|ManyTokens)$$

race: ## what `make test` runs, under the race detector, of packages that start goroutines; needs gcc
	@CGO_ENABLED=1 $(TESTS) -race -short -skip '$(UNRACED)' $(RACED)

# The linter is built once for each version.
LINTER     := $(CURDIR)/.bin/$(subst /,-,$(GOLANGCI))
$(LINTER):
	GOBIN=$(CURDIR)/.bin $(GO) install $(GOLANGCI)
	mv .bin/golangci-lint $@

lint: $(LINTER) ## go vet and golangci-lint
	@packages='./... ./internal/testdata/*'; \
	for module in . bench; do (cd $$module && $(GO) vet $$packages && $(LINTER) run $$packages) || exit; packages=./...; done

arrows: $(LINTER) ## show that the linter forbids each import that .golangci.yml means to forbid
	@.ci/arrows $(LINTER)

workflows: ## check .github, and the files of docs/CI.md for other services, by linters and schemas; Python, a download
	.ci/workflows

wasm: ## build report/whatif/module.wasm, which decides in the page of a report; commit it
	.ci/wasm

fmt: $(LINTER) ## format all Go code
	@$(LINTER) fmt ./...

chance: ## print how many findings faultless crawlers get by chance, of MONTHS crawler-months
	$(GO) test -count 1 -v -run '^TestChance$$' ./report/internal/diagnose -months $(MONTHS)

periods: ## print what PAIRS simulated pairs of periods of each kind claim
	$(GO) test -count 1 -v -run '^TestPairs$$' ./report/internal/periods -pairs $(PAIRS)

preferences: ## print how many of QUESTIONS (2,000,000) about preferences files and packs answer as the references; takes three minutes
	CGO_ENABLED=0 $(GO) test -count 1 -v -run '^TestPreferencesRandom$$' ./engine -preferences $(QUESTIONS)

scale: ## the tests of large inputs: a gigabyte of captures, a pack of a million origins; takes minutes
	ROBOBATCH_SCALE=1 CGO_ENABLED=0 $(GO) test -count 1 -v -run Scale -timeout 1h ./ingest/internal/capture ./engine

memory: ## the peak memory of runs of many shapes under limits, a million origins; LIMITS, SHAPES; needs 8 GB of disk, takes half an hour
	@cd bench && $(GO) run ./memory -limits $(LIMITS) -shapes '$(SHAPES)'

fuzz: ## each fuzz target for FUZZTIME (10m)
	@set -e; for pkg in $$($(GO) list ./...); do \
		for target in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz' || true); do \
			echo "== $$target in $$pkg, $(FUZZTIME)"; \
			$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 1s $$pkg; \
		done; \
	done

arm64: ## the tests of the matcher and of normal forms for arm64, and COMPARE (10m) of random rules; needs qemu-user-static
	@set -e; bin=$$(mktemp -d); trap 'rm -rf "$$bin"' EXIT; \
	for pkg in robots automaton; do GOARCH=arm64 $(GO) test -c -o "$$bin/$$pkg" ./$$pkg; done; \
	(cd robots && qemu-aarch64-static "$$bin/robots" -test.short -test.timeout $(TIMEOUT)); \
	cd automaton && qemu-aarch64-static "$$bin/automaton" -test.short -test.timeout $(TIMEOUT) -compare $(COMPARE)

census: ## compare what rules leave open with an independent search, for CENSUS (1000000) drawn groups
	CENSUS=$(CENSUS) $(GO) test -count=1 -v -run TestCompare -timeout 5h ./internal/extent

hostile: ## look for the rules that are slowest to match and to compile, and print them
	cd bench && $(GO) test -run '^$$' -bench Hostile -benchtime $(HOSTILETRIES)x -timeout 1h .

attack: ## kill runs, fail system calls, fill disks, and compare what is left; needs strace; some four minutes, or ATTACK='-kills 60 -faults 0'
	cd bench && $(GO) run ./attack $(ATTACK)

worlds: ## made-up logs with planted faults, WORLDS (20) of each code, compared with what report says of them; some 25 minutes
	cd bench && $(GO) test -count 1 -v -run '^TestWorlds$$' -timeout 2h ./worlds -worlds $(WORLDS)

shards: ## 200 inputs, three of them damaged, one of 200 MB, and partitions, in four shards that are killed again and again; SHARDROUNDS (50)
	@ROBOBATCH_SHARDS=$(SHARDROUNDS) $(GO) test -count 1 -v -run 'Test(Shards|Split|Partitions)Killed' -timeout 4h ./cmd/robobatch

objects: ## 1,000 objects, one output each, through a store that fails one request of twenty; OBJECTS (1000); gcc
	@cd e2e && ROBOBATCH_OBJECTS=$(OBJECTS) CGO_ENABLED=1 $(GO) test -count 1 -v -run TestObjects -timeout $(TIMEOUT) .

python: ## linter, types and tests of the Python package; makes its own environment, 1.7 GB in ~/.cache/robobatch
	@.ci/python check

python-tables: ## 10,000 random tables through every door of Python, SQL and Spark, each row as the command has it
	@.ci/python tables

python-ray: ## the example of docs/LAKE.md with Ray, which it fetches; an unloaded machine, as Ray gives itself 30 s to start
	@.ci/python ray

python-doors: ## what a row costs through each door, beside the command and protego; ROWS (5000000)
	@.ci/python doors $(ROWS)

cluster: cluster-slurm cluster-spark ## both

cluster-slurm: ## docs/cluster on a real Slurm of one node, a task of which is killed and requeued; root, Debian, slurm-wlm and munge
	@bash .ci/slurm

cluster-spark: ## ROWS (5000000) on a Spark of two workers, one of which is killed, and into tables of Iceberg and Delta; Java 17; SPARK=--measure compares with an identity
	@.ci/python spark $(ROWS) $(SPARK)

bench: ## the benchmarks of the folder BENCHDIR (bench), into bench.txt; BENCH, BENCHPKGS, BENCHTIME and BENCHCOUNT choose
	@set -o pipefail; (cd $(BENCHDIR) && $(GOBENCH) -count $(BENCHCOUNT) $(BENCHPKGS)) | $(RESULTS) >bench.txt

bench-compare: ## the working tree against the commit BASE (main), or against itself with the folders ONLY of BASE, in turn
	@set -eu; rm -f bench-base.txt bench-here.txt; \
	base=$$(mktemp -d "$$(dirname "$$PWD")/bench-base.XXXXXX"); trap 'git worktree remove --force "$$base" || rmdir "$$base"' EXIT; \
	git worktree add -q --detach "$$base" '$(if $(ONLY),HEAD,$(BASE))'; \
	$(if $(ONLY),git -C "$$base" rm -rq $(ONLY); git -C "$$base" checkout -q '$(BASE)' -- $(ONLY);) \
	for round in $$(seq $(BENCHCOUNT)); do \
		echo "round $$round of $(BENCHCOUNT)"; \
		(cd "$$base/$(BENCHDIR)" && $(GOBENCH) -count 1 $(BENCHPKGS)) >>bench-base.txt; \
		(cd $(BENCHDIR) && $(GOBENCH) -count 1 $(BENCHPKGS)) >>bench-here.txt; \
	done; \
	$(GO) run $(BENCHSTAT) bench-base.txt bench-here.txt

bench-gate: ## fail if one of eleven benchmarks takes over 5 % more CPU time than in BASE (the merge base with main), twice; four minutes at most
	@cd bench && $(GO) run ./gate -base "$$BASE" # empty, not main, unless it is given

bench-peers: ## other Go libraries for robots.txt, in turn with ours; ROUNDS (6)
	cd bench/peers && $(GO) run . -rounds $(ROUNDS)

bench-matrix: ## how libraries in five languages answer the cases of testdata, by class; needs python3, npm, cargo, mvn; some five minutes
	python3 bench/peers/matrix.py

bench-engines: ## Hyperscan, Vectorscan, RE2::Set and a dense DFA in turn with ours; ROUNDS (6); Debian's libhyperscan-dev, libre2-dev
	@set -eu; dir=$$(mktemp -d); trap 'rm -rf "$$dir"' EXIT; \
	(cd "$$dir" && apt-get download -qq libvectorscan5 && dpkg-deb -x *.deb .); \
	dpkg-query -W -f '# engines: $${Package} $${Version}\n' libhyperscan-dev libre2-dev; \
	dpkg-deb -W --showformat '# engines: $${Package} $${Version}\n' "$$dir"/*.deb; \
	cd bench/peers && VECTORSCAN=$$(echo "$$dir"/usr/lib/*/libhs.so.5) CGO_ENABLED=1 $(GO) run -tags engines ./engines -rounds $(ROUNDS)

bench-whole: ## whole runs over logs of 30,000 origins, CPU time and peak memory, and loading their files; ROUNDS (6)
	@cd bench && $(GO) run ./whole -rounds $(ROUNDS)

bench-long: ## runs on long real logs, by one worker and two, against the commit BASE (main) and against unpacking alone, in turn; ROUNDS (6)
	@set -eu; base=$$(mktemp -d "$$(dirname "$$PWD")/bench-base.XXXXXX"); trap 'git worktree remove --force "$$base" || rmdir "$$base"' EXIT; \
	git worktree add -q --detach "$$base" '$(BASE)'; \
	(cd "$$base" && CGO_ENABLED=0 $(GO) build -o robobatch-base ./cmd/robobatch); \
	cd bench && $(GO) run ./whole -bench '^(Unpack|Repeated)' -base "$$base/robobatch-base" -rounds $(ROUNDS)

bench-whatif: ## diff, coverage and report, each a process, in turn with runs of the main job on the same log; ROUNDS (6)
	@cd bench && $(GO) run ./whole -rounds $(ROUNDS) -bench WhatIf

bench-million: ## runs on a pack of a million origins, under limits of memory; needs 3 GB of memory, 2 GB of disk; ROUNDS (6)
	@cd bench && $(GO) run ./whole -bench Pack -origins 1000000 -rounds $(ROUNDS)

bench-results: ## all benchmarks in ROUNDS (6) rounds, kept in bench/results; some 25 minutes, then run bench-render; needs what bench-engines does
	@set -eu -o pipefail; new=bench/results/new.tmp; mkdir -p bench/results; trap 'rm -f "$$new"' EXIT; \
	( cd bench; for round in $$(seq $(ROUNDS)); do \
		$(GO) test -run '^$$' -bench . -benchmem -benchtime 0.5s -count 1 .; \
	done; \
	$(GO) run ./whole -rounds $(ROUNDS); \
	(cd peers && $(GO) run . -rounds $(ROUNDS)); $(MAKE) -s -C .. bench-engines ) | $(RESULTS) >"$$new"; \
	$(KEEP)

bench-show: ## the medians of the newest of bench/results
	@$(MEDIANS) $(NEWEST)

bench-render: ## the newest of bench/results as medians, as charts, and as the tables in README.md and docs/PERFORMANCE.md
	@$(MEDIANS) -format csv $(NEWEST) >medians.csv 2> >(grep -v 'need >= ' >&2)
	@cd bench && $(GO) run ./render -C ..

e2e: ## read the output with DuckDB and other readers, open pages in Chromium; needs gcc, Node.js, and a large download the first time
	cd e2e/node && npm install --no-audit --no-fund --loglevel=error
	cd e2e && CGO_ENABLED=1 $(GO) test -timeout $(TIMEOUT) ./...

pictures: ## take the pictures of docs/images anew, in Chromium
	cd e2e && $(GO) test ./page -count 1 -run TestPictures -update

example: ## write docs/example-report.html anew; commit it
	$(GO) test ./cmd/robobatch -count 1 -run TestExamplePage -update

cover: ## coverage by function, and cover.html
	CGO_ENABLED=0 $(GO) test -timeout $(TIMEOUT) -coverpkg=./... -coverprofile=cover.out ./...
	@$(GO) tool cover -html=cover.out -o cover.html
	@$(GO) tool cover -func=cover.out | tail -1

tidy: ## go mod tidy in all modules
	$(GO) mod tidy
	cd e2e && $(GO) mod tidy
	cd examples && $(GO) mod tidy
	cd bench && $(GO) mod tidy
	cd bench/peers && $(GO) mod tidy
	cd internal/asm && $(GO) mod tidy
	cd internal/dist && $(GO) mod tidy

check: ## what CI runs
	bash .ci/run

clean: ## remove what the other targets leave behind
	rm -f $(BIN) cover.out cover.html bench.txt bench-*.txt blocked.csv urls.verdicts.parquet
