#!/usr/bin/env python3
"""Parser micro-benchmarks: nanoseconds and instructions per request, in one run.

Every parser is a program with one command line (see Parsers/driver.h), so that those in Swift,
those in C and any other are measured alike: all take turns, round after round, and the medians
are compared.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import harness
import plot

PICOHTTPPARSER = "https://github.com/h2o/picohttpparser"
SWIFT_PARSERS = ["borrowed", "owned", "incremental", "nio"]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="few short rounds")
    parser.add_argument("--rounds", type=int, help="rounds of every parser and case (21)")
    parser.add_argument("--milliseconds", type=float, help="length of one measurement (60)")
    parser.add_argument("--only", help="parsers, separated by commas")
    parser.add_argument("--cases", action="append", default=[], metavar="PATH",
                        help="one more .http file or folder of them, by its name")
    parser.add_argument("--picohttpparser", metavar="FOLDER",
                        help="a clone of github.com/h2o/picohttpparser; without it the one in"
                        " .build/sources, which is fetched once")
    parser.add_argument("--offline", action="store_true", help="fetch no sources")
    parser.add_argument("--external", action="append", default=[], metavar="NAME=PROGRAM",
                        help="one more parser, as a program with the drivers' command line")
    parser.add_argument("--reference", help="the parser that ratios refer to (picohttpparser, else the first external,"
                        " else llhttp)")
    parser.add_argument("--no-instructions", action="store_true", help="leave callgrind out")
    parser.add_argument("--no-build", action="store_true",
                        help="take ParserBench as it was built before")
    return parser.parse_args()


def cases(options):
    """Name and path of every case; a folder is a rotation."""
    folder = harness.HERE / "Cases"
    paths = [folder / "long.http", folder / "minimal.http", folder / "mixed"]
    paths += [Path(path) for path in options.cases]
    return {path.stem: path for path in paths}


def optimised(*flags):
    """Flags for C parsers, with the instructions that they look for."""
    return [*flags, *(["-msse4.2"] if harness.platform.machine() == "x86_64" else [])]


def llhttp_driver():
    """The C driver on the sources of swift-nio's CNIOLLHTTP, or None when they are not there."""
    sources = harness.CHECKOUTS / "swift-nio" / "Sources" / "CNIOLLHTTP"
    if not sources.is_dir():
        harness.leave_out("llhttp", "whose sources come with swift-nio, which is not checked out")
        return None
    flags = optimised("-I", sources / "include", *sorted(sources.glob("*.c")))
    return harness.compile_c(harness.HERE / "Parsers" / "llhttp.c", "llhttp", *flags)


def picohttpparser_sources(options):
    """The folder that was named, or the one that was fetched; None when neither is there."""
    if options.picohttpparser:
        return Path(options.picohttpparser)
    folder = harness.HERE / ".build" / "sources" / "picohttpparser"
    if not folder.is_dir() and not options.offline:
        harness.note("fetching picohttpparser")
        try:
            subprocess.run(["git", "clone", "--quiet", "--depth", "1", PICOHTTPPARSER, folder],
                           timeout=60, check=True, stdin=subprocess.DEVNULL)
        except (OSError, subprocess.SubprocessError) as error:
            harness.note(f"  {error}")
            shutil.rmtree(folder, ignore_errors=True)
    return folder if (folder / "picohttpparser.c").exists() else None


def picohttpparser_driver(options):
    """The C driver on the sources of picohttpparser, or None when they are not there."""
    folder = picohttpparser_sources(options)
    if folder is None:
        harness.leave_out("picohttpparser",
                          "whose sources were not found and could not be fetched")
        return None
    flags = optimised("-I", folder, folder / "picohttpparser.c")
    return harness.compile_c(
        harness.HERE / "Parsers" / "picohttpparser.c", "picohttpparser", *flags)


def parsers(options):
    """Name and command of every parser."""
    bench = harness.built_product("ParserBench")
    if not options.no_build:
        bench = harness.build_product("ParserBench")
    found = {name: [bench, "--only", name] for name in SWIFT_PARSERS}
    drivers = {"picohttpparser": picohttpparser_driver(options), "llhttp": llhttp_driver()}
    found.update({name: [driver] for name, driver in drivers.items() if driver})
    for entry in options.external:
        name, _, program = entry.partition("=")
        found[name] = [program]
    if options.only:
        found = {name: found[name] for name in options.only.split(",")}
    return found


def nanoseconds(command, case, iterations):
    done = subprocess.run([*command, "--case", case, "--iterations", str(iterations)],
                          capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip() or f"{command[0]} failed")
    return float(done.stdout)


def calibrate(all_parsers, all_cases, milliseconds):
    """How many iterations fill a measurement; drops what a parser cannot parse."""
    counts = {}
    for name, command in all_parsers.items():
        for case, path in all_cases.items():
            with harness.leaving_out(f"{name} on {case}", RuntimeError):
                once = nanoseconds(command, path, 20_000)
                counts[name, case] = max(1_000, int(milliseconds * 1e6 / once))
    return counts


def measure(all_parsers, all_cases, counts, rounds):
    """Nanoseconds per request by parser and case."""
    def take(key, _):
        name, case = key
        return nanoseconds(all_parsers[name], all_cases[case], counts[key])

    return harness.take_turns(counts, rounds, take, " on ".join)


def without_debug_information(program):
    """A copy that valgrind can read: it does not know the newest forms of DWARF."""
    copy = harness.TOOLS / f"{Path(program).name}.stripped"
    subprocess.run(["strip", "--strip-debug", "-o", copy, program], check=True)
    return copy


def instructions(command, case, iterations):
    """Of a whole run under callgrind; None when callgrind does not know an instruction."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out", *command,
             "--case", case, "--iterations", str(iterations)],
            capture_output=True, text=True, timeout=600)
    found = re.search(r"Collected : (\d+)", done.stderr)
    return int(found.group(1)) if found and done.returncode == 0 else None


def steps(command, case, iterations):
    """Of the measured loop, by stepping through it."""
    done = subprocess.run([harness.TOOLS / "steps", *command, "--case", case,
                           "--iterations", str(iterations)],
                          capture_output=True, text=True, timeout=600)
    return int(done.stderr.split()[-1]) if done.returncode == 0 else None


def instructions_per_request(command, case):
    """The difference of two runs, so that what happens once does not count."""
    for count, few, many in [(instructions, 1_200, 6_000), (steps, 12, 60)]:
        first, second = count(command, case, few), count(command, case, many)
        if first is not None and second is not None:
            return (second - first) / (many - few)
    return None


def count_instructions(all_parsers, all_cases, keys):
    """Instructions per request by parser and case."""
    found = {}
    with harness.leaving_out("instructions"):
        harness.compile_c(harness.HERE / "Parsers" / "steps.c", "steps")
        readable = {}
        for name, case in keys:
            harness.note(f"instructions: {name} on {case}")
            with harness.leaving_out(f"instructions of {name} on {case}"):
                program, *rest = all_parsers[name]
                if name not in readable:
                    readable[name] = without_debug_information(program)
                found[f"{name} {case}"] = instructions_per_request(
                    [readable[name], *rest], all_cases[case])
    return found


def print_tables(report):
    names, case_names = report["parsers"], report["cases"]
    for key, title, digits in [("nanoseconds", "Nanoseconds", 0),
                               ("instructions", "Instructions", 0),
                               ("ratio", f"Time, ratio to {report['reference']}", 2)]:
        rows = [[name, *(harness.figure(report[key].get(f"{name} {case}"), digits)
                         for case in case_names)] for name in names]
        print(f"\n{title} per request\n\n" + harness.table(["parser", *case_names], rows))


def main():
    options = arguments()
    rounds = options.rounds or (5 if options.quick else 21)
    milliseconds = options.milliseconds or (20 if options.quick else 60)
    all_parsers, all_cases = parsers(options), cases(options)
    externals = [entry.partition("=")[0] for entry in options.external]
    candidates = ["picohttpparser", *externals, "llhttp", *all_parsers]
    reference = options.reference or next(name for name in candidates if name in all_parsers)
    counts = calibrate(all_parsers, all_cases, milliseconds)
    times = measure(all_parsers, all_cases, counts, rounds)
    report = {"kind": "parser", "machine": harness.machine(), "rounds": rounds,
              "parsers": list(all_parsers), "cases": list(all_cases), "reference": reference,
              "nanoseconds": {}, "ratio": {}, "spread": {}, "instructions": {}}
    for (name, case), values in times.items():
        key = f"{name} {case}"
        report["nanoseconds"][key] = harness.median(values)
        report["spread"][key] = harness.spread(values)
        base = times.get((reference, case))
        if base:
            report["ratio"][key] = harness.median([a / b for a, b in zip(values, base)])
    if not options.no_instructions and shutil.which("valgrind"):
        report["instructions"] = count_instructions(all_parsers, all_cases, times)
    print_tables(report)
    path = harness.save("parser", report)
    harness.note(f"\nwritten: {path}")
    plot.render(path)
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
