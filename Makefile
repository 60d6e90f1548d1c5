# Postlag. `make check` and `make demo` are the two commands; both install what
# is missing, build, and say what happened.
#
#   make [all]        build the programs          V=asan, V=tsan: other variants,
#   make check        build and run all tests     side by side in build/$(V)
#   make check-long   the same tests, larger numbers
#   make fuzz         fuzz every parser, FUZZ_SECONDS each
#   make demo         one message, end to end, on a private Postfix and Dovecot
#   make install      DESTDIR= PREFIX=
#   make deps         what is missing, with apt and npm
#   make WEB=no       without the page, and so without node

V ?= release
# make's own default is cc, whatever that is.
ifeq ($(origin CC),default)
CC := gcc
endif
PREFIX ?= /usr/local
DESTDIR ?=
FUZZ_SECONDS ?= 120
VERSION := 0.1.0

BUILD := build/$(V)

CSTD := -std=c11 -D_GNU_SOURCE -I. -I$(BUILD)
WARN := -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes \
	-Wmissing-prototypes -Wold-style-definition -Wpointer-arith \
	-Wcast-qual -Wwrite-strings -Wformat=2 -Wundef -Wvla \
	-Wno-unused-parameter -Werror
OPT.release := -O2 -g -D_FORTIFY_SOURCE=2 -fstack-protector-strong -fPIE
OPT.asan := -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined \
	-fno-sanitize-recover=undefined
OPT.tsan := -O1 -g -fno-omit-frame-pointer -fsanitize=thread
OPT.fuzz := -O1 -g -fno-omit-frame-pointer -fno-sanitize-recover=undefined \
	-fsanitize=fuzzer-no-link,address,undefined
LINK.release := -pie -Wl,-z,relro,-z,now
LINK.asan := -fsanitize=address,undefined
LINK.tsan := -fsanitize=thread
LINK.fuzz := -fsanitize=fuzzer,address,undefined
ifeq ($(OPT.$(V)),)
$(error V=$(V) is not a variant: release, asan or tsan)
endif
CFLAGS := $(CSTD) $(WARN) $(OPT.$(V)) -pthread -MMD -MP \
	-DPOSTLAG_VERSION='"$(VERSION)"' $(EXTRA_CFLAGS)
LDFLAGS := $(LINK.$(V)) -pthread

# The systemd journal can be read when libsystemd is there; SYSTEMD=no leaves it
# out.
SYSTEMD ?= $(if $(shell pkg-config --libs libsystemd 2>/dev/null),yes,no)
ifeq ($(SYSTEMD),yes)
SYSTEMD_LIBS := $(shell pkg-config --libs libsystemd)
LEFT_OUT := exporter/read/log_journald_absent.c
else
LEFT_OUT := exporter/read/log_journald.c
endif

# The page is built by esbuild, with parts from npm. A program that lacks it
# shall not be built by accident: who has no node says WEB=no.
WEB ?= yes
ifeq ($(WEB),yes)
LEFT_OUT += exporter/web/assets_absent.c
MADE.exporter := $(BUILD)/exporter/web/assets.o
endif

# Layers, lowest first. A program links its own layer and those below.
LAYERS := base proto milter lmtp store exporter cli
MADE.proto := $(BUILD)/proto/event.pb-c.o
MADE.exporter += $(BUILD)/exporter/serve/metrics.pb-c.o
BELOW.proto := base
BELOW.store := proto base
BELOW.milter := proto base
BELOW.lmtp := proto base
BELOW.exporter := store proto base
BELOW.cli := store proto base

LIBS.base := -linih
LIBS.proto := -lprotobuf-c -lxxhash
LIBS.milter := -lmilter
LIBS.lmtp := -levent_core
LIBS.store := -lsqlite3 -ljansson -lsodium
LIBS.exporter := -lmicrohttpd -ljansson -lz $(SYSTEMD_LIBS)
LIBS.cli :=

PROGRAMS := postlag-milter postlag-lmtp postlag-exporter postlag
LAYER.postlag-milter := milter
LAYER.postlag-lmtp := lmtp
LAYER.postlag-exporter := exporter
LAYER.postlag := cli

