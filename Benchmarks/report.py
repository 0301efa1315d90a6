#!/usr/bin/env python3
"""Writes the figures of README.md and Docs/Benchmarks.md out of measured results.

    Benchmarks/report.py [FILE...]    takes the newest result of each kind, or the files named, keeps
                                      its medians in shown/, and writes tables, text and plot
    Benchmarks/report.py --check      fails when a page differs from what shown/ says

In the pages a part between `<!-- measured: NAME -->` and `<!-- end -->` is written by this script
and by nothing else, and so is a cell between `<!--= KIND/ROW/NAME/FIGURE -->` and `<!--/-->`. A result that lacks a server or a client of the one that is shown is not taken;
`--fewer` takes it.
"""

import json
import re
import sys
import time
from pathlib import Path

import harness

ROOT = harness.HERE.parent
SHOWN = harness.HERE / "shown"
PLOT = ROOT / "Docs" / "Images" / "benchmark-server.svg"
PAGES = [ROOT / "README.md", ROOT / "Docs" / "Benchmarks.md"]

TITLES = {
    "limit": "C limit", "ours": "ours", "nginx": "nginx", "nio": "SwiftNIO",
    "hummingbird": "Hummingbird", "flyingfox": "FlyingFox", "borrowed": "ours, borrowed head",
    "owned": "ours, owned head", "incremental": "ours, incremental events",
    "llhttp": "llhttp", "picohttpparser": "picohttpparser", "libcurl": "libcurl",
    "ahc": "async-http-client", "urlsession": "URLSession",
}
NEEDED = {"server": {"limit", "nginx", "ours"}, "client": {"libcurl", "ours"},
          "parser": {"borrowed", "owned"}}
# Servers of another checkout or with other handlers, which no page shows.
PRIVATE = {"base", "bare", "dressed"}
# The rows of the plot: as many as fit beside a page of text.
PLOTTED = ["hello, 64 connections", "1 KiB file, 64 connections", "100 KiB file, 64 connections"]
CLIENT_TITLES = {"sequential": "GETs one after the other", "concurrent": "64 at once",
                 "download": "1 GiB download", "slow": "the same by a slow reader",
                 "upload": "1 GiB upload from a file"}


def title(name):
    return TITLES.get(name, name)


# --- from results to what is shown ------------------------------------------------------------------


def kind_of(report):
    return report.get("kind", "client")


def names_of(report):
    """The servers, clients or parsers of a report, in its order."""
    kind = kind_of(report)
    if kind == "parser":
        return report["parsers"]
    rows = report["scenarios"].values()
    cells = [row.get("servers", {}) if kind == "server" else row for row in rows]
    found = dict.fromkeys(name for cell in cells for name in cell)
    return [name for name in found if name not in PRIVATE]


def condensed_server(report):
    rows = [{"title": row["title"], "cells": {
        name: {key: cell.get(key) for key in ("cpu", "ratio", "spread", "errors")}
        for name, cell in row["servers"].items() if name not in PRIVATE}}
        for row in report["scenarios"].values()
        if "cpu" in row.get("servers", {}).get("ours", {}) and "limit" in row["servers"]]
    scenarios = report["scenarios"]
    return {"rows": rows, "idle": scenarios.get("idle", {}).get("bytes", {}),
            "allocations": {name: {path: count["count"] for path, count in paths.items()}
                            for name, paths in scenarios.get("allocations", {}).get(
                                "servers", {}).items() if name not in PRIVATE}}


def condensed_client(report):
    rows = []
    for scenario, samples in report["scenarios"].items():
        cells = {}
        for name in [name for name in samples if samples[name] and name not in PRIVATE]:
            values = samples[name]
            cell = {key: harness.median([one[key] for one in values])
                    for key in ("wall", "cpu", "peak")}
            cell["spread"] = harness.spread([one["wall"] for one in values])
            pairs = list(zip(samples.get("libcurl", []), values))
            cell["ratio"] = harness.median([mine["cpu"] / theirs["cpu"] for theirs, mine in pairs])
            cells[name] = cell
        rows.append({"title": CLIENT_TITLES[scenario], "scenario": scenario, "cells": cells})
    return {"rows": rows}


def condensed_parser(report):
    return {key: report[key] for key in
            ("cases", "parsers", "reference", "nanoseconds", "ratio", "spread", "instructions")}


