# SPDX-License-Identifier: GPL-2.0
# Every target is one verb of `bin/lab`, run in a Python environment that
# bin/lab keeps in the cache ($PGHOT_CACHE, default ~/.cache/pghot).

LAB := $(dir $(abspath $(lastword $(MAKEFILE_LIST))))bin/lab
# Any other value of DEBUG in the environment is somebody else's.
export PGHOT_DEBUG := $(filter 1,$(DEBUG))
export LINUX_TARBALL JOBS HOOK

# Given and empty, as by a shell variable that is not set.
NO_TESTS := $(if $(strip $(TESTS)),,$(filter command,$(origin TESTS)))

# What is given here and means nothing, as EXPERIMENTS=: else all there is would be run.
TAKEN := JOBS LINUX_TARBALL PGHOT_% DEBUG
TAKEN_test := TESTS
TAKEN_soak := MINUTES
TAKEN_sensitivity := EXPERIMENT CONTENDER QUICK FRESH DOCS
TAKEN_sources := $(TAKEN_sensitivity)
TAKEN_bench := $(TAKEN_sensitivity) MAIN LONG
TAKEN_measure := RUN
TAKEN_hook := HOOK
TAKEN_shell := MACHINE FLAVOUR CMDLINE RUN
GIVEN := $(foreach name,$(.VARIABLES),$(if $(filter command,$(origin $(name))),$(name)))
unknown = $(strip $(filter-out $(TAKEN) $(TAKEN_$@),$(GIVEN)))
refuse = $(if $(unknown),echo 'lab: $@ takes no $(unknown): see make help' >&2; exit 2;)
# What is meant otherwise, as "yes", is not to test the ordinary kernel for an hour.
ifeq ($(origin DEBUG),command line)
ifneq ($(filter-out 0 1,$(DEBUG)),)
refuse = echo 'lab: DEBUG=$(DEBUG) is neither 0 nor 1: say DEBUG=1 or leave it out' >&2; exit 2;
endif
endif
# The verb that is called as the target is.
run = $(refuse) $(LAB) $@

# The kernel's own make must not join this one's job server.
unexport MAKEFLAGS MFLAGS MAKELEVEL

.DEFAULT_GOAL := help
.PHONY: help demo test soak bench sensitivity sources measure compare-stock kernel stock hook series check \
	manpage shell clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 22
	@echo
	@echo "All of these take"
	@echo "  JOBS=N           parallel compilers (default: one per CPU)"
	@echo "  LINUX_TARBALL=F  take Linux from a local .tar.xz or .deb"
	@echo "  PGHOT_CACHE=D    where sources, builds and tools are kept"
	@echo "'demo', 'test', 'shell' and 'compare-stock'"
	@echo "  PGHOT_ACCEL=NAME what runs a guest's CPUs: auto, kvm, tcg or icount"
	@echo "'test'"
	@echo "  DEBUG=1          test with the debug kernel (KASAN, lockdep, kmemleak)"
	@echo "  TESTS=WORDS      options and files for pytest"
	@echo "'bench', 'sensitivity' and 'sources'"
	@echo "  EXPERIMENT=A,B   only these experiments"
	@echo "  CONTENDER=A,B    only these contenders"
	@echo "  QUICK=1          less work in each run"
	@echo "  FRESH=1          make all runs again"
	@echo "  DOCS=1           put tables and picture into the documents"
	@echo "'bench' alone"
	@echo "  MAIN=1           some experiments of each kind, pghot and the stock kernel"
	@echo "  LONG=1           experiments that have a long form, 10 or 20 times as long"
	@echo "'soak'"
	@echo "  MINUTES=N        for so long (default: 20)"
	@echo "'measure'"
	@echo "  RUN=WORDS        the workload and, after --, its options: RUN=\"random -- --mib 64\""
	@echo "'shell'"
	@echo "  MACHINE=NAME     which machine of lab/machines/machines.toml"
	@echo "  FLAVOUR=NAME     which kernel: pghot, stock, debug or demo"
	@echo "  CMDLINE=WORDS    kernel parameters"
	@echo "  RUN=COMMAND      run this in the guest instead of a shell; end with its exit status"
	@echo "'hook'"
	@echo "  HOOK=NNNN        which patch takes an edit"
	@echo
	@echo "'bin/lab VERB --help' lists what else the verb of a target takes."
	@echo "By hand: make -C harness unit (property, concurrent, fuzz, cost: harness/README.md)"
	@echo "and make -C lab/memsim check, the memory model's unit tests."

demo: ## show hot pages of an unmodified Redis being promoted
	@$(run)

test: ## run every test; the last line counts them
	@$(if $(NO_TESTS),echo 'lab: TESTS names nothing: name files or leave it out for all' >&2; exit 2)
	@$(run) $(TESTS)

soak: ## trouble memory with all sources that its CPUs have, in the debug kernel
	@$(run)

bench: ## run the benchmarks in guest time, beside the stock kernel
	@$(run)

sensitivity: ## measure how far results depend on the memory model
	@$(run)

sources: ## measure each source alone, and all of them together
	@$(run)

measure: ## run one workload in guest time
	@$(if $(RUN),,echo 'lab: name a workload: make measure RUN="random -- --mib 64"' >&2; exit 2)
	@$(run) $(RUN)

compare-stock: ## compare when pages are promoted with the stock kernel
	@$(run)

kernel: ## build Linux 7.3 with pghot
	@$(run)

stock: ## build the same configuration without pghot
	@$(run)

hook: ## write edits of the built tree back to linux/ and patches/
	@$(run)

series: ## write the patch series to build/series/
	@$(run)

check: ## check the style of Python and of kernel code
	@$(run)

manpage: ## write pghot's man page to build/pghot.8
	@$(run)

shell: ## open a shell on the modelled machine
	@$(run)

clean: ## remove build/ and the built kernels
	@$(run)

.DEFAULT:
	@echo "make: there is no target '$@': 'make help' lists them" >&2; exit 2
