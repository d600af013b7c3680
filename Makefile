# One line a target. `make help` prints the groups and the lines from here.
PREFIX ?= /usr/local

## What most people need
build: ; @scripts/build.sh ## build ./redlockrun, one static file
demo: build ; @scripts/demo.sh ## show what it does, on a throw-away Redis
recording: build ; @scripts/recording.sh ## record real runs on a throw-away Redis as docs/demo.svg
man: ; @scripts/man.sh ## write the manual pages, dist/redlockrun*.1
install: ; @scripts/install.sh "$(DESTDIR)$(PREFIX)" ## put both under PREFIX, which is /usr/local if not said
image: ; @scripts/image.sh ## build the container image, for amd64 and arm64, into dist/; no daemon, no registry
messages: ; @scripts/messages.sh ## list all messages, and the scripts that show them, in dist/messages.txt
help: ; @scripts/help.sh ## print this list

## Before a change lands
quick: ; @scripts/quick.sh ## lint without the network, and all tests but the slow ones: under a minute
test: ; @scripts/test.sh ## run all tests with -race; installs what they need, by apt-get
lint: ; @scripts/lint.sh ## say all that can be said without running it: gofmt, vet, staticcheck, imports, platforms
e2e: build man ; @scripts/e2e.sh ## run a real cron, systemd's check of the units, the demo, a kernel for arm64
compat: ; @scripts/compat.sh ## run the tests against Redis 6.0, 7.0 and 8.0 and Valkey 8.1

## What a release consists of
dist: ; @scripts/dist.sh ## make archives, packages and their sums of this commit, in dist/

## At length
bench: build ; @scripts/bench.sh ## measure a run, a hand-over and memory, and hold them to their bars
scale: build ; @scripts/scale.sh ## measure what thousands of holders and waiters cost a server, and draw it
nemesis: ; @scripts/nemesis.sh ## inject faults around real runs, for NEMESIS=60s on each kind of store
killed-runs: ; @scripts/killed-runs.sh 10000 ## kill one process of each of ten thousand runs; nothing may be left
lost-updates: ; @scripts/lost-updates.sh write ## count acknowledged updates that are lost, under redlockrun and its peers
simulate: ; @scripts/simulate.sh for 60s ## simulate clients, servers and their faults in virtual time, for a minute
track-record: ; @scripts/track-record.sh ## show three of the faults that were found, each on the commit before it was mended
mutants: ; @scripts/mutants.sh ## put in a hundred known faults, one at a time: each must be found by its test
model: ; @scripts/model.sh ## search the models of line and quorum exhaustively; up to 8 GB
fuzz: ; @scripts/fuzz.sh ## fuzz each parser in turn, for FUZZTIME=30s each

.PHONY: build demo recording man install image messages help quick test lint e2e compat dist bench scale nemesis killed-runs lost-updates simulate track-record mutants model fuzz
