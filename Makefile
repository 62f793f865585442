# All commands of the project, for people and CI.

SWIFT ?= swift
TESTS := unit fuzz-check contract smoke pages-test examples docs namespace-test
PORT ?= 8080
PREFIX ?= /usr/local
# Images for the smoke test and the benchmark: any folder of JPEG, PNG, WebP and GIF files.
PHOTOS ?= /usr/share/backgrounds/mate
DOCKER ?= docker
VENV := .build/venv
# The second file names packages to install without what they need.
REQUIREMENTS := Tests/Python/requirements.txt Tests/Python/requirements-files.txt
# The suites in Python; each is a module of the package.
SUITES := PYTHONPATH=$(CURDIR)/Tests/Python
# The references of hashes need an older Pillow.
VENV_EXAMPLES := .build/venv-examples
VENV_BENCH := .build/venv-bench
VENV_DEPLOY := .build/venv-deploy
VENV_FLEET := .build/venv-fleet
VENV_STORE := .build/venv-store
BENCH_TOOLS := $(VENV_BENCH)/installed
RELEASE := .build/release/alula

.DEFAULT_GOAL := help
# Every target with a description.
.PHONY: $(shell sed -n 's/^\([a-z-]*\):.*\#\# .*/\1/p' $(firstword $(MAKEFILE_LIST)))

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

deps: ## Install the Debian packages to build and run
	@scripts/install-packages libvips-dev libaom-dev libbrotli-dev libdav1d-dev libde265-dev libdeflate-dev libseccomp-dev libjpeg62-turbo-dev libjxl-dev librsvg2-dev libpango1.0-dev libwebp-dev zlib1g-dev \
		libcurl4-openssl-dev libhiredis-dev libmicrohttpd-dev libc-ares-dev libssl-dev libsqlite3-dev libidn2-dev \
		libjemalloc-dev pkg-config ca-certificates mkdocs opencv-data

deps-test: deps ## Install what the tests need
	@scripts/install-packages python3 python3-venv mate-backgrounds curl
	@cat $(REQUIREMENTS) | cmp -s - $(VENV)/installed || (python3 -m venv $(VENV) && \
		$(VENV)/bin/pip install --quiet --requirement $(word 1,$(REQUIREMENTS)) && \
		$(VENV)/bin/pip install --quiet --no-deps --requirement $(word 2,$(REQUIREMENTS)) && cat $(REQUIREMENTS) >$(VENV)/installed)

build: deps ## Build a release
	$(SWIFT) build -c release --product alula

install: ## Install the built program as $(PREFIX)/bin/alula; PREFIX=/usr/local DESTDIR=
	@test -x $(RELEASE) || { echo "Nothing is built yet: run make build first." >&2; exit 1; }
	install -D -m 755 $(RELEASE) $(DESTDIR)$(PREFIX)/bin/alula

deb: deps ## Build a Debian package in .build/deb
	@scripts/install-packages dpkg-dev
	$(SWIFT) build -c release --product alula --static-swift-stdlib
	scripts/build-deb $(RELEASE) .build/deb

