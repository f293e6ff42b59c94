# A thin front door: CMake and Ninja do the work. `make help` lists the doors.

BUILD ?= build
PREFIX ?= /usr/local
DIR ?= tests/golden/data
BUILD_PACKAGES = gcc g++ cmake ninja-build pkgconf libc6-dev libjpeg62-turbo-dev libspng-dev \
	libisal-dev zlib1g-dev librandom123-dev libjansson-dev libxxhash-dev libsqlite3-dev libzstd-dev \
	liblz4-dev libsnappy-dev libcmocka-dev libdnnl-dev libicu-dev \
	libpcre2-dev libwebp-dev libgloo-dev libkissfft-dev libopenblas-pthread-dev libgrpc++-dev libmicrohttpd-dev libssl-dev libcurl4-openssl-dev
MPI_PACKAGES = libopenmpi-dev openmpi-bin
TEST_PACKAGES = abigail-tools openssl nginx-light clang lld libclang-rt-dev clang-format clang-tidy cppcheck chromium chromium-driver
PYTHON_PACKAGES = python3 python3-dev python3-venv
WHEEL_PACKAGES = icu-devtools
DEB_PACKAGES = debhelper dh-python dpkg-dev fakeroot lintian python3-dev python3-numpy

.PHONY: all deps demo test check test-long test-interop test-formats test-frameworks test-engines bench bench-ops bench-peers performance golden fuzz soak chaos differ mutants install clean format lint asan check-arm64 tsan wheel test-wheel deb release stubs builders abi docs venv changelog help

all: $(BUILD)/build.ninja
	@ninja -C $(BUILD)

# Only where there is none yet: Ninja asks CMake again by itself when a list of files changes.
$(BUILD)/build.ninja:
	cmake -G Ninja -B $(BUILD) $(CMAKE_FLAGS)

deps: ## install what is missing to build and to test (Debian; asks sudo unless root), make .venv; MPI=1 adds Open MPI
	@sh tools/deps.sh $(BUILD_PACKAGES) $(TEST_PACKAGES) $(PYTHON_PACKAGES) $(if $(MPI),$(MPI_PACKAGES))
	@sh tools/venv.sh

demo: ## build, then train on the shipped digits; SEED=n DATA=folder
	@sh tools/deps.sh $(BUILD_PACKAGES)
	@$(MAKE) --no-print-directory all
	@$(BUILD)/bin/leat train $(if $(SEED),--seed $(SEED)) $(if $(DATA),$(DATA),data/digits)

test: ## everything that CI runs; about 25 minutes on two cores
	@python3 -B tools/test.py

check: all ## the quick tests, incremental, one compiler; about 2 minutes
	@ctest --test-dir $(BUILD) -j4 --output-on-failure -LE 'long|full'

test-long: all ## the sweeps; those of the Python package want .venv
	@sh tools/venv.sh || echo "test-long: without .venv what needs it is skipped or fails"
	@ctest --test-dir $(BUILD) -j2 --output-on-failure -L long --no-tests=ignore

test-interop: all ## leat's files beside the real Keras, TensorBoard, safetensors and ONNX Runtime, in .venv-interop, and TensorFlow (LEAT_DIFFER_PYTHON, or .venv-differ); a skip is a failure
	@sh tools/venv.sh interop
	@test -n "$$LEAT_DIFFER_PYTHON" || sh tools/venv.sh differ
	@PYTHONPATH=$(BUILD)/python PYTHONDONTWRITEBYTECODE=1 .venv-interop/bin/python -m pytest -q -p no:cacheprovider python/interop

test-formats: all ## files and objects of pyarrow, polars, DuckDB, datasets, MosaicML and WebDataset, in .venv-formats; a skip is a failure
	@sh tools/venv.sh formats
	@PYTHONPATH=$(BUILD)/python PYTHONDONTWRITEBYTECODE=1 .venv-formats/bin/python -m pytest -q -p no:cacheprovider python/formats

test-frameworks: all ## leat beside PyTorch, torchdata, Lightning, scikit-learn, Ray Train and Keras on PyTorch, in .venv-frameworks; a skip is a failure
	@sh tools/venv.sh frameworks
	@PYTHONPATH=$(BUILD)/python PYTHONDONTWRITEBYTECODE=1 .venv-frameworks/bin/python -m pytest -q -p no:cacheprovider python/frameworks python/tests/test_loaders.py

test-engines: all ## the data service on a local Ray cluster, and deploy/ against Kubernetes' schemas, in .venv-engines; a skip is a failure
	@sh tools/venv.sh engines
	@LEAT_BUILD=$(BUILD) PYTHONPATH=$(BUILD)/python PYTHONDONTWRITEBYTECODE=1 .venv-engines/bin/python -m pytest -q -p no:cacheprovider python/engines

bench: all ## JSON lines, each a ratio to a limit measured in the same run; CASE=name SECONDS=s
	@ninja -C $(BUILD) bench >&2
	@python3 -B bench/run.py --build $(BUILD) $(if $(SECONDS),--seconds $(SECONDS)) $(CASE)

bench-peers: all ## the same work by tf.data and others; CASE=name ROUNDS=n SECONDS=s
	@ninja -C $(BUILD) bench >&2
	@python3 -B bench/peers/main.py --build $(BUILD) $(if $(SECONDS),--seconds $(SECONDS)) $(if $(ROUNDS),--rounds $(ROUNDS)) $(CASE)

bench-ops: all ## every operation and a zoo of training steps beside TensorFlow; CASE=pattern PEER=python PAGE=1 AGAINST=lines (bench/README.md)
	@sh tools/venv.sh
	@.venv/bin/python -B bench/ops/main.py --build $(BUILD) $(if $(PEER),--peer $(PEER)) $(if $(PAGE),--page) $(if $(AGAINST),--against $(AGAINST)) $(if $(CASE),'$(CASE)')

performance: all ## measure operators and rewrites, write docs/PERFORMANCE.md
	@ninja -C $(BUILD) bench_leat_operators >&2
	@python3 -B bench/performance.py --build $(BUILD)

golden: all ## the recorded cases of a folder; DIR=folder ONLY=part DEVICE=xla_cpu (of nn)
	@$(BUILD)/tests/golden $(if $(ONLY),--only $(ONLY)) $(if $(DEVICE),--device $(DEVICE)) $(DIR)

fuzz: ## libFuzzer on each format from outside, one core; SECONDS=60 TARGET=name KEEP=1
	@python3 -B tools/fuzz.py --seconds $(or $(SECONDS),60) $(if $(KEEP),--keep) $(TARGET)

soak: all ## let leat work for hours and see that memory, descriptors, threads and files stay flat; HOURS=2 ONLY=kind
	@sh tools/venv.sh
	@exec python3 -B tools/soak/main.py --build $(BUILD) --hours $(or $(HOURS),2) $(ONLY)

chaos: all ## programs killed, stopped, starved and cut off at random; SECONDS=60 SEED=1 ONLY=scenario TRIAL=n
	@sh tools/venv.sh || echo "chaos: without .venv the programs in Python are left out"
	@exec python3 -B tools/chaos/main.py --build $(BUILD) --seconds $(or $(SECONDS),60) --seed $(or $(SEED),1) $(if $(TRIAL),--trial $(TRIAL)) --only "$(ONLY)"

differ: all ## random programs by leat and by TensorFlow side by side; SECONDS=60 SEED=1 ONLY=names TRIAL=n AGAIN=findings (LEAT_DIFFER_PYTHON, or .venv-differ)
	@sh tools/venv.sh
	@test -n "$$LEAT_DIFFER_PYTHON" || sh tools/venv.sh differ
	@exec python3 -B tools/differ/main.py --build $(BUILD) --seconds $(or $(SECONDS),60) --seed $(or $(SEED),1) $(if $(TRIAL),--trial $(TRIAL)) $(if $(AGAIN),--again $(AGAIN)) --only "$(ONLY)"

mutants: ## one-line changes of src/ that the tests should notice; N=50 SEED=1 ONLY=text
	@python3 -B tools/mutants.py --count $(or $(N),50) --seed $(or $(SEED),1) --only "$(ONLY)"

wheel: ## the Python package as wheels for other machines, and its sdist, in dist/, for Python 3.11 and newer; OUT=folder
	@sh tools/deps.sh $(BUILD_PACKAGES) $(PYTHON_PACKAGES) $(WHEEL_PACKAGES)
	@sh tools/venv.sh release
	@.venv-release/bin/python -B tools/wheel.py --out $(or $(OUT),dist)

test-wheel: ## what `make wheel` made, in bare environments: sizes, contents, the examples, the demo; OUT=folder PYTHONS="python3.12 ..."
	@LEAT_WHEELS=$(or $(OUT),dist) LEAT_PYTHONS="$(PYTHONS)" python3 -B tests/install/wheel.py

deb: ## Debian's packages libleat0.1, libleat-dev, leat and python3-leat in dist/; OUT=folder
	@sh tools/deps.sh $(BUILD_PACKAGES) $(DEB_PACKAGES)
	@python3 -B tools/release.py deb --out $(or $(OUT),dist)

release: ## a release of what is committed: changelog, sdist, wheels, packages, checksums; OUT=dist
	@sh tools/deps.sh $(BUILD_PACKAGES) $(PYTHON_PACKAGES) $(WHEEL_PACKAGES) $(DEB_PACKAGES)
	@sh tools/venv.sh release
	@python3 -B tools/release.py all --out $(or $(OUT),dist)

abi: all ## before a release: what the library's binary interface is from now on
	@python3 -B tools/abi.py --write $(BUILD)/libleat.so

builders: all ## the C builders of tensor operations from the tables; then build again
	@python3 -B tools/builders.py $(BUILD)/bin/leat

stubs: venv all ## write the Python package's stubs into the build folder, from the tables and the package
	@PYTHONPATH=$(BUILD)/python .venv/bin/python -B tools/make_stubs.py $(BUILD)/python

docs: all ## the site: guides, documents and the reference as HTML with a search, in build-docs/html (Sphinx)
	@sh tools/venv.sh docs
	@PYTHONPATH=$(BUILD)/python .venv/bin/python -B tools/website/main.py build-docs

changelog: ## what changed since the last release, put together from changes/
	@python3 -B tools/changelog.py

venv:
	@sh tools/venv.sh

install: all ## headers, libraries, tool; PREFIX=/usr/local DESTDIR=
	@cmake --install $(BUILD) --prefix $(PREFIX)
	@if [ -z "$(DESTDIR)" ] && [ "$$(id -u)" = 0 ]; then ldconfig; fi

clean: ## remove every build folder
	rm -rf $(BUILD) build-*

format: ## rewrite the sources in the house format
	@python3 -B tools/check_format.py --fix

lint: ## clang-tidy, and cppcheck where it is installed
	@sh tools/lint.sh build-clang

asan: ## the quick tests under the address and undefined-behaviour sanitizers
	@python3 -B tools/test.py asan

check-arm64: ## build for 64-bit ARM in build-arm64 and run its loops' tests under qemu (needs a cross compiler; slow)
	@sh tools/arm64.sh build-arm64

tsan: ## the tests that use threads under the thread sanitizer
	@python3 -B tools/test.py tsan

help: ## this list
	@echo "make              build everything"
	@sed -n 's/^\([a-z0-9-]*\):[^#]*## \(.*\)/\1:\2/p' Makefile | awk -F: '{printf "make %-12s %s\n", $$1, $$2}'
