# The two commands to know are `make run` and `make test`; `make help` lists the others.
# Works with GNU make 3.81, the one of macOS.

# For `make run`: the folder to serve, the port, the path of the upload page, and further flags of
# `httpkit serve`.
DIR = .
PORT = 8080
UPLOADER = /upload
ARGS =
# For `make test` and `make test-all`: the seconds after which the tests are ended.
TEST_SECONDS = 1200
# For `make install`: where to, and the folder in front of that while a package is built.
PREFIX = /usr/local
DESTDIR =
# For `make bench`: flags of Benchmarks/parser.py; ARGS goes to Benchmarks/server.py.
PARSER_ARGS =

# How programs are built for use.
RELEASE = -c release $$(Scripts/release-flags)
# How tests and examples are built.
DEBUG = $$(Scripts/debug-flags)

# For `make test-all`: a folder of its own, so that the usual build stays.
TRAITS = --enable-all-traits --scratch-path .build-traits

# For `make test-kqueue`: the tests that talk over sockets.
KQUEUE_TESTS = ^(HTTPServer(Core|TLS|WebSocket|Proxies)|URLClient(Foundation)?|WebDAVKit|WebUploader|ResumableUploads|httpkit|Conformance)Tests\.

# For `make fuzz`: one target or all of them, and the seconds for each.
TARGET = all
SECONDS = 60

# SwiftPM hands the names of the traits to the compiler in the order of a set, which is another one in
# each process unless hashing is the same: then everything would be built again. The programs that are
# built keep their own hashing.
SWIFT = SWIFT_DETERMINISTIC_HASHING=1 swift

# The first Python that has matplotlib, which distributions install for the system's own.
PYTHON = $(shell for python in python3 /usr/bin/python3; do \
	$$python -c 'import matplotlib' 2>/dev/null && echo $$python && exit; done; echo python3)

.DEFAULT_GOAL := help
.PHONY: help run test test-peers examples test-all test-kqueue check-apple strangers bare-root \
	acceptance autobahn webdav-acceptance build build-mobile install bench bench-peers bench-report bench-webdav \
	bench-uploads lint format docs pictures api-check fuzz sanitize clean

help: ## list these targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | awk -F'|' '{ printf "%-20s %s\n", $$1, $$2 }'

run: ## serve a folder: make run DIR=/srv/www PORT=8000 ARGS='--access-log'
	@Scripts/bootstrap run
	$(SWIFT) build $(RELEASE) --product httpkit
	.build/release/httpkit serve "$(DIR)" --port "$(PORT)" --uploader "$(UPLOADER)" $(ARGS)

test: ## build the libraries and httpkit, and run their tests; ARGS='--filter Chunked' picks some
	@Scripts/bootstrap test
	WITHOUT_PEERS=1 $(SWIFT) build --build-tests $(DEBUG)
	@WITHOUT_PEERS=1 TEST_SECONDS=$(TEST_SECONDS) Scripts/test $(ARGS)

test-peers: examples ## the tests of httpkit and the examples beside curl, litmus, Autobahn and other programs
	$(SWIFT) build --build-tests $(DEBUG)
	@TEST_SECONDS=$(TEST_SECONDS) Scripts/test --filter '^ConformanceTests\.' $(ARGS)

examples: ## build the programs of Examples and the code of the documents
	@Scripts/bootstrap test
	@Scripts/snippets
	$(SWIFT) build --package-path Examples $(DEBUG)

test-all: ## all tests, with all traits and beside large peers, which it installs; check-apple for macOS
	@Scripts/bootstrap test-all
	@$(MAKE) examples
	KQUEUE_STAND_IN=1 $(SWIFT) build --build-tests $(DEBUG) $(TRAITS)
	@Scripts/check-apple --only macos
	@Scripts/check-portable
	@Scripts/check-embedded
	@Scripts/check-musl
	@KQUEUE_STAND_IN=1 TEST_ALL=1 TEST_SECONDS=$(TEST_SECONDS) Scripts/test $(TRAITS) $(ARGS)
	@$(MAKE) test-kqueue

test-kqueue: ## run the tests of server and client over a kqueue that is made of epoll
	@Scripts/bootstrap test
	KQUEUE_STAND_IN=1 $(SWIFT) build --build-tests $(DEBUG) $(TRAITS)
	@KQUEUE_STAND_IN=1 TEST_POLLER=kqueue TEST_SECONDS=$(TEST_SECONDS) Scripts/test $(TRAITS) \
		$(if $(ARGS),$(ARGS),--filter '$(KQUEUE_TESTS)')

