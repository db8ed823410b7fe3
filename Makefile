# What a developer types. Text after two # signs is the help of a target.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

STEP := scripts/step.sh
# The tools are pinned in a module of their own; the build cache keeps them once compiled.
LINT := go tool -modfile=tools/go.mod golangci-lint
# Tests of the whole program stand below test/ and get the machine to themselves. They run the program as
# it is shipped; the race detector would only slow their thousands of clients down.
UNIT := go list ./... | sed -E '\,/anteroom/test(/|$$),d'
WHOLE := go list ./... | sed -nE '\,/anteroom/test(/|$$),p' | sed -E '\,/test/simulation$$,d'

.PHONY: help build check test lint fmt bench fuzz sim-report

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## the program, as bin/anteroom
	CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o bin/anteroom ./cmd/anteroom

check: ## before each commit: build, vet, lint, unit tests
	@$(STEP) build $(MAKE) --no-print-directory build
	@$(STEP) vet go vet ./...
	@$(MAKE) --no-print-directory lint
	@unit="$$($(UNIT))"; $(STEP) "unit tests" go test -short -shuffle=on -timeout 5m $$unit

test: ## everything: races, the whole program, a browser, the seeds of each fuzz target
	@$(STEP) needs scripts/needs.sh
	@$(STEP) vet go vet ./...
	@unit="$$($(UNIT))"; $(STEP) "unit tests" go test -race -shuffle=on -timeout 15m $$unit
	@whole="$$($(WHOLE))"; [ -z "$$whole" ] || $(STEP) "tests of the whole" go test -shuffle=on -timeout 15m $$whole
	@$(STEP) "simulated worlds" go test -timeout 15m ./test/simulation

lint: ## the linter; the first run compiles it, which takes some minutes
	@$(STEP) "linter" $(LINT) version
	@$(STEP) "linter configuration" $(LINT) config verify
	@$(STEP) lint $(LINT) run ./...

fmt: ## format the Go files
	$(LINT) fmt ./...

bench: ## Go benchmarks, and where the load programs are
	go test -run '^$$' -bench . -benchmem ./...
	@echo; echo "Load programs, each says at its top what it measures:"; ls bench/*.sh

# New inputs are random. They have a target of their own, so that a commit is judged by the same inputs
# each time; what they find becomes a seed.
fuzz: ## one minute of each fuzz target
	scripts/fuzz.sh 1m

SEEDS ?= 10000
sim-report: ## docs/simulation.md, from all simulated worlds and SEEDS random ones; SEEDS=50 is quick
	nice go run ./bench/simulation -seeds $(SEEDS)