# Each layer's main.c stays out of its archive.
SOURCES = $(filter-out $(1)/main.c $(LEFT_OUT),$(wildcard $(1)/*.c $(1)/*/*.c))
OBJECTS = $(patsubst %.c,$(BUILD)/%.o,$(call SOURCES,$(1)))
ARCHIVE = $(BUILD)/lib$(1).a
CHAIN = $(foreach l,$(1) $(BELOW.$(1)),$(call ARCHIVE,$(l)))
CHAIN_LIBS = $(foreach l,$(1) $(BELOW.$(1)),$(LIBS.$(l)))

BINARIES := $(addprefix $(BUILD)/,$(foreach p,$(PROGRAMS),\
	$(if $(wildcard $(LAYER.$(p))/main.c),$(p))))

.PHONY: all
all: $(BINARIES)

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -c -o $@ $<

# The generated code is not ours to warn about.
$(BUILD)/%.pb-c.c: %.proto
	@mkdir -p $(@D)
	protoc-c --c_out=$(BUILD) -I. $<
$(BUILD)/%.pb-c.h: $(BUILD)/%.pb-c.c ;
$(BUILD)/%.pb-c.o: $(BUILD)/%.pb-c.c
	$(CC) $(CSTD) $(OPT.$(V)) -w -c -o $@ $<
$(BUILD)/proto/event_codec.o: $(BUILD)/proto/event.pb-c.h
$(BUILD)/exporter/serve/exposition_protobuf.o: $(BUILD)/exporter/serve/metrics.pb-c.h

# What npm brings is the same for all variants, and stays out of the sources.
define NPM_RULE
$(1)/.made: $(2)/package-lock.json
	@command -v npm >/dev/null || { echo "the page and its tests need node" \
	    "and npm: make deps installs them, make WEB=no does without the page" \
	    >&2; exit 1; }
	@mkdir -p $(1)
	@cp $(2)/package.json $(2)/package-lock.json $(1)/..
	@cd $(1)/.. && npm ci --ignore-scripts --no-audit --no-fund \
	    --prefer-offline --loglevel=error >npm.log 2>&1 \
	    || { cat npm.log >&2; exit 1; }
	@touch $$@
endef
PAGE_MODULES := build/web/node_modules
TEST_MODULES := build/tests/node_modules
$(eval $(call NPM_RULE,$(PAGE_MODULES),exporter/web))
$(eval $(call NPM_RULE,$(TEST_MODULES),tests))

.PHONY: node-modules
node-modules: $(if $(filter yes,$(WEB)),$(PAGE_MODULES)/.made $(TEST_MODULES)/.made)

build/web/assets.c: $(wildcard exporter/web/*.mjs exporter/web/*.html \
    exporter/web/src/*) $(PAGE_MODULES)/.made
	node exporter/web/build.mjs $(PAGE_MODULES) $@
$(BUILD)/exporter/web/assets.o: build/web/assets.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -c -o $@ $<

define LAYER_RULE
$(call ARCHIVE,$(1)): $(call OBJECTS,$(1)) $(MADE.$(1))
	@mkdir -p $$(@D)
	@rm -f $$@
	ar rcs $$@ $$^
endef
$(foreach l,$(LAYERS),$(eval $(call LAYER_RULE,$(l))))

define PROGRAM_RULE
$(BUILD)/$(1): $(BUILD)/$(LAYER.$(1))/main.o $(call CHAIN,$(LAYER.$(1)))
	$(CC) $(LDFLAGS) -o $$@ $$^ $(call CHAIN_LIBS,$(LAYER.$(1)))
endef
$(foreach p,$(PROGRAMS),$(eval $(call PROGRAM_RULE,$(p))))

# Unit tests: tests/<layer>/test_<stem>.c, one program each, cmocka.
UNIT_SOURCES := $(foreach l,$(LAYERS),$(wildcard tests/$(l)/test_*.c))
UNIT_PROGRAMS := $(patsubst %.c,$(BUILD)/%,$(UNIT_SOURCES))
UNIT_HELPERS := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/lib/*.c))
define UNIT_RULE
$(BUILD)/tests/$(1)/test_%: $(BUILD)/tests/$(1)/test_%.o $(UNIT_HELPERS) $(call CHAIN,$(1))
	$(CC) $(LDFLAGS) -o $$@ $$^ -lcmocka $(call CHAIN_LIBS,$(1))
endef
$(foreach l,$(LAYERS),$(eval $(call UNIT_RULE,$(l))))

# Fuzz targets: tests/fuzz/<layer>/fuzz_<stem>.c with LLVMFuzzerTestOneInput(),
# corpus in tests/fuzz/corpus/<stem>/. Built without a fuzzer they replay the
# files named on their command line.
FUZZ_SOURCES := $(wildcard tests/fuzz/*/fuzz_*.c)
FUZZ_PROGRAMS := $(patsubst %.c,$(BUILD)/%,$(FUZZ_SOURCES))
FUZZ_MAIN := $(if $(filter-out fuzz,$(V)),$(BUILD)/tests/fuzz/replay.o)
define FUZZ_RULE
$(BUILD)/tests/fuzz/$(1)/fuzz_%: $(BUILD)/tests/fuzz/$(1)/fuzz_%.o $(FUZZ_MAIN) $(call CHAIN,$(1))
	$(CC) $(LDFLAGS) -o $$@ $$^ $(call CHAIN_LIBS,$(1))
