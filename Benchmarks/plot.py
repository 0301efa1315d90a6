#!/usr/bin/env python3
"""Renders the newest results (or the files named) as SVG bar charts beside them.

`parser.py` and `server.py` do the same at their end. Needs matplotlib; without it there are no
plots, and the tables are all the same.
"""

import argparse
import json
import sys
from pathlib import Path

import harness

try:
    import matplotlib
    matplotlib.use("svg")
    import matplotlib.pyplot as plt
except ImportError:
    plt = None

# Ours in orange, the references in grey, peers in other colours.
COLOURS = {
    "ours": "#e4572e", "borrowed": "#e4572e", "owned": "#f08a5d", "incremental": "#f6b78f",
    "limit": "#7f8c8d", "nginx": "#b0bec5", "llhttp": "#b0bec5", "nio": "#4c78a8",
    "hummingbird": "#72b7b2", "flyingfox": "#c49c6b",
}
OTHER = "#7f8c8d"
BAR = 0.8  # height of a group of bars, of the distance between groups


def newest():
    """The newest report of each kind."""
    found = [sorted(harness.RESULTS.glob(f"{kind}-*.json")) for kind in ["server", "parser"]]
    return [paths[-1] for paths in found if paths]


def grouped_bars(title, axis_title, groups, names, value, path, caption, logarithmic=False):
    """One horizontal group of bars per case or scenario, one bar per server or parser."""
    height = 1.6 + 0.26 * len(groups) * len(names)
    figure, axes = plt.subplots(figsize=(9, height))
    width = BAR / len(names)
    for index, name in enumerate(names):
        values = [value(group, name) for group in groups]
        places = [number + width * (index - (len(names) - 1) / 2) for number in range(len(groups))]
        bars = axes.barh(places, [entry or 0 for entry in values], width * 0.92, label=name,
                         color=COLOURS.get(name, OTHER))
        labels = [harness.figure(entry, 2 if entry and entry < 100 else 0) for entry in values]
        axes.bar_label(bars, labels, padding=3, fontsize=8)
    if logarithmic:
        axes.set_xscale("log")
    axes.set_yticks(range(len(groups)), groups)
    axes.set_ylim(len(groups) - 0.45, -0.55)
    axes.margins(x=0.12)
    axes.set_xlabel(axis_title)
    axes.set_title(title, loc="left", fontweight="bold")
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="x", color="#e6e6e6")
    axes.set_axisbelow(True)
    axes.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    figure.text(0.01, 0.005, caption, fontsize=7, color="#666666")
    figure.tight_layout(rect=(0, 0.02, 1, 1))
    figure.savefig(path, facecolor="white")
    plt.close(figure)
    harness.note(f"written: {path}")


def is_wide(values):
    """Whether a linear axis would hide the small ones."""
    values = [value for value in values if value]
    return bool(values) and max(values) / min(values) > 20


def plot_server(report, path, caption):
    scenarios = {entry["title"]: entry["servers"] for entry in report["scenarios"].values()
                 if "cpu" in next(iter(entry.get("servers", {}).values()), {})}
    if not scenarios:
        return
    for key, title, axis_title in [
        ("cpu", "Server CPU per request", "microseconds of CPU per request (less is better)"),
        ("ratio", "Server CPU, ratio to the C limit", "times the C limit's CPU (less is better)"),
    ]:
        def value(group, name, key=key):
            return scenarios[group].get(name, {}).get(key)

        wide = is_wide([value(group, name) for group in scenarios for name in report["servers"]])
        grouped_bars(title, axis_title + (", logarithmic" if wide else ""), list(scenarios),
                     report["servers"], value, path.with_name(f"{path.stem}-{key}.svg"), caption,
                     wide)


def plot_parser(report, path, caption):
    for key, title, axis_title in [
        ("nanoseconds", "Time per request", "nanoseconds per request (less is better)"),
        ("instructions", "Instructions per request", "instructions per request (less is better)"),
    ]:
        values = report[key]
        if not values:
            continue
        wide = is_wide(values.values())
        grouped_bars(title, axis_title + (", logarithmic" if wide else ""), report["cases"],
                     report["parsers"], lambda case, name, values=values: values.get(
                         f"{name} {case}"), path.with_name(f"{path.stem}-{key}.svg"), caption, wide)


def render(path):
    """Renders one report beside its file."""
    if plt is None:
        harness.note("no plots: matplotlib is not installed")
        return
    report = json.loads(path.read_text())
    machine = report["machine"]
    caption = (f"{machine['processor']}, {machine['cores']} cores, {machine['system']}, "
               f"{machine['swift']}; medians of {report['rounds']} rounds")
    (plot_server if report["kind"] == "server" else plot_parser)(report, path, caption)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("reports", nargs="*", type=Path, help="JSON files of results/")
    for path in parser.parse_args().reports or newest():
        render(path)


if __name__ == "__main__":
    sys.exit(main())