def condensed(report):
    kind = kind_of(report)
    take = {"server": condensed_server, "client": condensed_client, "parser": condensed_parser}[kind]
    return {"kind": kind, "date": report.get("date", time.strftime("%Y-%m-%d")),
            "machine": report["machine"], "rounds": report["rounds"],
            "versions": report.get("versions", {}), "left_out": report.get("left_out", {}), "note": report.get("note", ""),
            "names": names_of(report), **take(report)}


def shown(kind):
    path = SHOWN / f"{kind}.json"
    return json.loads(path.read_text()) if path.exists() else None


def keep(path, takes_fewer):
    """Keeps a result, unless it has less than the one that is shown."""
    report = json.loads(path.read_text())
    kind = kind_of(report)
    if kind not in NEEDED:
        return
    missing = NEEDED[kind] - set(names_of(report))
    if not takes_fewer:
        missing |= set((shown(kind) or {"names": []})["names"]) - set(names_of(report))
    if missing:
        harness.note(f"{path.name}: not taken, it lacks {', '.join(sorted(missing))}")
        return
    SHOWN.mkdir(exist_ok=True)
    (SHOWN / f"{kind}.json").write_text(json.dumps(condensed(report), indent=1) + "\n")
    harness.note(f"{path.name}: shown")


def newest():
    """The newest result of each kind that has what is needed."""
    for kind, needed in NEEDED.items():
        for path in sorted(harness.RESULTS.glob(f"{kind}-*.json"), reverse=True):
            if needed <= set(names_of(json.loads(path.read_text()))):
                yield path
                break


# --- texts ------------------------------------------------------------------------------------------


def figure(value):
    """A figure with three digits, or as many as stand before its point."""
    return harness.figure(value, 2 if value < 10 else 1 if value < 100 else 0)


def with_spread(value, spread):
    """A figure, and how far the middle half of its samples lies around it."""
    text = figure(value)
    return text if spread is None else f"{text} ± {spread * 100:.0f} %"


def caption(report):
    """How the figures were taken."""
    machine = report["machine"]
    versions = [re.sub(r"^nginx version: nginx/", "nginx ", version).split(" Copyright")[0]
                for version in report["versions"].values() if version]
    facts = [machine["processor"], f"{machine['cores']} cores", machine["system"],
             re.sub(r"^(?:Apple )?Swift version (\S+).*", r"Swift \1", machine["swift"]), *versions]
    note = f" {report['note']}" if report.get("note") else ""
    return f"{report['date']}, {report['rounds']} rounds: {', '.join(facts)}.{note}"


def left_out(report):
    """A line for each that was not measured, with the reason."""
    return [f"- Not measured: {title(name)}, {reason}." for name, reason in
            report["left_out"].items()]


def behind(rows, key, others):
    """A sentence for each of the others that is ahead of ours anywhere."""
    lines = []
    for other in others:
        cases = []
        for row in rows:
            mine, theirs = (row["cells"].get(name, {}).get(key) for name in ("ours", other))
            if mine and theirs and theirs < mine:
                cases.append(f"{row['title']} ({theirs:,.2f}, ours {mine:,.2f})")
        if cases:
            lines.append(f"- {title(other)} is ahead in: {'; '.join(cases)}.")
    return lines


def server_text(report):
    names = report["names"]
    peers = [name for name in names if name not in ("limit", "ours")]
    rows = []
    for row in report["rows"]:
        cells = row["cells"]
        ours = cells["ours"]
        rows.append([row["title"], figure(cells["limit"]["cpu"]), figure(ours["cpu"]),
                     with_spread(ours["ratio"], ours["spread"]),
                     *(figure(cells[name]["ratio"]) if name in cells else "not measured"
                       for name in peers)])
    text = [caption(report), "", harness.table(
        ["scenario", "C limit, µs", "ours, µs", "ours", *map(title, peers)], rows), ""]
    text += behind(report["rows"], "ratio", peers) + left_out(report)
    if report["idle"]:
        costs = ", ".join(f"{title(name)} {cost:,.0f}" for name, cost in report["idle"].items())
        text += ["", f"Bytes of memory for an idle persistent connection: {costs}."]
    if report["allocations"]:
        text += ["", "Heap allocations per request:", "", harness.table(
            ["", "hello", "async handler", "1 KiB file"],
            [[title(name), *(harness.figure(paths[path], 1) for path in ("/", "/async", "/1k"))]
             for name, paths in report["allocations"].items()])]
    return text


def parser_text(report):
    cases = report["cases"]
    columns = [(key, unit, case) for key, unit in (("nanoseconds", "ns"), ("instructions", "instr."))
               for case in cases
               if any(report[key].get(f"{name} {case}") for name in report["parsers"])]

    def cell(name, key, case):
        value = report[key].get(f"{name} {case}")
        noise = report["spread"].get(f"{name} {case}") if key == "nanoseconds" else None
        return "cannot" if value is None else with_spread(value, noise)

    rows = [[title(name), *(cell(name, key, case) for key, _, case in columns)]
            for name in report["parsers"]]
    headings = ["parser", *(f"{case}, {unit}" for _, unit, case in columns)]
    ratios = {name: [(case, report["ratio"].get(f"{name} {case}")) for case in cases]
              for name in ("borrowed", "owned")}
    text = [caption(report), "", harness.table(headings, rows), ""]
    for name, found in ratios.items():
        known = [f"{value:.2f} ({case})" for case, value in found if value]
        text.append(f"- Time of {title(name)} as a ratio to {title(report['reference'])}: "
                    f"{', '.join(known)}.")
        slower = [case for case, value in found if value and value > 1]
        if slower:
            text.append(f"- {title(report['reference'])} is ahead of {title(name)} in: "
                        f"{', '.join(slower)}.")
    return text + left_out(report)


def client_text(report):
    names, rows = report["names"], []
    for row in report["rows"]:
        cells, counts = row["cells"], row["scenario"] in ("sequential", "concurrent")
        speed, unit = (1, "requests a second") if counts else (1024, "MiB/s")
        seconds = "µs" if counts else "s"
        for key, heading in (("wall", unit), ("cpu", f"processor time, {seconds}"),
                             ("peak", "peak of memory, MiB")):
            measured = [cell for cell in cells.values() if cell.get(key) is not None]
            if not measured or key == "peak" and counts:
                continue

            def cell(name, key=key, cells=cells, speed=speed, counts=counts):
                value = cells.get(name)
                if value is None or value.get(key) is None:
                    return "not measured"
                if key == "wall":
                    return with_spread(speed / value["wall"], value["spread"])
                return figure(value[key] / (1024 if key == "peak" else 1 if counts else 1e6))

            rows.append([f"{row['title']}: {heading}", *map(cell, names)])
    text = [caption(report), "", harness.table(["", *map(title, names)], rows), ""]
    for key, what in (("wall", "time"), ("cpu", "processor time")):
        for line in behind(report["rows"], key, [name for name in names if name != "ours"]):
            other, cases = line[2:].split(" is ahead in: ")
            text.append(f"- {other} takes less {what} in: "
                        + re.sub(r" \([^)]*\)", "", cases))
    return text + left_out(report)


def summary_text():
    """README's paragraph: the most telling figures, with those where ours is behind."""
    server, parser, client = (shown(kind) for kind in ("server", "parser", "client"))
    parts = []
    if server:
        rows = {row["title"]: row["cells"] for row in server["rows"]}
        figures = [f"{name.split(',')[0]} {rows[name]['ours']['ratio']:.2f} (nginx "
                   f"{rows[name]['nginx']['ratio']:.2f})" for name in PLOTTED if name in rows]
        parts.append("Processor time per request, as ratio to a C program that writes a constant "
                     f"answer, on 64 connections: {', '.join(figures)}.")
    if parser and parser["reference"] == "picohttpparser":
        ratio = parser["ratio"]
        parts.append(f"Parsing a head takes {ratio['borrowed mixed']:.2f} of the time of "
                     f"picohttpparser, {ratio['owned mixed']:.2f} when the head is kept.")
    if client:
        cells = next(row["cells"] for row in client["rows"] if row["scenario"] == "sequential")
        parts.append(f"A request of the client takes {cells['ours']['ratio']:.2f} times the "
                     "processor time of a C program on libcurl"
                     + (f", {cells['ours']['cpu'] / cells['ahc']['cpu']:.2f} of async-http-client's"
                        if "ahc" in cells else "") + ".")
    return wrapped(" ".join(parts))