endef
$(foreach l,$(LAYERS),$(eval $(call FUZZ_RULE,$(l))))

# C programs that Python tests run: tests/<layer>/tool_<stem>.c.
TOOL_SOURCES := $(foreach l,$(LAYERS),$(wildcard tests/$(l)/tool_*.c))
TOOL_PROGRAMS := $(patsubst %.c,$(BUILD)/%,$(TOOL_SOURCES))
define TOOL_RULE
$(BUILD)/tests/$(1)/tool_%: $(BUILD)/tests/$(1)/tool_%.o $(call CHAIN,$(1))
	$(CC) $(LDFLAGS) -o $$@ $$^ $(call CHAIN_LIBS,$(1))
endef
$(foreach l,$(LAYERS),$(eval $(call TOOL_RULE,$(l))))

# Benchmarks and other C programs that tests run: one file, one program.
BENCH_PROGRAMS := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/bench/*.c))
BENCH_LIBS.nothing_milter := -lmilter
BENCH_LIBS.pump_proxy := -levent_core
BENCH_LIBS.bench_store := $(call CHAIN_LIBS,store)
BENCH_LIBS.bench_purge := $(call CHAIN_LIBS,store)
BENCH_LIBS.bench_journal := $(call CHAIN_LIBS,proto)
BENCH_LIBS.make_days := $(call CHAIN_LIBS,proto)
BENCH_LIBS.sync_disk := $(call CHAIN_LIBS,base)
BENCH_LIBS.bench_maillog := $(call CHAIN_LIBS,exporter)
$(BUILD)/tests/bench/bench_store: $(call CHAIN,store)
$(BUILD)/tests/bench/bench_purge: $(call CHAIN,store)
$(BUILD)/tests/bench/bench_journal: $(call CHAIN,proto)
$(BUILD)/tests/bench/make_days: $(call CHAIN,proto)
$(BUILD)/tests/bench/sync_disk: $(call CHAIN,base)
$(BUILD)/tests/bench/bench_maillog: $(call CHAIN,exporter)
$(BUILD)/tests/bench/%: $(BUILD)/tests/bench/%.o
	$(CC) $(LDFLAGS) -o $@ $^ $(BENCH_LIBS.$*)

.PHONY: bench-programs
bench-programs: all $(BENCH_PROGRAMS)

.PHONY: tests
tests: all $(UNIT_PROGRAMS) $(FUZZ_PROGRAMS) $(TOOL_PROGRAMS)

.PHONY: deps
deps:
	@sh tests/deps
	@$(MAKE) --no-print-directory node-modules

.PHONY: check check-long
check check-long: deps
	@mkdir -p build
	@$(MAKE) --no-print-directory -j$$(nproc) tests >$(BUILD).log 2>&1 \
	    || { cat $(BUILD).log; exit 1; }
	@python3 tests/run.py --variant $(V) $(if $(filter check-long,$@),--long) \
	    $(TESTS)

.PHONY: demo
demo: deps
	@$(MAKE) --no-print-directory -j$$(nproc) all
	@python3 tests/e2e/demo.py

# V=fuzz: the same targets with the fuzzer itself, for tests/fuzz/run.
.PHONY: fuzz-targets
fuzz-targets: $(FUZZ_PROGRAMS)

.PHONY: fuzz
fuzz: deps
	@sh tests/fuzz/run $(FUZZ_SECONDS) $(TARGETS)

.PHONY: format
format:
	clang-format -i $$(git ls-files '*.c' '*.h')

.PHONY: install
install: all
	sh packaging/install $(CURDIR)/$(BUILD) "$(DESTDIR)" "$(PREFIX)"

.PHONY: clean
clean:
	rm -rf build

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
.SECONDARY:
