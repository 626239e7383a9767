# `make` lists the targets.
#
# To build without make: go generate ./static && go build ./cmd/beam

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# Beam needs no C, and the same settings everywhere compile each package once. Only the race
# detector needs C.
export CGO_ENABLED := 0

# ARGS are arguments of beam in `make run`, and of Playwright in `make e2e`, which runs
# the projects of e2e/playwright.config.js whose names begin with PROJECT: journeys or long.
ARGS ?=
PROJECT ?= journeys
# VERSION is the version of `make release`.
VERSION ?=
# BENCH selects benchmarks; FUZZ is the number of inputs for each fuzz target. `make
# soak` runs the conformance suite SOAK times, kills the program KILLS times (BEAM_SEED
# repeats what clients did), and
# starts SOAK_RATE runs a second for SOAK_MINUTES.
BENCH ?= .
# `make bench-compare` measures the commit BASE and the working tree COUNT times in turns. It
# fails if a benchmark takes LIMIT percent more.
BASE ?= HEAD
COUNT ?= 6
LIMIT ?= 10
FUZZ ?= 100000
SOAK ?= 20
KILLS ?= 1000
SOAK_MINUTES ?= 30
SOAK_RATE ?= 200

bundle := static/vendor/datastar.js
npm := node_modules/.package-lock.json
suite := conformance/node_modules/.package-lock.json
clients := interop/node_modules/.package-lock.json

# felt are the benchmarks of what people feel: asks, events, pages.
felt := AskOverHTTP|AskOverStdio|AskRoundTrip|AskAndAnswer|AskAnswered|Events|RunPage|ListPages|Fold100k

# starting are the packages whose tests start programs; unraced are others that crawl, make
# or compare pages, or read the source. The race detector makes all these slow and sees little
# of them, so make test doesn't use it there, and make test-long does.
starting := ./cmd/beam ./internal/datafolder ./internal/systemtest/crash ./internal/systemtest/durability ./internal/systemtest/gateway ./internal/systemtest/interop ./internal/store ./internal/systemtest/cluster/...
unraced := . ./docs ./internal/apilist ./internal/houserules ./web/internal/...
raced = $$(go list ./... | grep -vxF "$$(go list $(starting) $(unraced))")

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: run
run: build ## build and start Beam (ARGS="--open --memory")
	@exec bin/beam $(ARGS)

.PHONY: cluster
cluster: build ## run three replicas of Beam on one PostgreSQL, behind a proxy, until Ctrl-C (ARGS="-replicas 5")
	scripts/need pg_ctlcluster postgresql
	go build -o bin/cluster ./internal/systemtest/cluster/run
	@exec bin/cluster $(ARGS)

.PHONY: build
build: $(bundle) ## build bin/beam, without a debugger's tables, a quarter of its size
	go build -ldflags=-w -o bin/beam ./cmd/beam

# The parts of `make test` run two at a time, the longest first: each waits a third of its
# time. The output of each is printed when it ends, and one that fails doesn't keep the
# others from running.
.PHONY: test
test: generated ## everything that must pass, from a fresh clone
	@$(MAKE) --no-print-directory -j2 --keep-going --output-sync=target e2e race programs lint conformance interop

.PHONY: test-long
test-long: $(bundle) ## long tests: all Go tests at full size, programs with the race detector, every fuzz target on some inputs, long e2e tests
	go test -vet=off -timeout 30m ./...
	CGO_ENABLED=1 GORACE=atexit_sleep_ms=10 go test -vet=off -race -short -timeout 30m $(starting) $(unraced)
	CGO_ENABLED=1 GORACE=atexit_sleep_ms=10 go -C examples/migrate test -vet=off -race -short ./...
	scripts/fuzz 2000
	$(MAKE) e2e PROJECT=long

.PHONY: check
check: generated lint ## check generated code and formatting; go vet, staticcheck

.PHONY: generated
generated: $(bundle)
	scripts/check-generated
	scripts/check-format

.PHONY: lint
lint: $(bundle)
	go vet ./...
	go tool staticcheck ./...
	go -C examples/migrate vet ./...

.PHONY: unit
unit: $(bundle) ## Go tests that start no programs, without the race detector, while you work
	go test -vet=off -short $(raced) $(unraced)

.PHONY: race
race: $(bundle) ## Go tests that start no programs, most with the race detector
	scripts/need gcc gcc libc6-dev
	CGO_ENABLED=1 GORACE=atexit_sleep_ms=10 go test -vet=off -race -short $(raced)
	go test -vet=off -short $(unraced)

.PHONY: programs
programs: $(bundle) ## Go tests that start programs
	scripts/need curl curl
	scripts/need pg_ctlcluster postgresql
	scripts/need strace strace
	scripts/need tmux tmux
	go test -vet=off -short $(starting)
	go -C examples/migrate test -vet=off -short ./...

