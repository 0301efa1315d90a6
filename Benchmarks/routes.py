#!/usr/bin/env python3
"""What routes cost: the CPU time of a request with few and with many routes, and whether any request
is lost while routes are added.

    python3 Benchmarks/routes.py [--rounds 7] [--seconds 1] [--no-build]

Servers with 10, 1,000 and 10,000 routes of either kind are up at once and take turns.
"""

import argparse
import contextlib
import sys
import tempfile
import types

import harness
import server
import servers

COUNTS = [10, 1_000, 10_000]
PLAIN = {}


def paths(count):
    """The kinds of paths asked for, at a route in the middle."""
    return {"literal": f"/r/{count // 2}", "parameter": f"/p/{count // 2}/x"}


@contextlib.contextmanager
def started(root, *extra):
    one = servers.Server("ours", root, extra=extra)
    try:
        one.wait_until_listening()
        yield one
    finally:
        one.stop()


def lookups(root, options):
    costs = {(kind, count): [] for kind in paths(0) for count in COUNTS}
    with contextlib.ExitStack() as stack:
        running = {count: stack.enter_context(started(root, "--routes", str(count)))
                   for count in COUNTS}
        for number in range(options.rounds + 1):
            for count, one in running.items():
                for kind, path in paths(count).items():
                    taken = server.sample(one, path, 64, PLAIN, options)
                    if taken["errors"]:
                        raise RuntimeError(f"{path}: {taken['errors']} errors")
                    if number:
                        costs[kind, count].append(taken["cpu"])
    rows = []
    for kind in paths(0):
        middles = [harness.median(costs[kind, count]) for count in COUNTS]
        ratios = [harness.median([one / few for one, few in
                                  zip(costs[kind, count], costs[kind, COUNTS[0]])])
                  for count in COUNTS]
        rows.append([kind, *(f"{middle:.2f} ({ratio:.2f})"
                             for middle, ratio in zip(middles, ratios))])
    print(harness.table(
        ["microseconds a request", *(f"{count:,} routes" for count in COUNTS)], rows))


def additions(root, options):
    with started(root, "--adding", "1000") as one:
        taken = server.sample(one, "/", 64, PLAIN, types.SimpleNamespace(
            duration=max(5, options.duration), threads=1))
    print(f"\nWhile 1,000 routes a second are added: {taken['rate']:,.0f} requests a second, "
          f"{taken['errors']} lost, 99 % within {taken['latency99'] / 1000:.1f} ms.")
    return taken["errors"] == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", dest="duration", type=int, default=1)
    parser.add_argument("--no-build", action="store_true")
    options = parser.parse_args()
    options.threads = 1
    if not options.no_build:
        harness.build_product("BenchServer")
    with tempfile.TemporaryDirectory() as root:
        server.make_root(root)
        lookups(root, options)
        return 0 if additions(root, options) else 1


if __name__ == "__main__":
    sys.exit(main())
