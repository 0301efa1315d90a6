#!/usr/bin/env python3
"""Server comparison: CPU microseconds per request as ratios to the C limit, in one run.

All servers of a scenario are up at once and take turns, round after round, so that what the
machine does meanwhile hits all alike. Loopback only; every load is bounded in time.
"""

import argparse
import contextlib
import http.client
import itertools
import json
import resource
import shutil
import signal
import ssl
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import harness
import plot
import servers

LOAD = harness.HERE / "Load"
IDLE_CONNECTIONS = 10_000
UPLOAD_MEBIBYTES = 256
PIPELINE_DEPTH = 16

GZIP = {"fields": ["Accept-Encoding: gzip"]}

# Turns of each round: within a second the machine's speed changes by more than the servers differ.
# Handshakes are measured in turns of so many.
TURN_HANDSHAKES, HANDSHAKE_TURNS, FILE_TURNS = 60, 12, 4
# Each turn of these measures hello as well, whose cost varies as theirs does.
TURNS_BESIDE_HELLO = 4

# Name: title, path, connections, and what is special. "of" names the servers, of which the first is
# the one that the others are compared with.
SCENARIOS = {
    "hello-1": ("hello, 1 connection", "/", 1, {}),
    "hello-64": ("hello, 64 connections", "/", 64, {}),
    "hello-512": ("hello, 512 connections", "/", 512, {}),
    "dressed-64": ("200 routes, access log, middleware, 64 connections", "/", 64,
                   {"of": ["bare", "dressed"]}),
    "async-64": ("async handler, 64 connections", "/async", 64, {}),
    "pipelined-64": ("pipelined x16, 64 connections", "/", 64, {"pipeline": PIPELINE_DEPTH}),
    "close-64": ("Connection: close, 64 connections", "/", 64, {"close": True}),
    "file-1k": ("1 KiB file, 64 connections", "/1k", 64, {}),
    "file-100k": ("100 KiB file, 64 connections", "/100k", 64, {}),
    "nginx-100k": ("beside nginx: 100 KiB file, 64 connections", "/100k", 64,
                   {"of": ["nginx-keeping", "ours"], "turns": FILE_TURNS}),
    "nginx-1m": ("beside nginx: 1 MiB file, 16 connections", "/1m", 16,
                 {"of": ["nginx-keeping", "ours"], "turns": FILE_TURNS}),
    "nginx-served": ("beside nginx: 1 KiB file by `httpkit serve`, 64 connections", "/1k.txt", 64,
                     {"of": ["nginx", "nginx-log", "served"], "turns": FILE_TURNS}),
    "tls-hello-64": ("TLS: hello, 64 connections", "/", 64,
                     {"tls": True, "short": True, "turns": FILE_TURNS}),
    "tls-100k": ("TLS: 100 KiB file, 64 connections", "/100k", 64, {"tls": True}),
    "tls-1m": ("TLS: 1 MiB file, 16 connections", "/1m", 16, {"tls": True}),
    "tls-handshake": ("TLS: resumed handshake, one request, close", "/", 1,
                      {"tls": True, "close": True, "short": True, "handshakes": "resumed",
                       "turns": HANDSHAKE_TURNS}),
    "tls-handshake-full": ("TLS: full handshake, one request, close", "/", 1,
                           {"tls": True, "close": True, "short": True, "handshakes": "full",
                            "turns": HANDSHAKE_TURNS}),
    "post-note": ("POST of 1 KiB of JSON, one long text, decoded and answered", "/note", 64,
                  {"post": "note"}),
    "post-note-async": ("the same by an async handler", "/note-async", 64, {"post": "note"}),
    "post-order": ("POST of 1 KiB of JSON, 7 objects, decoded and answered", "/order", 64,
                   {"post": "order"}),
    "post-order-read": ("POST of 1 KiB of JSON, 7 objects that are `JSONReadable`, answered by a "
                        "`JSONWritable`",
                        "/order-read", 64, {"post": "order"}),
    "post-order-async": ("the same by an async handler", "/order-async", 64, {"post": "order"}),
    "echo-64": ("echo of 32 bytes by WebSocket, 64 connections", "/echo", 64, {"echo": True}),
    "json": ("20 KiB of JSON, 64 connections", "/json", 64, {}),
    "json-gzip": ("the same, gzip, repeated", "/json-gzip", 64, GZIP),
    "json-copied": ("20 KiB of JSON, made anew each time", "/json-copied", 64, {}),
    "json-copied-gzip": ("the same, gzip, repeated", "/json-copied-gzip", 64, GZIP),
    "json-uncached": ("20 KiB of JSON, gzip, compressed each time", "/json-uncached", 64, GZIP),
}
OTHERS = {
    "upload": f"upload of {UPLOAD_MEBIBYTES} MiB, per MiB",
    "idle": f"{IDLE_CONNECTIONS:,} idle connections",
    "allocations": "heap allocations",
}
CONTENT_LENGTHS = {"/": 13, "/async": 13, "/1k": 1024, "/1k.txt": 1024, "/100k": 102_400,
                   "/1m": 1 << 20}
