# SPDX-License-Identifier: Apache-2.0
# The face of the build; Meson does the work. `make help` lists the targets.
#
#     make demo        installs what is missing, builds, and examines a real network
#     make test        installs what is missing, builds, and runs every test
#
# A target builds what it needs and no more, all in one folder: what one has built, the next has.
#
# Variables: BUILD (folder), PREFIX, DESTDIR, MESON_FLAGS, WERROR=1 (warnings are errors), JOBS.

BUILD ?= build
ASAN_BUILD ?= build-asan
TSAN_BUILD ?= build-tsan
PREFIX ?= /usr/local
JOBS ?=
MESON_FLAGS ?=
WERROR ?=

meson_flags = --prefix $(PREFIX) $(if $(WERROR),--werror) $(MESON_FLAGS)
sanitize_flags = $(filter-out --werror,$(meson_flags)) # under sanitizers, compilers may warn of more
ninja_flags = $(if $(JOBS),-j$(JOBS))
test_flags = --print-errorlogs --timeout-multiplier 4 $(if $(JOBS),--num-processes $(JOBS))
sources = git ls-files '*.c' '*.h' ':!tests/*/golden*' ':!tests/*/*_golden.h' # written by scripts

.PHONY: all help setup configured with-tests build demo quick test test-long bench install dist deb wheel format lint asan tsan clean

all: build

help:
	@sed -n 's/^\([a-z]*\):.*## /  make \1\t/p' Makefile | expand -t 18

setup: ## install the Debian packages that are missing
	@scripts/setup build test demo

configured:
	@scripts/setup build
	@test -f $(BUILD)/build.ninja || meson setup $(BUILD) $(meson_flags)
	@test -z "$(WERROR)" || meson configure $(BUILD) -Dwerror=true

# A folder that was configured without cmocka is configured again; what it has built stays.
with-tests: configured
	@scripts/setup test
	@test -f $(BUILD)/.with-tests || meson setup --reconfigure $(BUILD) -Dtests=enabled
	@touch $(BUILD)/.with-tests

build: configured ## build/plexor, libplexor, manual pages, completion
	@ninja $(ninja_flags) -C $(BUILD) product

demo: configured ## examine a network trained on the spot: build/demo/report.html
	@scripts/setup demo
	@ninja $(ninja_flags) -C $(BUILD) plexor
	@scripts/demo $(BUILD)

quick: with-tests ## unit tests, less than a minute once they are built
	@meson test -C $(BUILD) $(test_flags) --setup quick; status=$$?; \
	    scripts/count-tests $(BUILD) quick && exit $$status

test: with-tests ## build everything and run every test
	@scripts/setup page
	@ninja $(ninja_flags) -C $(BUILD)
	@meson test -C $(BUILD) $(test_flags) --no-suite long; status=$$?; \
	    scripts/count-tests $(BUILD) && exit $$status

# Every call and allocation of every command that writes fails in turn; fuzz targets run for minutes
# instead of seconds; and everything runs under sanitizers.
test-long: with-tests ## what takes hours: kills and refused calls, long fuzzing, sanitizers
	@meson test -C $(BUILD) $(test_flags) --suite long
	@FUZZ_SECONDS=300 meson test -C $(BUILD) $(test_flags) --suite fuzz --timeout-multiplier 0
	@$(MAKE) --no-print-directory asan

bench: build ## throughput of the engine and of training, beside peers where they are installed
	@scripts/setup bench page
	@meson test -C $(BUILD) --benchmark --verbose

install: build ## into PREFIX (/usr/local), below DESTDIR if set
	@meson install -C $(BUILD) --no-rebuild

dist: configured ## a tarball of what git has, in BUILD/meson-dist; `meson dist` also builds and tests it
	@meson dist -C $(BUILD) --no-tests

deb: ## Debian packages in BUILD/deb, checked with lintian
	@scripts/setup build deb
	@scripts/make-deb $(BUILD)

wheel: build ## the Python module with its libraries: BUILD/wheel/*.whl, for pip install
	@scripts/setup wheel
	@scripts/make_wheel.py $(BUILD)

format: ## clang-format every C file
	@$(sources) | xargs clang-format -i

lint: ## layout, licence, shell scripts, static analysis; whatever of it is installed
	@$(sources) | xargs clang-format --dry-run -Werror
	@python3 tests/base/include_order.py --quiet
	@scripts/spdx --check
	@if command -v shellcheck >/dev/null; then shellcheck .ci/run scripts/setup scripts/demo scripts/make-deb debian/tests/program debian/tests/library; \
	    else echo 'lint: shellcheck is not installed, skipped'; fi
	@if command -v cppcheck >/dev/null; then \
	    cppcheck -j$$(nproc) --quiet --std=c11 --inline-suppr --error-exitcode=1 \
	        --suppressions-list=scripts/cppcheck.txt -I include -I src src; \
	    else echo 'lint: cppcheck is not installed, skipped'; fi

asan: ## every test under AddressSanitizer and UndefinedBehaviorSanitizer
	@scripts/setup build test
	@test -f $(ASAN_BUILD)/build.ninja || meson setup $(ASAN_BUILD) $(sanitize_flags) \
	    -Db_sanitize=address,undefined -Db_lundef=false --buildtype debugoptimized
	@ninja $(ninja_flags) -C $(ASAN_BUILD)
	@UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
	    meson test -C $(ASAN_BUILD) $(test_flags) --timeout-multiplier 10; status=$$?; \
	    scripts/count-tests $(ASAN_BUILD) && exit $$status

# A resolver of function clones would run before ThreadSanitizer is there, so there are none. oneDNN
# and libgomp are not instrumented; plexor runs both on one thread per worker.
tsan: ## what runs on several threads under ThreadSanitizer
	@scripts/setup build test
	@test -f $(TSAN_BUILD)/build.ninja || meson setup $(TSAN_BUILD) $(sanitize_flags) \
	    -Db_sanitize=thread -Db_lundef=false --buildtype debugoptimized \
	    '-Dc_args=-Dtarget_clones(...)=unused'
	@ninja $(ninja_flags) -C $(TSAN_BUILD)
	@meson test -C $(TSAN_BUILD) $(test_flags) --timeout-multiplier 10 worker_pool pass team probe_run feeder

clean: ## remove what was built
	@rm -rf $(BUILD) $(ASAN_BUILD) $(TSAN_BUILD)