build-mobile: ## build server and WebDAV for iOS and tvOS; needs Xcode
	@for scheme in HTTPServerCore WebDAVKit; do for system in iOS tvOS; do \
		xcodebuild -scheme $$scheme -destination "generic/platform=$$system Simulator" build || \
		exit 1; done; done

check-apple: ## compile the branches for Apple platforms against stand-ins for its SDK
	@Scripts/bootstrap test
	@Scripts/check-apple

bare-root: ## run `make run` and `make test` in a bare Debian; needs root and mmdebstrap
	@Scripts/bare-root

# Programs as others write them.
strangers: ## build packages that use parser, server and client, from a clean clone of the last commit
	@Scripts/bootstrap test
	@Scripts/strangers $(ARGS)

acceptance: ## check the robustness figures against a running server; some minutes
	@Scripts/bootstrap test
	$(SWIFT) build $(RELEASE) --product httpkit
	Scripts/acceptance

autobahn: ## all 517 cases of the Autobahn suite, for the server and the client; half an hour
	@Scripts/bootstrap test
	$(SWIFT) build $(RELEASE) --product httpkit
	@Scripts/autobahn/server .build/release/httpkit $(ARGS)
	$(SWIFT) build --build-tests $(DEBUG)
	@AUTOBAHN_CASES='$(ARGS)' TEST_SECONDS=3600 Scripts/test --filter 'ConformanceTests.AutobahnTests/client'

webdav-acceptance: ## the tests of WebDAV at full length: kills, large files, clients
	@Scripts/bootstrap test-all
	$(SWIFT) build --build-tests $(DEBUG)
	@TEST_ALL=1 WEBDAV_KILLS=200 WEBDAV_LARGE=1 WEBDAV_COSTS=1 $(if $(DAVFS2),WEBDAV_DAVFS2=1) \
		TEST_SECONDS=3600 Scripts/test --filter 'WebDAV|Litmus' $(ARGS)

build: ## build the libraries and httpkit, optimised
	@Scripts/bootstrap build
	$(SWIFT) build $(RELEASE)

install: ## build httpkit and install it with manual pages and completions: make install PREFIX=/opt
	@Scripts/bootstrap install
	$(SWIFT) build $(RELEASE) --product httpkit
	@Scripts/install .build/release/httpkit "$(DESTDIR)$(PREFIX)"

bench: ## measure parser and server against the C limit and nginx; a few minutes
	@Scripts/bootstrap bench
	$(PYTHON) Benchmarks/parser.py $(PARSER_ARGS)
	$(PYTHON) Benchmarks/server.py $(ARGS)

bench-peers: ## the same with the Swift peers; builds them first
	@Scripts/bootstrap bench
	$(PYTHON) Benchmarks/server.py --peers $(ARGS)

bench-report: ## write the figures of the newest results into README and Docs/Benchmarks.md
	$(PYTHON) Benchmarks/report.py $(ARGS)

bench-webdav: ## measure WebDAV beside Apache, nginx, lighttpd, rclone and wsgidav
	@Scripts/bootstrap bench
	$(PYTHON) Benchmarks/webdav.py $(ARGS)

bench-uploads: ## measure the upload page and resumable uploads; takes 12 GB of disk
	@Scripts/bootstrap bench
	$(PYTHON) Benchmarks/uploads.py $(ARGS)

lint: ## check formatting, layers, cycles, words and left-overs
	@Scripts/bootstrap lint
	@Scripts/lint

format: ## rewrite the Swift files in the project's format
	@Scripts/bootstrap run
	@Scripts/lint --fix

docs: ## build the documentation; a warning is an error
	@Scripts/bootstrap docs
	@Scripts/docs

pictures: ## make the pictures of the documents from httpkit; needs root and Chromium
	$(SWIFT) build $(RELEASE) --product httpkit
	@Scripts/pictures

api-check: ## compare the public API with that of the last release: ARGS='--targets HTTPParser'
	@Scripts/bootstrap run
	@Scripts/api-check $(ARGS)

fuzz: ## fuzz: make fuzz TARGET=FuzzRequestHead SECONDS=600
	@Scripts/bootstrap test
	@Scripts/fuzz "$(TARGET)" "$(SECONDS)"

sanitize: ## run the tests with the address and the thread sanitizer
	@Scripts/bootstrap test-all
	@TEST_ALL=1 Scripts/sanitize

clean: ## remove everything that was built
	rm -rf .build .build-* Benchmarks/.build Fuzz/.build
	find Examples -name .build -prune -exec rm -rf {} + 2>/dev/null || true