# The C limit has short answers over TLS only: the ratio of these scenarios is to nginx.
TLS_SERVERS = ["nginx", "ours"]
UNVERIFIED = ssl._create_unverified_context()
JSON_BYTES = 20 << 10
# Only these know what the scenarios with JSON ask for; nginx keeps no compressed answers.
JSON_POSTERS = ["limit", "ours", "nio", "hummingbird", "flyingfox"]
JSON_SERVERS = {"/note": JSON_POSTERS, "/order": JSON_POSTERS, "/note-async": ["ours"],
                "/order-async": ["ours"], "/order-read": ["ours"], "/echo": ["ours"],
                "/json": ["nginx", "ours"], "/json-uncached": ["nginx", "ours"],
                "/json-gzip": ["ours"], "/json-copied": ["ours"], "/json-copied-gzip": ["ours"]}
CONTENT_LENGTHS.update(dict.fromkeys(
    [path for path in JSON_SERVERS if path.startswith("/json")], JSON_BYTES))
POST_BYTES = 1024
NOTE_TEXT = "Leave it with the neighbour, please. "


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="two rounds")
    parser.add_argument("--duration", type=int, help="seconds of one measurement (1)")
    parser.add_argument("--rounds", type=int, help="rounds of every server and scenario (7)")
    parser.add_argument("--threads", type=int, default=1, help="event loops of each server (1)")
    parser.add_argument("--servers", help=f"of {', '.join(servers.COMMANDS)}, by commas")
    parser.add_argument("--peers", action="store_true", help="add the peers written in Swift")
    parser.add_argument("--scenarios", help=f"of {', '.join([*SCENARIOS, *OTHERS])}, by commas")
    parser.add_argument("--no-build", action="store_true",
                        help="take the Swift servers as they were built before")
    return parser.parse_args()


def build(names, scenarios, products):
    harness.compile_c(harness.HERE / "Limit" / "limit.c", "limit", "-pthread",
                      "-lssl", "-lcrypto")
    harness.compile_c(
        harness.HERE / "Limit" / "malloc_count.c", "malloc_count.so", "-shared", "-fPIC")
    for client in ["upload", "idle", "echo"]:
        harness.compile_c(LOAD / f"{client}.c", client)
    harness.compile_c(LOAD / "handshake.c", "handshake", "-lssl", "-lcrypto")
    for name in names:
        if products and name in servers.PRODUCTS:
            harness.build_product(servers.PRODUCTS[name])
    if products and any("served" in SCENARIOS[name][3].get("of", []) for name in scenarios
                        if name in SCENARIOS):
        harness.build_product("httpkit", harness.HERE.parent, harness.release_flags())