deb-test: deb ## Install the Debian package in a new root, use and remove it; minutes, as root
	@scripts/install-packages mmdebstrap curl groff-base
	scripts/deb-test .build/deb/*.deb

image: ## Build the container image "alula"; DOCKER=podman
	$(DOCKER) build --build-arg REVISION=$$(git rev-parse --short=12 HEAD) --tag alula .

run: build ## Build, start, and print a URL to try; works offline
	@$(RELEASE) serve --demo --port $(PORT) --log-format text

test: ## Run all tests and list those that failed; TESTS="unit smoke"
	@rm -f .build/unit-report; failed=; for suite in $(TESTS); do $(MAKE) --no-print-directory $$suite || failed="$$failed $$suite"; done; \
		cat .build/unit-report 2>/dev/null; [ -z "$$failed" ] || { echo "These failed:$$failed" >&2; exit 1; }

unit: deps ## Run module tests, and the service over real sockets; TEST_TARGETS=ImagingTests,alulaTests builds only these
	$(SWIFT) build --build-tests
	@scripts/unit

contract: deps-test ## Test the service against openapi.yaml and other services' clients
	$(SWIFT) build --product alula
	$(SWIFT) build --product fake-origin
	$(SUITES) $(VENV)/bin/python -m alula_tests.contract --alula .build/debug/alula --origin .build/debug/fake-origin

metadata-test: deps-test ## Look with exiftool, if it is installed, for metadata in answers
	$(SWIFT) build --product alula
	$(SUITES) $(VENV)/bin/python -m alula_tests.metadata --alula .build/debug/alula

smoke: deps-test ## Serve every image of PHOTOS in every fit and format; SMOKE="--all --sheet sheet.png"
	$(SWIFT) build --product alula
	$(SUITES) $(VENV)/bin/python -m alula_tests.smoke --alula .build/debug/alula --photos $(PHOTOS) $(SMOKE)

examples: deps-test ## Run the programs of examples/, and compare hashes with reference programs
	@command -v node > /dev/null || scripts/install-packages nodejs
	@scripts/install-packages golang-go php-cli ruby
	@scripts/install-packages mono-mcs mono-runtime libmono-system-net-http4.0-cil libmono-system-runtime-serialization4.0-cil
	$(SWIFT) build --product alula
	@mkdir -p .build/examples
	scripts/check-apple
	$(SWIFT) build --package-path examples/AlulaClientExample --scratch-path .build/client-example
	mcs -langversion:7 -warnaserror -r:System.Net.Http -r:System.Runtime.Serialization -out:.build/examples/Upload.exe examples/Upload.cs
	@test -e $(VENV_EXAMPLES)/installed || (python3 -m venv $(VENV_EXAMPLES) && \
		$(VENV_EXAMPLES)/bin/pip install --quiet --requirement Tests/Python/requirements-examples.txt && touch $(VENV_EXAMPLES)/installed)
	$(SUITES) $(VENV_EXAMPLES)/bin/python -m alula_tests.examples --alula .build/debug/alula --swift .build/client-example/debug/AlulaClientExample \
		--mono .build/examples/Upload.exe

pages-test: deps-test ## Test the pages in a headless Chromium; PAGES="--only signed --pictures folder"
	@scripts/install-packages chromium chromium-driver fonts-dejavu-core
	$(SWIFT) build --product alula
	$(SUITES) $(VENV)/bin/python -m alula_tests.pages --alula .build/debug/alula $(PAGES)

namespace-test: deps-test ## Test which addresses are dialed, in network namespaces if available; CASES=file
	@scripts/install-packages iproute2 util-linux
	$(SWIFT) build --product alula
	@$(SUITES) python3 -m alula_tests.namespaces --alula .build/debug/alula $(if $(CASES),--cases $(CASES))

load-test: build deps-test ## Test overload, shutdown under load, and many connections; LOAD="--seconds 20 --times 5"
	$(SUITES) python3 -m alula_tests.load --alula $(RELEASE) $(LOAD)

soak-test: build deps-test ## Test ten minutes of mixed use for leaks; SOAK="--seconds 600 --rate 20"
	$(SUITES) python3 -m alula_tests.soak --alula $(RELEASE) $(SOAK)

plan-test: build deps-test ## Compare what alula plan foresees with a real service; PHOTOS=folder PLAN="--misses 1000"
	$(SUITES) python3 -m alula_tests.plan --alula $(RELEASE) --photos $(PHOTOS) $(PLAN)

shared-cache-test: deps-test ## Test the shared cache with a real Redis; SHARED_CACHE="--only hits_and_purges"
	@scripts/install-packages redis-server redis-tools openssl
	$(SWIFT) build --product alula
	$(SUITES) python3 -m alula_tests.shared_cache --alula .build/debug/alula $(SHARED_CACHE)

store-test: deps-test $(VENV_STORE)/installed ## Test the result store in a folder and in buckets; STORE="--only a_bucket"
	$(SWIFT) build --product alula
	$(SUITES) $(VENV_STORE)/bin/python -m alula_tests.store --alula .build/debug/alula $(STORE)

crash-test: deps-test ## Kill instances over one result store under load; CRASH="--kills 20 --seed 1"
	$(SWIFT) build --product alula
	$(SUITES) python3 -m alula_tests.crash --alula .build/debug/alula $(CRASH)

mutation-test: deps-test ## Send 20,000 damaged images through the service; CORPUS=folder MUTATION="--count 1000 --seed 1"
	$(SWIFT) build -c release --product alula
	$(SWIFT) build -c release --product fake-origin
	$(SUITES) python3 -m alula_tests.mutation --alula $(RELEASE) --origin .build/release/fake-origin --corpus "$(CORPUS)" $(MUTATION)

sandbox-test: deps-test ## Kill, stop or crash a worker process each second under load; SANDBOX="--seconds 30 --seed 1"
	$(SWIFT) build --product alula
	$(SUITES) python3 -m alula_tests.sandbox --alula .build/debug/alula --photos $(PHOTOS) $(SANDBOX)

deploy-test: deps-test $(VENV_DEPLOY)/installed ## Check the files of deploy/, and test instances behind HAProxy, nginx and Varnish; DEPLOY="--only files"
	@scripts/install-packages haproxy nginx-light prometheus redis-server systemd strace varnish varnish-modules
	$(SWIFT) build --product alula
	$(SUITES) $(VENV_DEPLOY)/bin/python -m alula_tests.deploy --alula .build/debug/alula $(DEPLOY)

manifests: $(VENV_DEPLOY)/installed ## Render deploy/kubernetes.yaml from the Helm chart, and dashboard and alerts from deploy/monitoring.yaml
	$(SUITES) $(VENV_DEPLOY)/bin/python -m alula_tests.deploy.board
	$(SUITES) $(VENV_DEPLOY)/bin/python -m alula_tests.deploy.chart >.build/kubernetes.yaml
	mv .build/kubernetes.yaml deploy/kubernetes.yaml

arm-test: ## Compare the ARM64 kernels, under an emulator, with x86-64; minutes, KERNELS=1000 for fewer cases
	@scripts/install-packages gcc libc6-dev gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static
	scripts/arm-test $(KERNELS)

image-test: $(VENV_DEPLOY)/installed ## Build and run the container image without a daemon or registry; minutes, as root
	@scripts/install-packages buildah mmdebstrap curl
	scripts/image-test

trixie-test: ## Build in a Debian 13 root, and run unit, smoke and contract tests there; as root; TRIXIE="make unit"
	@scripts/install-packages mmdebstrap
	scripts/trixie-test .build/trixie $(or $(TRIXIE),make test TESTS="unit smoke contract")

release: deb-test image-test ## Build and check a release in .build/release-VERSION: source, package, container, chart, SBOM, notes, checksums; as root
	scripts/release

fleet-test: $(VENV_FLEET)/installed ## Test four instances behind HAProxy, with and without a shared cache; FLEET_TEST="--quick" or "--only work"
	@scripts/install-packages haproxy redis-server wrk
	$(SWIFT) build --product alula
	$(SUITES) $(VENV_FLEET)/bin/python -m alula_tests.fleet --alula .build/debug/alula $(FLEET_TEST)

$(VENV_DEPLOY)/installed: Tests/Python/requirements-deploy.txt
	@python3 -m venv $(VENV_DEPLOY) && $(VENV_DEPLOY)/bin/pip install --quiet --requirement $< && touch $@

$(VENV_STORE)/installed: Tests/Python/requirements-store.txt
	@scripts/install-packages python3 python3-venv
	@python3 -m venv $(VENV_STORE) && $(VENV_STORE)/bin/pip install --quiet --requirement $< && touch $@

docs: deps-test ## Build the documentation as a static site in .build/site, with images that the service makes
	@scripts/install-packages chromium chromium-driver fonts-dejavu-core
	$(SWIFT) build --product alula
	$(VENV)/bin/python scripts/build-docs .build/debug/alula
	$(SWIFT) build --target AlulaClient
	@rm -rf .build/symbols && mkdir .build/symbols
	$(SWIFT) symbolgraph-extract -module-name AlulaClient -I .build/debug/Modules -target "$$(uname -m)-unknown-linux-gnu" -output-dir .build/symbols
	docc convert Sources/AlulaClient/AlulaClient.docc --warnings-as-errors --additional-symbol-graph-dir .build/symbols \
		--transform-for-static-hosting --hosting-base-path client --output-path .build/site/client

lint: ## Check formatting, file sizes, documented parameters, polling tests, words, links, threads, folder order, sizes, labels, text keys and imports
	@scripts/install-packages clang-format
	@scripts/lint-text-keys
	@scripts/lint-threads
	@scripts/lint-words
	@scripts/lint-files
	@scripts/lint-links
	@scripts/house-figures --order
	@scripts/lint-formats
	@scripts/lint-services
	@scripts/lint-lines
	@scripts/lint-labels
	@scripts/lint-parameters
	@scripts/lint-polling
	@scripts/lint-c
	@SWIFT=$(SWIFT) scripts/lint-imports
	$(SWIFT) format lint --strict --recursive Package.swift Sources Tests Benchmarks Fuzz

format: ## Format the sources
	@scripts/install-packages clang-format
	@scripts/lint-c --mend
	$(SWIFT) format --in-place --recursive Package.swift Sources Tests Benchmarks Fuzz

bench: build $(BENCH_TOOLS) ## Measure beside nginx and thumbor, if available, or beside oximg, imgproxy and imagor of PEERS=folder; PHOTOS=folder BENCH="--seconds 5"
	@scripts/install-packages gcc libc6-dev
	$(if $(PEERS),$(VENV_BENCH)/bin/python Benchmarks/peers.py --peers $(PEERS),python3 Benchmarks/run.py) --alula $(RELEASE) --photos $(PHOTOS) $(BENCH)

bench-against: build $(BENCH_TOOLS) ## Measure CPU times beside another build; PHOTOS=folder AGAINST="OTHER/alula --rounds 9"
	$(VENV_BENCH)/bin/python Benchmarks/against.py --alula $(RELEASE) --photos $(PHOTOS) --against $(AGAINST)

# What the benchmarks measure with and beside.
$(BENCH_TOOLS): Benchmarks/requirements.txt
	@scripts/install-packages nginx-light libnginx-mod-http-image-filter wrk python3 python3-venv libjpeg-turbo-progs
	@python3 -m venv $(VENV_BENCH)
	@$(VENV_BENCH)/bin/pip install --quiet --requirement $< && touch $@ || echo "thumbor and scores cannot be had here; going on without"

bench-lanes: build $(BENCH_TOOLS) ## Measure both lanes of imaging and check the limits; PHOTO=file.jpg PHOTOS=folder LANES="--rounds 30"
	$(SWIFT) build -c release --product lanes
	$(SWIFT) build -c release --product alula -Xswiftc -DVIPS_LANE --scratch-path .build/vips-lane
	$(VENV_BENCH)/bin/python Benchmarks/lanes.py --lanes .build/release/lanes --alula $(RELEASE) \
		--alula-vips .build/vips-lane/release/alula --photo "$(PHOTO)" --photos $(PHOTOS) $(LANES)

bench-quality: deps $(BENCH_TOOLS) ## Score visual quality beside nginx and thumbor; PHOTO=file.jpg PHOTOS=folder QUALITY="--margins 1.5,1"
	@scripts/install-packages gcc libc6-dev
	$(SWIFT) build -c release --product lanes
	$(VENV_BENCH)/bin/python Benchmarks/quality.py --lanes .build/release/lanes --photo "$(PHOTO)" --photos $(PHOTOS) $(QUALITY)

bench-equal-quality: build $(BENCH_TOOLS) ## Measure equal qualities across formats, and bytes at equal scores; PHOTOS=folder EQUAL_QUALITY="--against OTHER/alula --widths 300"
	@scripts/install-packages gcc libc6-dev libjxl-tools libjxl-devtools
	$(VENV_BENCH)/bin/python Benchmarks/equal_quality.py --alula $(RELEASE) --photos $(PHOTOS) $(EQUAL_QUALITY)

bench-gain-maps: build $(BENCH_TOOLS) ## Measure how far results with a gain map are from their sources; PHOTOS=folder GAIN_MAPS="--names *flower*"
	$(VENV_BENCH)/bin/python Benchmarks/gain_maps.py --alula $(RELEASE) --photos $(PHOTOS) $(GAIN_MAPS)

bench-faces: build $(BENCH_TOOLS) ## Measure found and false faces, crops and CPU time, with pictures of packages; FACES="--folder .build/faces --rounds 5"
	$(VENV_BENCH)/bin/python Benchmarks/faces.py --alula $(RELEASE) $(FACES)

bench-costs: deps ## Measure time and memory of decodes and renders beside their costs
	@scripts/install-packages python3
	$(SWIFT) build -c release --product costs
	python3 Benchmarks/costs.py --costs .build/release/costs $(COSTS)

bench-renditions: build $(BENCH_TOOLS) ## Measure many renditions in one call beside thumbor's uploads, and large uploads; RENDITIONS="--only large"
	$(VENV_BENCH)/bin/python Benchmarks/renditions.py --alula $(RELEASE) --photos $(PHOTOS) --venv $(VENV_BENCH) $(RENDITIONS)

bench-targets: deps ## Measure the parsing of targets in each dialect; TARGETS_BENCH="--rounds 30"
	$(SWIFT) build -c release --product targets
	.build/release/targets $(TARGETS_BENCH)

bench-events: build $(BENCH_TOOLS) ## Measure the cost of events, with and without readers; PHOTOS=folder
	@scripts/install-packages valgrind
	$(SWIFT) build -c release --product events
	python3 Benchmarks/events.py --alula $(RELEASE) --events .build/release/events --photos $(PHOTOS)

bench-fleet: $(VENV_FLEET)/installed ## Simulate fleets: hit ratios, fetches, sizes and costs; FLEET="size --images 1e7 --requests 2000"
	$(VENV_FLEET)/bin/python Benchmarks/fleet-simulation $(or $(FLEET),validate)

$(VENV_FLEET)/installed: Benchmarks/fleet-simulation/requirements.txt
	@scripts/install-packages python3 python3-venv
	@python3 -m venv $(VENV_FLEET) && $(VENV_FLEET)/bin/pip install --quiet --requirement $< && touch $@

bench-sandbox: build ## Measure decoding in worker processes beside decoding in process; PHOTOS=folder
	@scripts/install-packages nginx-light libnginx-mod-http-image-filter wrk python3
	python3 Benchmarks/sandbox.py --alula $(RELEASE) --photos $(PHOTOS)

bench-shared-cache: build ## Measure hits in the shared cache: rate, latency, CPU; SHARED_CACHE_BENCH="--side 128 --rounds 3"
	@scripts/install-packages redis-server wrk python3
	python3 Benchmarks/shared_cache.py --alula $(RELEASE) $(SHARED_CACHE_BENCH)

bench-store: build ## Measure the result store: memory hits, folder, memory use; STORE_BENCH="--only memory"
	@scripts/install-packages valgrind wrk python3
	python3 Benchmarks/store.py --alula $(RELEASE) $(STORE_BENCH)

bench-batch: build ## Measure alula batch beside vipsthumbnail and ImageMagick; PHOTOS=folder BATCH="--count 200 --rounds 1"
	@scripts/install-packages libvips-tools imagemagick python3
	python3 Benchmarks/batch.py --alula $(RELEASE) --photos $(PHOTOS) $(BATCH)

figures: ## Print the structure of Sources: sizes, circles between folders
	@scripts/house-figures

coverage: deps ## Run the unit tests, and print the coverage by file
	$(SWIFT) test --disable-xctest --enable-code-coverage
	@scripts/coverage "$$($(SWIFT) test --show-codecov-path)"

test-asan: deps ## Run the unit tests under AddressSanitizer; SANITIZED="--filter ImagingTests"
	SWIFT=$(SWIFT) scripts/sanitize address $(SANITIZED)

test-tsan: deps ## Run the unit tests under ThreadSanitizer; SANITIZED="--filter CoordinationTests"
	SWIFT=$(SWIFT) scripts/sanitize thread $(SANITIZED)

fuzz: deps ## Run all fuzz targets, a minute each; FUZZ="-max_total_time=600"
	@SWIFT=$(SWIFT) scripts/fuzz "$(FUZZ)" "$(TARGETS)"

fuzz-check: deps ## Compile the fuzz targets without running them
	$(SWIFT) build --build-tests
	@SWIFT=$(SWIFT) scripts/fuzz check

check-deep: deps deps-test ## Run sanitizers, fuzzing, damage, crashes and floods; a day, SECONDS=60 CHECKS="fuzz load-test"
	@SWIFT=$(SWIFT) scripts/check-deep "$(SECONDS)" "$(CHECKS)"

clean: ## Remove everything that was built
	rm -rf .build
