# A thin door to CMake and the scripts: `make help` lists what it opens.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

JOBS ?= $(shell nproc)
INGOT := build/bin/ingot
PREFIX ?= /usr/local
DESTDIR ?=

.PHONY: help packages build gpu library install demo measure test check debug-os format clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

packages: ## install the Debian packages that are missing
	@scripts/packages build

# Ninja runs CMake again by itself when a CMakeLists.txt changes; only the presets are beyond its sight.
build/build.ninja: CMakePresets.json | packages
	@cmake --preset release
	@touch $@

build: packages build/build.ninja ## the program, as build/bin/ingot, and what it casts: the kernel, the engine for x86_64
	@cmake --build --preset release --target products --parallel $(JOBS)

# Configured again each time: a compiler that was fetched just now is found by that alone. CHIPS=90a for one chip's code alone.
gpu: packages ## the program for NVIDIA's GPUs, as build/bin/ingot-gpu; fetches nvcc where there is none (NVIDIA's licence applies)
	@scripts/fetch_cuda
	@cmake --preset release $(if $(CHIPS),-DINGOT_CHIPS="$(CHIPS)")
	@cmake --build --preset release --target gpu_products --parallel $(JOBS)

library: packages build/build.ninja ## what other programs link: build/lib/libingot.so for C, archives for C++
	@cmake --build --preset release --target library --parallel $(JOBS)

# What is built already, ingot-gpu among it, is taken along.
install: build library ## the program, libraries, headers, manual and completions, below PREFIX=/usr/local; DESTDIR= for packers
	@scripts/install "$(PREFIX)" "$(DESTDIR)"

demo: build ## the built-in model boots on Ingot's own kernel, tells a tale and answers HTTP; Linux does too, and a table compares
	@scripts/demo

measure: build ## prove every compute kernel on this machine, and measure it
	@$(INGOT) verify
	@$(INGOT) bench --quick

test: packages build/build.ninja ## everything a user should see pass: unit, parity, end to end, boot, floors
	@cmake --build --preset release --parallel $(JOBS)
	@scripts/run_tests release --parallel $(JOBS)

check: packages ## what a developer adds: sanitizers, format, headers, tidy, fuzzing, the other architecture
	@scripts/packages check
	@scripts/check

# IMAGE=boot_threads for a boot test; OPTIONS="--processors 4 --machine q35" for another machine.
debug-os: packages ## the OS in QEMU, stopped before its first instruction, and GDB with commands that know it
	@scripts/packages check
	@scripts/debug_os $(IMAGE) $(OPTIONS)

format: ## lay out every source as .clang-format says
	@scripts/check --fix-format

clean: ## remove everything that was built
	@rm -rf build