def posted(name):
    """Content of the scenarios that post JSON, `POST_BYTES` long; with the answer to it."""
    if name == "note":
        value, text = {"id": 7}, "text"
    else:
        value, text = {"id": 7, "customer": "Ada Lovelace", "mail": "ada@example.org",
                       "isPaid": True}, "note"
        value["items"] = [{"name": f"article {index}", "count": index, "price": 2.5 * index + 0.25}
                          for index in range(6)]
    value[text] = ""
    room = POST_BYTES - len(json.dumps(value, separators=(",", ":")))
    value[text] = (NOTE_TEXT * POST_BYTES)[:room]
    count = len(value[text]) if name == "note" else len(value["items"])
    return json.dumps(value, separators=(",", ":")).encode(), {"id": 7, "count": count}


def check_post(server, path, name):
    content, expected = posted(name)
    connection = http.client.HTTPConnection("127.0.0.1", int(server.port), timeout=10)
    with contextlib.closing(connection):
        connection.request("POST", path, content, {"Content-Type": "application/json"})
        response = connection.getresponse()
        text = response.read()
    if response.status != 200 or json.loads(text) != expected:
        raise RuntimeError(f"{server.name} answers {path} with {response.status}, {text[:80]}")


def check(server, path):
    """One request by another client: a server that answers wrongly is not measured."""
    place = ("127.0.0.1", int(server.port))
    connection = (http.client.HTTPSConnection(*place, timeout=10, context=UNVERIFIED)
                  if server.secure else http.client.HTTPConnection(*place, timeout=10))
    with contextlib.closing(connection):
        connection.request("GET", path)
        response = connection.getresponse()
        length = len(response.read())
    if response.status != 200 or length != CONTENT_LENGTHS[path]:
        raise RuntimeError(f"{server.name} answers {path} with {response.status}, {length} bytes")


def wrk(server, path, connections, special, seconds, threads=1):
    """Runs wrk; returns requests, seconds, errors, median and 99th percentile latency."""
    fields = [] if special.get("close") else servers.EXTRA_FIELDS.get(server.name, [])
    fields = fields + (["Connection: close"] if special.get("close") else [])
    fields = fields + special.get("fields", [])
    script = "pipeline.lua" if special.get("pipeline") else "report.lua"
    script = "post.lua" if special.get("post") else script
    command = ["wrk", "-t", str(min(threads, connections)), "-c", str(connections),
               "-d", str(seconds), "-s", script]
    for field in fields:
        command += ["-H", field]
    scheme = "https" if server.secure else "http"
    command += [f"{scheme}://127.0.0.1:{server.port}{path}"]
    if special.get("pipeline"):
        command += ["--", str(special["pipeline"])]
    if special.get("post"):
        command += ["--", f"{server.root}/{special['post']}.json"]
    done = subprocess.run(command, cwd=LOAD, capture_output=True, text=True,
                          timeout=seconds + 30)
    for line in done.stdout.splitlines():
        if line.startswith("RESULT "):
            requests, microseconds, errors, middle, high = map(int, line.split()[1:])
            return requests, microseconds / 1e6, errors, middle, high
    raise RuntimeError(f"wrk on {server.name}: {(done.stdout + done.stderr).strip()[-300:]}")


def handshakes(server, path, kind):
    """One turn of connections over TLS, one after the other; returns what `wrk` does."""
    done = subprocess.run(
        [harness.TOOLS / "handshake", server.port, kind, str(TURN_HANDSHAKES), path],
        capture_output=True, text=True, timeout=30)
    if done.returncode != 0:
        raise RuntimeError(f"handshake on {server.name}: {done.stderr.strip()[-300:]}")
    count, microseconds = map(int, done.stdout.split())
    return count, microseconds / 1e6, 0, None, None


def echoes(server, path, connections, seconds):
    """Messages over WebSockets; returns what `wrk` does."""
    done = subprocess.run(
        [harness.TOOLS / "echo", server.port, path, str(connections), str(seconds)],
        capture_output=True, text=True, timeout=seconds + 30)
    if done.returncode != 0:
        raise RuntimeError(f"echo on {server.name}: {done.stderr.strip()[-300:]}")
    count, microseconds, changed = map(int, done.stdout.split()[1:])
    return count, microseconds / 1e6, changed, None, None