def wrapped(text, width=104):
    lines, line = [], ""
    for word in text.split():
        if len(line) + len(word) + 1 > width and line:
            lines.append(line)
            line = ""
        line = f"{line} {word}".strip()
    return lines + [line]


# --- the plot ----------------------------------------------------------------------------------------

COLOURS = {"limit": "#8a949b", "ours": "#d9480f", "nginx": "#2b8a3e"}


def plot():
    """Bars of the ratios to the limit, as SVG that reads well on light and dark pages."""
    report = shown("server")
    rows = {row["title"]: row["cells"] for row in report["rows"]}
    bars, place, left, width = [], 34, 150, 460
    groups = [name for name in PLOTTED if name in rows]
    longest = max(cell["ratio"] for name in groups for cell in rows[name].values())

    def text(x, y, words, size=12, extra=""):
        bars.append(f'<text x="{x}" y="{y}" font-size="{size}" {extra}>{words}</text>')

    text(12, 20, "Server processor time per request, as ratio to a C program (less is better)", 13,
         'font-weight="bold"')
    for group in groups:
        place += 14
        text(12, place, group, 12, 'font-weight="bold"')
        place += 6
        for name in [name for name in report["names"] if name in rows[group]]:
            ratio = rows[group][name]["ratio"]
            # The square root keeps a bar of 70 beside one of 1.2 on the page.
            length = round(width * (ratio / longest) ** 0.5, 1)
            text(left - 8, place + 12, title(name), 12, 'text-anchor="end"')
            bars.append(f'<rect x="{left}" y="{place + 2}" width="{length}" height="12" rx="2" '
                        f'fill="{COLOURS.get(name, "#4c6ef5")}"/>')
            text(round(left + length + 6, 1), place + 12, figure(ratio))
            place += 17
    for line in wrapped(caption(report) + " Bars grow with the square root.", 120):
        place += 13
        text(12, place + 6, line, 9)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 680 {place + 28}" '
            'font-family="system-ui, sans-serif"><style>text{fill:#495057}'
            "@media(prefers-color-scheme:dark){text{fill:#ced4da}}</style>\n"
            + "\n".join(bars) + "\n</svg>\n")


# --- the pages ---------------------------------------------------------------------------------------


def parts():
    """The text of each part for which there are figures."""
    texts = {"server": server_text, "parser": parser_text, "client": client_text}
    found = {kind: text(shown(kind)) for kind, text in texts.items() if shown(kind)}
    if found:
        found["summary"] = summary_text()
    return found


def page_with(path, texts):
    """The page with each of its parts written again."""
    def part(match):
        lines = texts.get(match.group(2))
        if lines is None:
            return match.group(0)
        return match.group(1) + "\n" + "\n".join(lines) + "\n\n" + match.group(3)

    text = re.sub(r"(<!-- measured: (\w+) -->\n).*?(<!-- end -->)", part, path.read_text(),
                  flags=re.DOTALL)
    return re.sub(r"(<!--= (.*?) -->).*?(<!--/-->)",
                  lambda match: match.group(1) + cell_text(match.group(2)) + match.group(3), text)


def cell_text(place):
    """One figure: `server/hello, 64 connections/ours/ratio`."""
    kind, row, name, key = place.split("/")
    cells = next((entry["cells"] for entry in shown(kind)["rows"]
                  if row in (entry["title"], entry.get("scenario"))), {})
    value = cells.get(name, {}).get(key)
    if value is None:
        return "not measured"
    return figure(1 / value if key == "wall" else value / 1024 if key == "peak" else value)


def outputs():
    texts = parts()
    found = {path: page_with(path, texts) for path in PAGES}
    if shown("server"):
        found[PLOT] = plot()
    return found


def main(arguments):
    if arguments == ["--check"]:
        stale = [path for path, text in outputs().items()
                 if not path.exists() or path.read_text() != text]
        for path in stale:
            print(f"{path.relative_to(ROOT)}: its figures are not those of Benchmarks/shown; "
                  "run Benchmarks/report.py")
        return 1 if stale else 0
    files = [Path(path) for path in arguments if not path.startswith("-")]
    for path in files or newest():
        keep(path, "--fewer" in arguments)
    for path, text in outputs().items():
        path.write_text(text)
        harness.note(f"written: {path.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