.PHONY: conformance
conformance: fixtures $(suite) ## the official MCP conformance suite, over HTTP and stdio, and for clients
	scripts/with-node node conformance/run.js

.PHONY: soak
soak: fixtures $(suite) ## the conformance suite SOAK=20 times, the program killed KILLS=1000 times, and 200 runs a second for SOAK_MINUTES=30
	BEAM_KILLS=$(KILLS) go test -count=1 -v -timeout 0 -skip TestSoak ./internal/systemtest/crash
	for i in $$(seq $(SOAK)); do scripts/with-node node conformance/run.js | tail -n 1; done
	SOAK_MINUTES=$(SOAK_MINUTES) SOAK_RATE=$(SOAK_RATE) go test -count=1 -timeout 0 -run TestSoak -v ./internal/systemtest/crash
	echo "soak: $(SOAK) runs without a flake"

.PHONY: fixtures
fixtures: $(bundle)
	go build -o bin/fixture-serve ./internal/systemtest/fixture/serve
	go build -o bin/fixture-bridge ./internal/systemtest/fixture/bridge
	go build -o bin/fixture-client ./internal/systemtest/fixture/client

.PHONY: interop
interop: $(bundle) $(clients) ## the official TypeScript MCP clients, MCP Inspector, and agent frameworks
	go build -o bin/photons ./internal/systemtest/interop/photons
	PHOTONS=$(CURDIR)/bin/photons scripts/with-node npm test --prefix interop

.PHONY: e2e
e2e: build $(npm) $(clients) ## end-to-end tests in a real, headless Chromium (ARGS="csv.spec.js")
	scripts/need "$${CHROMIUM:-chromium-headless-shell}" chromium-headless-shell
	[ "$(PROJECT)" = journeys ] || scripts/need chromium chromium
	scripts/need caddy caddy
	scripts/need nginx nginx-light
	scripts/need tmux tmux
	BEAM=bin/beam scripts/with-node npm run e2e -- --project='$(PROJECT)*' $(ARGS)

.PHONY: bench
bench: $(bundle) ## benchmarks (BENCH=regexp)
	go test -run '^$$' -bench '$(BENCH)' -benchmem ./...

.PHONY: bench-compare
bench-compare: $(bundle) ## hold the working tree against a commit (BASE=main BENCH='Ask|Event' COUNT=6 LIMIT=10)
	scripts/bench-compare '$(BASE)' '$(if $(filter .,$(BENCH)),$(felt),$(BENCH))' '$(COUNT)' '$(LIMIT)'

.PHONY: bench-waiting
bench-waiting: $(bundle) ## measure 10,000 and 100,000 waiting runs; with BEAM_MILLION=1, a million
	go test -count=1 -v -timeout 60m ./internal/systemtest/million

.PHONY: bench-page
bench-page: build $(npm) $(clients) ## measure the page, and the view in a chat, in a real Chromium, on an idle machine
	scripts/need "$${CHROMIUM:-chromium}" chromium
	BEAM=bin/beam scripts/with-node node e2e/bench/page.js
	BEAM=bin/beam scripts/with-node node e2e/bench/chat.js
	scripts/with-node node e2e/bench/interactions.js

.PHONY: picture
picture: ## update the screenshots of the README and of docs
	$(MAKE) e2e PROJECT=long ARGS="screenshots-states.spec.js -g working"
	cp e2e/screenshots/readme-laptop-light.png docs/beam.png
	$(MAKE) e2e PROJECT=long ARGS="apps-screenshots.spec.js"
	for name in question done; do cp e2e/screenshots/apps-docs-$$name.png docs/apps-$$name.png; done

.PHONY: fuzz
fuzz: $(bundle) ## every fuzz target on FUZZ=100000 inputs
	scripts/fuzz $(FUZZ)

.PHONY: generate
generate: ## regenerate all generated code
	go generate ./...

.PHONY: release
release: ## programs for all systems, npm packages and a container image in dist/, and a tag (VERSION=v1.2.3)
	scripts/release '$(VERSION)'

.PHONY: clean
clean: ## remove build output, but no downloads
	rm -rf bin dist e2e/results e2e/screenshots
	find static/vendor -type f ! -name placeholder.txt -delete

$(bundle): internal/datastar/fetch.go
	go generate ./static

$(npm): package.json package-lock.json .npmrc
	PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 scripts/with-node npm ci --no-audit --no-fund

$(clients): interop/package.json interop/package-lock.json interop/.npmrc
	scripts/with-node npm ci --prefix interop --no-audit --no-fund --ignore-scripts

$(suite): conformance/package.json conformance/package-lock.json conformance/.npmrc
	scripts/with-node npm ci --prefix conformance --no-audit --no-fund --ignore-scripts
