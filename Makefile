# Targets for developers; `make check` is what CI runs. Every target needs only Go and make, except
# race (gcc), e2e (gcc, Node.js, Chromium), lint (it builds the linter, about two minutes the first time), and
# python and cluster-* (Python 3.10, Java 17, Slurm).
# No test depends on the speed of the machine: TIMEOUT only ends tests that hang.

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
# RESULTS passes on lines with results and headers, and prints the others to stderr: benchmarks may log any bytes.
RESULTS       = tee /dev/stderr | LC_ALL=C grep -aE '^(Benchmark[!-~]+[[:space:]]+[0-9]+[[:space:]]|(goos|goarch|pkg|cpu|corpus): |\# (go|date|load|engines|libraries): )'
# KEEP renames new results by date and machine.
KEEP          = cpu=$$(sed -n 's/([A-Z]*)//g; s/^cpu: //p' "$$new" | tail -n 1 | tr A-Z a-z | tr -cs 'a-z0-9\n' -); mv "$$new" "$$(dirname "$$new")/$$(date -u +%F)-$$cpu.txt"
# MEDIANS summarises the newest file of bench/results with benchstat.
NEWEST        = $(notdir $(lastword $(sort $(wildcard bench/results/*.txt))))
UNITS         = cpu-ns/url OR cpu-ns/path OR compile-cpu-ns/origin OR cpu-ns/row OR cpu-ns/rule OR load-cpu-ns/origin OR urls/s OR peak-B OR agree-% OR tables-B/rule-B OR refs-B/rule-B OR heap-B/rule-B
MEDIANS       = cd bench/results && $(GO) run $(BENCHSTAT) -ignore corpus -row .fullname -filter '.unit:($(UNITS))'
GOBENCH       = $(GO) test -run '^$$' -bench '$(BENCH)' -benchmem -benchtime $(BENCHTIME) -timeout 2h
BENCHDIR     ?= bench
SHORT        ?= -short
TIMEOUT      ?= 2h
# PROGRESS counts the packages that go build -v prints, and passes on all other lines.
PROGRESS      = while IFS= read -r line; do case "$$line" in *[\ :]*) echo "$$line";; *) n=$$((n + 1)); [ $$((n % 25)) != 0 ] || echo "compiled $$n packages";; esac; done
# TESTS runs go test, and prints what passed, failed, was skipped, and still runs.
TESTS         = GO=$(GO) .ci/gotest $(GOTESTSUM) -timeout $(TIMEOUT)

BIN          := robobatch
QUICKSTART   := testdata/quickstart
# SYSTEMS are the packages with code that differs between Unix systems.
SYSTEMS       = ./internal/atomicfile ./internal/storage ./internal/measure ./ingest/rulefiles ./cmd/robobatch/internal/process

.DEFAULT_GOAL := build
.PHONY: help build dist dist-test dist-check quickstart test test-all times examples race lint arrows workflows wasm fmt scale preferences chance periods memory fuzz arm64 census hostile attack worlds shards objects python python-tables python-ray python-doors cluster cluster-slurm cluster-spark bench bench-compare bench-gate bench-peers bench-matrix bench-engines bench-whole bench-long bench-whatif bench-million bench-results bench-show bench-render e2e pictures example cover tidy check clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## /{printf "%-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## build ./robobatch
	@echo "Building ./robobatch. The first time, Go downloads its modules and compiles them: a minute or two."
	@set -o pipefail; CGO_ENABLED=0 $(GO) build -v -trimpath -o $(BIN) ./cmd/robobatch 2>&1 | $(PROGRESS)

dist: ## build the packages of a release in dist/: archives, .deb, wheels, checksums; for all systems, or TARGETS=linux/amd64
	rm -rf dist
	cd internal/dist && $(GO) run . -out ../../dist -targets '$(TARGETS)'

dist-test: ## build the packages for this machine twice, compare and install them; vet the code for Windows and macOS
	cd internal/dist && $(GO) vet ./... && $(GO) test -count 1 -timeout $(TIMEOUT) ./...
	for system in windows/amd64 darwin/arm64; do \
		GOOS=$${system%/*} GOARCH=$${system#*/} CGO_ENABLED=0 $(GO) vet $(SYSTEMS) || exit; done

dist-check: dist-test ## the same for all systems and processors, once with an empty Go cache; 17 minutes of CPU
	cd internal/dist && ROBOBATCH_DIST=1 $(GO) test -count 1 -timeout $(TIMEOUT) ./...
	GOOS=windows GOARCH=amd64 CGO_ENABLED=0 $(GO) vet ./...
	GOOS=windows GOARCH=arm64 CGO_ENABLED=0 $(GO) vet ./...
	GOOS=darwin GOARCH=arm64 CGO_ENABLED=0 $(GO) vet ./...
	GOOS=darwin GOARCH=amd64 CGO_ENABLED=0 $(GO) vet ./...

quickstart: build ## build ./robobatch, and run it on real data with a report: 320 robots.txt, 32,576 URLs
	./$(BIN) -rules $(QUICKSTART)/rules -in $(QUICKSTART)/urls.zst -report quickstart.html
	@echo "To see the report: $$(command -v xdg-open >/dev/null && echo xdg-open || echo open) quickstart.html"

test: ## run the tests of the main module, without the long comparisons; needs only Go
	@echo "Testing each package. The first time, Go downloads modules and compiles: some minutes on two cores."
	@CGO_ENABLED=0 $(TESTS) $(SHORT) ./...

test-all: ## run all tests of the main module, with the long comparisons; fifteen minutes of CPU
	@$(MAKE) --no-print-directory test SHORT=

times: ## run every command that reads times on TIMES (1000) logs of the years 1 to 9999; twenty minutes
	@ROBOBATCH_TIMES=$(TIMES) CGO_ENABLED=0 $(GO) test -count 1 -v -run TestExtremeTimes -timeout $(TIMEOUT) ./cmd/robobatch

examples: ## test the examples, which use the library from another module
	cd examples && $(GO) vet ./... && CGO_ENABLED=0 $(GO) test -timeout $(TIMEOUT) ./...

# RACED are the packages whose code or tests start goroutines, or protect shared data. The tests of other packages run in
# one goroutine, so they cannot race; the tests of the command run their code in many.
RACED      = $$($(GO) list -f '{{range .GoFiles}}{{$$.Dir}}/{{.}} {{end}}{{range .TestGoFiles}}{{$$.Dir}}/{{.}} {{end}}{{range .XTestGoFiles}}{{$$.Dir}}/{{.}} {{end}}' ./... | \
	xargs grep -lE '^[^/"]*(\<go (func|[a-z][A-Za-z.]*\()|[a-z]\.Go\(|[[:blank:]](atomic\.|sync\.(RW)?Mutex))' | xargs -n 1 dirname | sort -u)

# Tests that run under the race detector only at night (make race UNRACED='^$$'): scripts of commands whose only goroutines
# are the readers of rules, which the tests of rulefiles cover, or that repeat others for minutes; long tests that start
# no goroutines (go test -trace shows them); and others, mostly of damage, random texts and findings, whose code is tested elsewhere.
UNRACED    = ^TestScript$$/^(lint|explain|rules|compile|bench|check-exp|rfc9309|same-url|fault-(usage|judged|memory|series|stats)|report-(impostors|findings|texts|page|clients|sitemaps)|job-(accused|rows|ranges|text|encodings|named-agents|tables|partition-mode)|diff-paths|conduct-draft)|^Test(HostileTexts|LongRule|RowGroups|Allocs|BusiestStrays|ByName|Leads|LeadsOfLog|LineReader|TallyMost|FrequentStreaks|Findings|NoFindings|Spaces|NoSpaces|FiveFaults|ImpostorsApart|StaleLists|AheadDamage|LogsDamagedBlock|PairsDamage|Unverified|Decoder|Search|DisputesReal|CompareRandom|LimitLongRules|NamedHostile|PackRandom|PackDamaged|ArrangeDiskFull|InvalidBytes|Compression|RoundTrip|WhereAllocs|Wide|Kubernetes|Readme|HostileText|HostileForms|HostileChanges|Pages|Parts|SameURL|NoNetwork|ExtremeTimes|ListParquet|Named|SentToken|PreferencesChangeNoVerdict|PreferencesRandom|Disputes|RowTimesRandom|ManyTokens|Sort|CellTable|FileCommit|FileFault|RunsSameBytes|WideInvalid|Crash|StepErrors|SplitMany|Statistics|WhereAll|ColumnSubsets|LargeDictionary|Joined|ParquetDamage|Pairs|PartsDamaged|FunctionsExplained|Packages)$$

race: ## run the tests of packages that start goroutines under the race detector; needs gcc
	@echo 'Not run are the tests of UNRACED in the Makefile: they start no goroutines, or repeat what others test.'
	@GORACE=atexit_sleep_ms=0 CGO_ENABLED=1 $(TESTS) -race -short -skip '$(UNRACED)' $(RACED)

# The linter is built once per version.
LINTER     := $(CURDIR)/.bin/$(subst /,-,$(GOLANGCI))
$(LINTER):
	GOBIN=$(CURDIR)/.bin $(GO) install $(GOLANGCI)
	mv .bin/golangci-lint $@

lint: $(LINTER) ## go vet and golangci-lint
	@packages='./... ./internal/testdata/*'; \
	for module in . bench; do (cd $$module && $(GO) vet $$packages && $(LINTER) run $$packages) || exit; packages=./...; done

arrows: $(LINTER) ## check that the linter rejects each import that .golangci.yml forbids
	@.ci/arrows $(LINTER)

workflows: ## check .github and the files in docs/CI.md with linters and schemas; needs Python, downloads
	.ci/workflows

wasm: ## build report/whatif/module.wasm, which decides in report pages; commit it
	.ci/wasm

fmt: $(LINTER) ## format all Go code
	@$(LINTER) fmt ./...

chance: ## print how many findings crawlers without faults get by chance, in MONTHS crawler-months
	$(GO) test -count 1 -v -run '^TestChance$$' ./report/internal/diagnose -months $(MONTHS)

periods: ## print the changes that are claimed for PAIRS simulated pairs of periods of each kind
	$(GO) test -count 1 -v -run '^TestPairs$$' ./report/internal/periods -pairs $(PAIRS)

preferences: ## compare files and packs with the reference on QUESTIONS (2,000,000) about preferences; three minutes
	CGO_ENABLED=0 $(GO) test -count 1 -v -run '^TestPreferencesRandom$$' ./engine -preferences $(QUESTIONS)

scale: ## test large inputs: a gigabyte of captures, a pack of a million origins; some minutes
	ROBOBATCH_SCALE=1 CGO_ENABLED=0 $(GO) test -count 1 -v -run Scale -timeout 1h ./ingest/internal/capture ./engine

memory: ## check the peak memory of many kinds of runs with limits; LIMITS, SHAPES; 8 GB of disk, half an hour
	@cd bench && $(GO) run ./memory -limits $(LIMITS) -shapes '$(SHAPES)'

fuzz: ## run each fuzz target for FUZZTIME (10m)
	@set -e; for pkg in $$($(GO) list ./...); do \
		for target in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz' || true); do \
			echo "== $$target in $$pkg, $(FUZZTIME)"; \
			$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 1s $$pkg; \
		done; \
	done

arm64: ## test the matcher and normalisation for arm64, and random rules for COMPARE (10m); needs qemu-user-static
	@set -e; bin=$$(mktemp -d); trap 'rm -rf "$$bin"' EXIT; \
	for pkg in robots automaton; do GOARCH=arm64 $(GO) test -c -o "$$bin/$$pkg" ./$$pkg; done; \
	(cd robots && qemu-aarch64-static "$$bin/robots" -test.short -test.timeout $(TIMEOUT)); \
	cd automaton && qemu-aarch64-static "$$bin/automaton" -test.short -test.timeout $(TIMEOUT) -compare $(COMPARE)

census: ## compare the paths that rules allow with an independent search, for CENSUS (1000000) random groups
	CENSUS=$(CENSUS) $(GO) test -count=1 -v -run TestCompare -timeout 5h ./internal/extent

hostile: ## search for the rules that are slowest to match and to compile, and print them
	cd bench && $(GO) test -run '^$$' -bench Hostile -benchtime $(HOSTILETRIES)x -timeout 1h .

attack: ## kill runs, fail system calls, fill disks, and check the outputs; needs strace; four minutes; ATTACK='-kills 60 -faults 0'
	cd bench && $(GO) run ./attack $(ATTACK)

worlds: ## check the findings of report on generated logs with planted faults, WORLDS (20) per code; 25 minutes
	cd bench && $(GO) test -count 1 -v -run '^TestWorlds$$' -timeout 2h ./worlds -worlds $(WORLDS)

shards: ## run 200 inputs and partitions in four shards that are killed repeatedly; SHARDROUNDS (50)
	@ROBOBATCH_SHARDS=$(SHARDROUNDS) $(GO) test -count 1 -v -run 'Test(Shards|Split|Partitions)Killed' -timeout 4h ./cmd/robobatch

objects: ## run OBJECTS (1000) objects through a store that fails 5% of the requests; needs gcc
	@cd e2e && ROBOBATCH_OBJECTS=$(OBJECTS) CGO_ENABLED=1 $(GO) test -count 1 -v -run TestObjects -timeout $(TIMEOUT) .

python: ## check and test the Python package, in an environment of 1.7 GB in ~/.cache/robobatch
	@.ci/python check

python-tables: ## compare 10,000 random tables in every function of Python, SQL and Spark with the command
	@.ci/python tables

python-ray: ## run the Ray example of docs/LAKE.md; downloads Ray, which needs an idle machine to start in 30 s
	@.ci/python ray

python-doors: ## measure a row in each function of Python, in the command and in protego; ROWS (5000000)
	@.ci/python doors $(ROWS)

cluster: cluster-slurm cluster-spark ## run both

cluster-slurm: ## run docs/cluster on Slurm with one node, and kill and requeue a task; needs root on Debian
	@bash .ci/slurm

cluster-spark: ## run ROWS (5000000) on Spark, kill a worker, write Iceberg and Delta; Java 17; SPARK=--measure also measures
	@.ci/python spark $(ROWS) $(SPARK)

bench: ## run the benchmarks of BENCHDIR (bench) into bench.txt; BENCH, BENCHPKGS, BENCHTIME, BENCHCOUNT
	@set -o pipefail; (cd $(BENCHDIR) && $(GOBENCH) -count $(BENCHCOUNT) $(BENCHPKGS)) | $(RESULTS) >bench.txt

bench-compare: ## compare the working tree with the commit BASE (main), or only its folders ONLY
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

bench-gate: ## fail if a benchmark takes over 5% more CPU time than in BASE (the merge base with main), twice; four minutes
	@cd bench && $(GO) run ./gate -base "$$BASE" # empty, not main, unless it is given

bench-peers: ## measure other Go libraries for robots.txt, in turn with ours; ROUNDS (6)
	cd bench/peers && $(GO) run . -rounds $(ROUNDS)

bench-matrix: ## compare the answers of libraries in five languages, by class; needs python3, npm, cargo, mvn; five minutes
	python3 bench/peers/matrix.py

bench-engines: ## measure Hyperscan, Vectorscan, RE2::Set and a dense DFA; ROUNDS (6); Debian's libhyperscan-dev, libre2-dev
	@set -eu; dir=$$(mktemp -d); trap 'rm -rf "$$dir"' EXIT; \
	(cd "$$dir" && apt-get download -qq libvectorscan5 && dpkg-deb -x *.deb .); \
	dpkg-query -W -f '# engines: $${Package} $${Version}\n' libhyperscan-dev libre2-dev; \
	dpkg-deb -W --showformat '# engines: $${Package} $${Version}\n' "$$dir"/*.deb; \
	cd bench/peers && VECTORSCAN=$$(echo "$$dir"/usr/lib/*/libhs.so.5) CGO_ENABLED=1 $(GO) run -tags engines ./engines -rounds $(ROUNDS)

bench-whole: ## measure whole runs over logs of 30,000 origins, and loading their files; ROUNDS (6)
	@cd bench && $(GO) run ./whole -rounds $(ROUNDS)

bench-long: ## compare runs on long real logs with the commit BASE (main) and with only decompression; ROUNDS (6)
	@set -eu; base=$$(mktemp -d "$$(dirname "$$PWD")/bench-base.XXXXXX"); trap 'git worktree remove --force "$$base" || rmdir "$$base"' EXIT; \
	git worktree add -q --detach "$$base" '$(BASE)'; \
	(cd "$$base" && CGO_ENABLED=0 $(GO) build -o robobatch-base ./cmd/robobatch); \
	cd bench && $(GO) run ./whole -bench '^(Unpack|Repeated)' -base "$$base/robobatch-base" -rounds $(ROUNDS)

bench-whatif: ## compare diff, coverage and report with a run on the same log; ROUNDS (6)
	@cd bench && $(GO) run ./whole -rounds $(ROUNDS) -bench WhatIf

bench-million: ## measure runs on a pack of a million origins with memory limits; ROUNDS (6); 3 GB of memory, 2 GB of disk
	@cd bench && $(GO) run ./whole -bench Pack -origins 1000000 -rounds $(ROUNDS)

bench-results: ## run all benchmarks in ROUNDS (6) rounds into bench/results; 25 minutes; then run bench-render
	@set -eu -o pipefail; new=bench/results/new.tmp; mkdir -p bench/results; trap 'rm -f "$$new"' EXIT; \
	( cd bench; for round in $$(seq $(ROUNDS)); do \
		$(GO) test -run '^$$' -bench . -benchmem -benchtime 0.5s -count 1 .; \
	done; \
	$(GO) run ./whole -rounds $(ROUNDS); \
	(cd peers && $(GO) run . -rounds $(ROUNDS)); $(MAKE) -s -C .. bench-engines ) | $(RESULTS) >"$$new"; \
	$(KEEP)

bench-show: ## print the medians of the newest results
	@$(MEDIANS) $(NEWEST)

bench-render: ## write medians, charts, and tables in README.md and docs/PERFORMANCE.md from the newest results
	@$(MEDIANS) -format csv $(NEWEST) >medians.csv 2> >(grep -v 'need >= ' >&2)
	@cd bench && $(GO) run ./render -C ..

e2e: ## read outputs with DuckDB and others, and pages with Chromium; needs gcc, Node.js, a large first download
	cd e2e/node && npm install --no-audit --no-fund --loglevel=error
	cd e2e && CGO_ENABLED=1 $(GO) test -timeout $(TIMEOUT) ./...

pictures: ## update docs/images, in Chromium
	cd e2e && $(GO) test ./page -count 1 -run TestPictures -update

example: ## update docs/example-report.html; commit it
	$(GO) test ./cmd/robobatch -count 1 -run TestExamplePage -update

cover: ## print test coverage by function, and write cover.html
	CGO_ENABLED=0 $(GO) test -timeout $(TIMEOUT) -coverpkg=./... -coverprofile=cover.out ./...
	@$(GO) tool cover -html=cover.out -o cover.html
	@$(GO) tool cover -func=cover.out | tail -1

tidy: ## run go mod tidy in all modules
	$(GO) mod tidy
	cd e2e && $(GO) mod tidy
	cd examples && $(GO) mod tidy
	cd bench && $(GO) mod tidy
	cd bench/peers && $(GO) mod tidy
	cd internal/asm && $(GO) mod tidy
	cd internal/dist && $(GO) mod tidy

check: ## run what CI runs
	bash .ci/run

clean: ## remove the files of other targets
	rm -f $(BIN) cover.out cover.html bench.txt bench-*.txt blocked.csv urls.verdicts.parquet
