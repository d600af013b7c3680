PREFIX ?= /usr/local

build: ; @scripts/build.sh
demo: build ; @scripts/demo.sh
test: ; @scripts/test.sh
compat: ; @scripts/compat.sh
lint: ; @scripts/lint.sh
bench: build ; @scripts/bench.sh
e2e: build ; @scripts/e2e.sh
soak: ; @scripts/soak.sh
fuzz: ; @scripts/fuzz.sh
model: ; @scripts/model.sh
storm: ; @scripts/storm.sh
install: build ; @scripts/install.sh "$(DESTDIR)$(PREFIX)"

.PHONY: build demo test compat lint bench e2e soak fuzz model storm install
