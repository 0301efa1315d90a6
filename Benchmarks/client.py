#!/usr/bin/env python3
"""Client comparison: requests a second and CPU microseconds per request, against one nginx.

The clients take turns, round after round, so that what the machine does meanwhile hits all alike.
Loopback only; every run is bounded in time.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import harness
import servers

GIBIBYTE = 1 << 30
PRODUCTS = {"ours": "ClientBench", "ahc": "PeerAsyncHTTPClient", "urlsession": "PeerURLSession"}
# Ours once more, whose callers block in the loop for a quick response: `ClientConfiguration.briefWait`.
BRIEF, BRIEF_WAIT = "brief", "250"
CLIENTS = ["libcurl", "ours", BRIEF, "ahc", "urlsession", *(["base"] if harness.BASE else [])]
# Name: title, arguments with the URL's path first, requests for each client.
SCENARIOS = {
    "sequential": ("small GETs, one after the other", "get", "/",
                   {"libcurl": 10_000, "ours": 10_000, "ahc": 10_000, "urlsession": 2_000}, ["1"]),
    "concurrent": ("small GETs, 64 at once", "get", "/",
                   {"libcurl": 40_000, "ours": 40_000, "ahc": 40_000, "urlsession": 4_000}, ["64"]),
    "download": ("download of 1 GiB", "download", "/big", None, []),
    "slow": ("the same by a slow reader", "download", "/big", None, ["slow"]),
    "upload": ("upload of 1 GiB from a file", "upload", "/upload", None, None),
}
# A server that answers at once is not sent the rest.
NOT_MEASURED = {("upload", "ahc"): "which ends as soon as nginx answers, before the content was sent"}
TIME_LIMIT = 300


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="two rounds")
    parser.add_argument("--rounds", type=int, help="rounds of every client and scenario (7)")
    parser.add_argument("--clients", help=f"of {', '.join(CLIENTS)}, by commas (libcurl,ours)")
    parser.add_argument("--peers", action="store_true", help="all clients")
    parser.add_argument("--scenarios", help=f"of {', '.join(SCENARIOS)}, by commas")
    parser.add_argument("--no-build", action="store_true",
                        help="take the Swift clients as they were built before")
    return parser.parse_args()


def program(name):
    if name == "libcurl":
        return harness.TOOLS / name
    if name == "base":
        return harness.built_product(PRODUCTS["ours"], harness.BASE / "Benchmarks")
    return harness.built_product(PRODUCTS["ours" if name == BRIEF else name])


def run(name, scenario, port, file):
    """One run of a client in a process of its own."""
    _, what, path, counts, words = SCENARIOS[scenario]
    command = [program(name), what, f"http://127.0.0.1:{port}{path}"]
    if counts:
        command.append(counts.get(name, counts["ours"]))
    command += [file] if words is None else words
    environment = {**os.environ, **({"BRIEF_WAIT": BRIEF_WAIT} if name == BRIEF else {})}
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          timeout=TIME_LIMIT, env=environment)
    for line in done.stdout.splitlines():
        if line.startswith("RESULT "):
            requests, size, wall, cpu, peak = map(int, line.split()[1:])
            expected = GIBIBYTE if counts is None else 13 * requests
            if size != expected:
                raise RuntimeError(f"{name} has moved {size} bytes instead of {expected}")
            # Of one request, because not all clients send as many.
            return {"wall": wall / requests / 1e6, "cpu": cpu / requests, "peak": peak}
    raise RuntimeError(f"{name}: {(done.stdout + done.stderr).strip()[-300:]}")


def measure(scenario, names, rounds, port, file):
    """Samples by client; one that fails is told and left out."""
    for name in names:
        if (scenario, name) in NOT_MEASURED:
            harness.leave_out(f"{scenario} by {name}", NOT_MEASURED[scenario, name])
    names = [name for name in names if (scenario, name) not in NOT_MEASURED]
    return harness.take_turns(
        names, rounds, lambda name, _: run(name, scenario, port, file),
        lambda name: f"{scenario} by {name}", harness.PROGRAM_ERRORS)


def show(scenario, samples):
    title, _, _, counts, _ = SCENARIOS[scenario]
    print(f"\n### {title}\n")
    rows = []
    for name, taken in samples.items():
        middle = {key: harness.median([one[key] for one in taken])
                  for key in ("wall", "cpu", "peak")}
        spread = harness.spread([one["wall"] for one in taken])
        speed = f"{1 / middle['wall']:,.0f} /s" if counts else f"{1024 / middle['wall']:,.0f} MiB/s"
        cost = f"{middle['cpu']:,.1f} µs" if counts else f"{middle['cpu'] / 1e6:,.2f} s"
        rows.append([name, speed, cost, f"{middle['peak'] / 1024:,.1f}",
                     harness.figure(harness.ratio(samples, name, "libcurl", "wall")),
                     harness.figure(harness.ratio(samples, name, "libcurl", "cpu")),
                     "–" if spread is None else f"±{spread * 100:.0f} %"])
    print(harness.table(["client", "speed", "CPU", "peak MiB", "time / libcurl", "CPU / libcurl",
                         "noise"], rows))
    for name in samples:
        if name != "ours" and samples.get("ours") and samples[name]:
            speed = harness.figure(harness.ratio(samples, name, "ours", "wall"))
            cost = harness.figure(harness.ratio(samples, "ours", name, "cpu"))
            print(f"ours against {name}: {speed} times the speed, {cost} times the CPU")


def main():
    options = arguments()
    names = options.clients.split(",") if options.clients else (
        CLIENTS if options.peers else ["libcurl", "ours"])
    scenarios = options.scenarios.split(",") if options.scenarios else list(SCENARIOS)
    for unknown in [*set(names) - set(CLIENTS), *set(scenarios) - set(SCENARIOS)]:
        sys.exit(f"client.py: nothing is called {unknown}")
    rounds = options.rounds or (2 if options.quick else 7)
    harness.compile_c(harness.HERE / "Client" / "libcurl.c", "libcurl", "-lcurl")
    for name in names:
        if name in PRODUCTS and not options.no_build:
            harness.build_product(PRODUCTS[name])
    report = {"kind": "client", "machine": harness.machine(), "rounds": rounds, "scenarios": {},
              "versions": {"libcurl": harness.output_of("curl-config", "--version"),
                           "nginx": harness.output_of("nginx", "-v"),
                           **harness.package_versions(ahc="async-http-client")}}
    with tempfile.TemporaryDirectory() as root:
        big = Path(root) / "big"
        with big.open("wb") as file:
            file.truncate(GIBIBYTE)  # A file of holes: no disk takes part.
        with servers.running(["nginx"], root) as running:
            if "nginx" not in running:
                sys.exit("client.py: no nginx to measure against")
            for scenario in scenarios:
                harness.note(scenario)
                samples = measure(scenario, names, rounds, running["nginx"].port, big)
                report["scenarios"][scenario] = samples
                show(scenario, samples)
    print(f"\n{report['machine']['processor']}, {report['machine']['cores']} cores; "
          f"{rounds} rounds; samples in {harness.save('client', report)}")
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