def load(server, path, connections, special, seconds, threads):
    if special.get("echo"):
        return echoes(server, path, connections, seconds)
    if special.get("handshakes"):
        return handshakes(server, path, special["handshakes"])
    return wrk(server, path, connections, special, seconds, threads)


def sample(server, path, connections, special, options):
    """One measurement of one server under load."""
    before, memory = server.cpu_seconds(), server.memory("VmRSS")
    server.reset_peak()
    requests, seconds, errors, middle, high = load(
        server, path, connections, special, options.duration, options.threads)
    if requests == 0:
        raise RuntimeError(f"{server.name} answered nothing")
    return {
        "cpu": (server.cpu_seconds() - before) * 1e6 / requests,
        "rate": requests / seconds, "errors": errors, "latency": middle, "latency99": high,
        "growth": server.memory("VmHWM") - memory,
    }


def sample_beside_hello(server, path, connections, special, options):
    """The same, with its cost beside that of hello in the same turn: the machine's speed drifts."""
    hello = sample(server, "/", connections, {}, options)["cpu"]
    one = sample(server, path, connections, special, options)
    return {**one, "beside_hello": one["cpu"] / hello}


def upload(server, mebibytes=UPLOAD_MEBIBYTES):
    done = subprocess.run([harness.TOOLS / "upload", server.port, str(mebibytes)],
                          capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        raise RuntimeError(f"upload to {server.name}: {done.stderr.strip()[-300:]}")
    return float(done.stdout)


def sample_upload(server, options):
    before, memory = server.cpu_seconds(), server.memory("VmRSS")
    server.reset_peak()
    seconds = upload(server)
    return {
        "cpu": (server.cpu_seconds() - before) * 1e6 / UPLOAD_MEBIBYTES,
        "rate": UPLOAD_MEBIBYTES / seconds, "errors": 0,
        "growth": server.memory("VmHWM") - memory,
    }


def rounds(running, count, title, take, warm):
    """Samples of every server by name, taken in turns; one that fails is left out."""
    samples = {name: [] for name in running}
    for number in range(count + 1):
        for name in list(samples):
            try:
                if number == 0:
                    warm(running[name])
                else:
                    samples[name].append(take(running[name]))
            except (RuntimeError, OSError, http.client.HTTPException,
                    subprocess.TimeoutExpired) as error:
                harness.leave_out(f"{title} by {name}", f"which failed: {error}")
                del samples[name]
    return samples


def summary(samples, title, reference="limit"):
    """Medians of every server, and medians of the ratios to one of them in the same round."""
    found = {}
    for name, values in samples.items():
        keys = {key for value in values for key in value}
        entry = {key: harness.median([value[key] for value in values]) for key in keys}
        entry["growth"] = max(value["growth"] for value in values)
        entry["spread"] = harness.spread([value["cpu"] for value in values])
        others = samples.get(reference)
        if others:
            ratios = [one["cpu"] / two["cpu"] for one, two in zip(values, others)]
            entry["ratio"] = harness.median(ratios)
            entry["error"] = harness.standard_error(ratios)
        entry["samples"] = values
        found[name] = entry
    return {"title": title, "servers": found}


def run_scenario(name, names, root, options):
    title, path, connections, special = SCENARIOS[name]
    names = special.get("of") or [name for name in names if name in JSON_SERVERS.get(path, names)]
    if special.get("tls"):
        short = ["limit"] if special.get("short") else []
        names = [name for name in names if name in TLS_SERVERS + short]

    beside_hello = bool(special.get("post") or special.get("echo"))

    def take(server):
        measure = sample_beside_hello if beside_hello and server.name == "ours" else sample
        return measure(server, path, connections, special, options)

    def warm(server):
        if special.get("post"):
            check_post(server, path, special["post"])
        elif not special.get("echo"):
            check(server, path)
        load(server, path, connections, special, 1, options.threads)

    turns = TURNS_BESIDE_HELLO if beside_hello else 1
    count = options.rounds * special.get("turns", turns)
    closes = bool(special.get("close"))
    with servers.running(names, root, threads=options.threads, closes=closes,
                         secure=bool(special.get("tls"))) as running:
        samples = rounds(running, count, title, take, warm)
    reference = special.get("of", ["nginx" if special.get("tls") else "limit"])[0]
    return summary(samples, title, reference)


def run_upload(names, root, options):
    with servers.running(names, root, threads=options.threads) as running:
        samples = rounds(running, options.rounds, OTHERS["upload"],
                         lambda server: sample_upload(server, options),
                         lambda server: upload(server, 16))
    return summary(samples, OTHERS["upload"])


def idle_cost(server):
    """Bytes of anonymous memory that an idle persistent connection costs the server."""
    check(server, "/")
    before = server.memory("RssAnon")
    client = subprocess.Popen(
        [harness.TOOLS / "idle", server.port, str(IDLE_CONNECTIONS)], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        if client.stdout.readline().strip() != "ready":
            raise RuntimeError(client.stderr.readline().strip() or "no idle connections")
        return (server.memory("RssAnon") - before) * 1024 / IDLE_CONNECTIONS
    finally:
        client.kill()
        client.communicate()


def run_idle(names, root, options):
    costs = {}
    for name in names:
        with servers.running([name], root, threads=options.threads) as running:
            for server in running.values():
                try:
                    costs[name] = idle_cost(server)
                except (RuntimeError, OSError, http.client.HTTPException) as error:
                    harness.leave_out(f"{OTHERS['idle']} by {name}", f"which failed: {error}")
    return {"title": OTHERS["idle"], "bytes": costs}


def allocations(server, counter, path, options):
    """Heap allocations per request, between two readings of the counter file."""
    def read():
        return struct.unpack("=QQ", counter.read_bytes())

    check(server, path)
    wrk(server, path, 64, {}, 1)
    before = read()
    requests = wrk(server, path, 64, {}, options.duration)[0]
    after = read()
    return {"count": (after[0] - before[0]) / requests,
            "bytes": (after[1] - before[1]) / requests}


def run_allocations(names, root, options):
    found = {}
    for name in names:
        if name in ("limit", "nginx"):
            continue  # neither allocates by malloc for a request
        with tempfile.TemporaryDirectory() as folder:
            counter = Path(folder) / "count"
            environment = {"LD_PRELOAD": str(harness.TOOLS / "malloc_count.so"),
                           "MALLOC_COUNT_FILE": str(counter)}
            with servers.running([name], root, threads=options.threads,
                                 environment=environment) as running:
                for server in running.values():
                    try:
                        found[name] = {path: allocations(server, counter, path, options)
                                       for path in ["/", "/async", "/1k"]}
                    except (RuntimeError, OSError, http.client.HTTPException,
                            subprocess.TimeoutExpired, struct.error) as error:
                        harness.leave_out(f"{OTHERS['allocations']} by {name}",
                                          f"which failed: {error}")
    return {"title": OTHERS["allocations"], "servers": found}


def print_report(report):
    measured = [entry for key, entry in report["scenarios"].items()
                if key in [*SCENARIOS, "upload"]]
    names = list(dict.fromkeys(
        [*report["servers"], *(name for entry in measured for name in entry["servers"])]))

    def rows(cell):
        return [[entry["title"], *(cell(entry["servers"].get(name)) for name in names)]
                for entry in measured]

    def with_ratio(entry):
        if not entry:
            return "–"
        return f"{harness.figure(entry['cpu'])} ({harness.figure(entry.get('ratio'))})"

    if measured:
        print("\nServer CPU, microseconds per request (ratio to the limit)\n")
        print(harness.table(["scenario", *names], rows(with_ratio)))
        print("\nRequests (upload: MiB) per second\n")
        print(harness.table(["scenario", *names], rows(
            lambda entry: harness.figure(entry and entry["rate"], 0))))
        print("\nGrowth of resident memory at its peak, KiB\n")
        print(harness.table(["scenario", *names], rows(
            lambda entry: harness.figure(entry and entry["growth"], 0))))
        print("\nErrors that wrk counted, per measurement\n")
        print(harness.table(["scenario", *names], rows(
            lambda entry: harness.figure(entry and entry["errors"], 0))))
    idle = report["scenarios"].get("idle")
    if idle:
        print("\nMemory of an idle persistent connection, bytes\n")
        costs = [harness.figure(idle["bytes"].get(name), 0) for name in names]
        print(harness.table(["scenario", *names], [[idle["title"], *costs]]))
    counts = report["scenarios"].get("allocations")
    if counts and counts["servers"]:
        print("\nHeap allocations per request\n")
        print(harness.table(["server", "/", "/async", "/1k"], [
            [name, *(harness.figure(entry[path]["count"]) for path in ["/", "/async", "/1k"])]
            for name, entry in counts["servers"].items()]))


def chosen(text, all_names, default):
    names = text.split(",") if text else default
    for name in names:
        if name not in all_names:
            sys.exit(f"unknown: {name}; there are {', '.join(all_names)}")
    return names


def make_root(folder):
    """The files that are served."""
    for name, size in [("1k", 1024), ("1k.txt", 1024), ("100k", 102_400), ("1m", 1 << 20)]:
        (Path(folder) / name).write_bytes(b"x" * size)
    for name in ["note", "order"]:
        (Path(folder) / f"{name}.json").write_bytes(posted(name)[0])
    (Path(folder) / "json").write_text(sample_json(JSON_BYTES))
    servers.make_certificate(folder)
    Path(folder).chmod(0o755)


def sample_json(count):
    """A list of records, the same as `SampleJSON.swift` makes."""
    rows, length = [], 2
    for number in itertools.count():
        name, score = number * 7_919 % 1_000, number * 31_337 % 100_003
        row = (f'{{"id":{number},"name":"user {name}","mail":"user{name}@example.org",'
               f'"score":{score},"active":{"true" if score % 3 == 0 else "false"},'
               f'"tags":["group {score % 17}","level {name % 5}"]}}')
        if length + len(row) + 1 > count:
            return f'[{",".join(rows)}]'.ljust(count)
        rows.append(row)
        length += len(row) + 1


def main():
    options = arguments()
    options.duration = options.duration or 1
    options.rounds = options.rounds or (2 if options.quick else 7)
    default = ["limit", "nginx", "ours"] + (servers.PEERS if options.peers else [])
    names = chosen(options.servers, list(servers.COMMANDS), default)
    scenarios = chosen(options.scenarios, [*SCENARIOS, *OTHERS], [*SCENARIOS, *OTHERS])
    if not shutil.which("wrk"):
        sys.exit("server.py: wrk is not installed")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    build(names, scenarios, products=not options.no_build)
    report = {"kind": "server", "machine": harness.machine(), "servers": names,
              "threads": options.threads, "duration": options.duration,
              "rounds": options.rounds, "scenarios": {},
              "versions": {"nginx": harness.output_of("nginx", "-v"),
                           "OpenSSL": harness.output_of("openssl", "version"),
                           **harness.package_versions(**{name: servers.PACKAGES[name] for name
                                                         in names if name in servers.PACKAGES})}}
    others = {"upload": run_upload, "idle": run_idle, "allocations": run_allocations}
    with tempfile.TemporaryDirectory() as root:
        make_root(root)
        for name in scenarios:
            harness.note(f"{name} on {', '.join(names)}")
            run = others.get(name)
            report["scenarios"][name] = (run(names, root, options) if run
                                         else run_scenario(name, names, root, options))
    print(f"Each server with {options.threads} thread(s) for its event loops.")
    print_report(report)
    path = harness.save("server", report)
    harness.note(f"\nwritten: {path}")
    plot.render(path)


if __name__ == "__main__":
    sys.exit(main())
