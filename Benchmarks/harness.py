"""What the benchmark scripts share: building, the machine's description, turns, medians, tables."""

import contextlib
import json
import os
import platform
import shlex
import statistics
import subprocess
import sys
import time
import traceback
from pathlib import Path

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results"
TOOLS = HERE / ".build" / "c"
CHECKOUTS = HERE / ".build" / "checkouts"
# Another checkout of this package, built before, which is measured as `base` in the same run.
BASE = Path(os.environ["BENCH_BASE"]).resolve() if os.environ.get("BENCH_BASE") else None


def note(text):
    """Tells what is going on, beside the tables on standard output."""
    print(text, file=sys.stderr, flush=True)


# What a run leaves out, and why; the report says so.
LEFT_OUT = {}


def leave_out(name, reason):
    """Tells that something is not measured."""
    LEFT_OUT.setdefault(name, reason)
    note(f"  left out: {name}: {reason}")


# How a program under comparison may fail, which is no fault of the run.
PROGRAM_ERRORS = (RuntimeError, OSError, subprocess.TimeoutExpired)
# The parts of a run that failed in another way. Such a run ends with 1.
FAULTS = []


@contextlib.contextmanager
def leaving_out(name, *expected):
    """Leaves out a part of the run that fails, so that the samples of the others are kept. An error
    that is not expected is a fault."""
    try:
        yield
    except expected as error:
        leave_out(name, f"which failed: {error}")
    except Exception as error:
        traceback.print_exc()
        leave_out(name, f"which failed: {type(error).__name__}: {error}")
        FAULTS.append(name)


def status():
    """The exit status of a run."""
    return 1 if FAULTS else 0


def take_turns(names, rounds, take, title, expected=(), warms_up=False):
    """Samples by name, taken in turns, round after round; a name that fails is left out.

    :param take: gives the sample of a name in a round. Round 0, which warms up, does not count.
    :param title: gives the words of the report for a name.
    """
    samples = {name: [] for name in names}
    for turn, number in enumerate(range(0 if warms_up else 1, rounds + 1)):
        note(f"  round {number} of {rounds}" if number else "  warming up")
        order = list(names)
        # The first one of a round finds the caches cold.
        first = turn % max(len(order), 1)
        for name in order[first:] + order[:first]:
            if name not in samples:
                continue
            with leaving_out(title(name), *expected):
                sample = take(name, number)
                if number > 0:
                    samples[name].append(sample)
                continue
            # Only an error leads here.
            del samples[name]
    return samples


def output_of(*command):
    """The first line of what a command prints, or an empty string."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return (done.stdout + done.stderr).strip().split("\n")[0]


def compile_c(source, name, *flags):
    """Compiles one C program or library of ours; returns its path."""
    TOOLS.mkdir(parents=True, exist_ok=True)
    target = TOOLS / name
    command = [*shlex.split(os.environ.get("CC", "cc")), "-O3", "-o", target, source, *flags]
    subprocess.run(command, check=True)
    return target


def build_product(name, package=HERE, flags=()):
    """Builds one product of Benchmarks/Package.swift, or of another package, in release mode;
    returns its path."""
    note(f"building {name}")
    command = ["swift", "build", "-c", "release", "--package-path", str(package), *flags]
    subprocess.run([*command, "--product", name], check=True, stdout=sys.stderr)
    return built_product(name, package)


def release_flags():
    """How `make build` has httpkit built."""
    return output_of(str(HERE.parent / "Scripts" / "release-flags")).split()


def built_product(name, package=HERE):
    """The path of a product that was built before."""
    return package / ".build" / "release" / name


def machine():
    """What a reader needs to place the figures."""
    model = ""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next((l.split(":")[1].strip() for l in lines if l.startswith("model name")), "")
    except OSError:
        pass
    return {
        "processor": model or platform.processor(),
        "cores": os.cpu_count(),
        "system": f"{platform.system()} {platform.release()}",
        "compiler": output_of("cc", "--version"),
        "swift": output_of("swift", "--version"),
    }


def package_versions(**packages):
    """The versions of packages that the peers are built from, by the names of the peers."""
    try:
        state = json.loads((HERE / ".build" / "workspace-state.json").read_text())
        found = {entry["packageRef"]["identity"]: entry["state"]["checkoutState"].get("version")
                 for entry in state["object"]["dependencies"] if "checkoutState" in entry["state"]}
    except (OSError, KeyError, ValueError):
        return {}
    return {name: found.get(package) for name, package in packages.items()}


def median(values):
    """The median, or None without values."""
    values = [value for value in values if value is not None]
    return statistics.median(values) if values else None


def ratio(samples, name, other, key):
    """The median of the ratios within each round."""
    pairs = zip(samples.get(name, []), samples.get(other, []))
    return median([mine[key] / theirs[key] for mine, theirs in pairs if theirs[key]])


def standard_error(values):
    """Of the mean of values; `None` for one value."""
    return statistics.stdev(values) / len(values) ** 0.5 if len(values) > 1 else None


def spread(values):
    """Half the range of the middle half as a fraction of the median: how far to trust it."""
    if len(values) < 4 or not statistics.median(values):
        return None
    low, middle, high = statistics.quantiles(values, n=4)
    return (high - low) / 2 / middle


def table(headings, rows):
    """A markdown table, first column to the left, the others to the right."""
    lines = ["| " + " | ".join(headings) + " |", "|---" + "|---:" * (len(headings) - 1) + "|"]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines)


def figure(value, digits=2):
    """A number for a table; a dash for what was not measured."""
    return "–" if value is None else f"{value:,.{digits}f}"


def save(kind, report):
    """Writes a report under results/ and returns its path."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{kind}-{time.strftime('%Y%m%d-%H%M%S')}.json"
    report = {"date": time.strftime("%Y-%m-%d"), "left_out": LEFT_OUT, "faults": FAULTS,
              **report}
    path.write_text(json.dumps(report, indent=1) + "\n")
    return path
