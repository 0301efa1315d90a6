#!/usr/bin/env python3
"""Writes the figures of README.md and Docs/Benchmarks.md out of measured results.

    Benchmarks/report.py [FILE...]    takes the newest result of each kind, or the files named, keeps
                                      its medians in shown/, and writes tables, text and plot
    Benchmarks/report.py --check      fails when a page differs from what shown/ says

In the pages a part between `<!-- measured: NAME -->` and `<!-- end -->` is written by this script
and by nothing else, and so is a cell between `<!--= KIND/ROW/NAME/FIGURE -->` and `<!--/-->`. A
result that lacks a row, a server or a client of the one that is shown is not taken; `--fewer` takes
it. The same holds for a result of a run that had a fault.
"""

import json
import re
import sys
from pathlib import Path

import harness
from reporting import files, held, http
from reporting.words import PRIVATE, caption, figure, title, wrapped

ROOT = harness.HERE.parent
SHOWN = harness.HERE / "shown"
PLOT = ROOT / "Docs" / "Images" / "benchmark-server.svg"
PAGES = [ROOT / "README.md", ROOT / "Docs" / "Benchmarks.md"]


class Kind:
    """A kind of result: what it must have, what is kept of it, and the parts of pages it fills."""

    def __init__(self, needed, condensed, **texts):
        self.needed, self.condensed, self.texts = set(needed), condensed, texts


KINDS = {
    "server": Kind(["limit", "nginx", "ours"], http.condensed_server, server=http.server_text,
                   files=http.files_text, tls=http.tls_text, json=http.json_text),
    "client": Kind(["libcurl", "ours"], http.condensed_client, client=http.client_text),
    "parser": Kind(["borrowed", "owned"], http.condensed_parser, parser=http.parser_text),
    "webdav": Kind(["ours", "apache", "nginx"], files.condensed_webdav, webdav=files.webdav_text),
    "uploads": Kind([], files.condensed_uploads, uploads=files.uploads_text),
    "holding": Kind(["ours", "nginx"], held.condensed_holding, holding=held.holding_text),
    "content": Kind([], held.condensed_content, content=held.content_text),
}
# The rows of the plot: as many as fit beside a page of text.
PLOTTED = ["hello, 64 connections", "1 KiB file, 64 connections", "100 KiB file, 64 connections"]


# --- from results to what is shown ------------------------------------------------------------------


def names_of(report):
    """The servers, clients or parsers of a report, in its order."""
    kind = report["kind"]
    if kind == "parser":
        return report["parsers"]
    if kind in ("uploads", "content"):
        return []
    rows = (report["figures"] if kind == "holding" else report["scenarios"]).values()
    cells = [row.get("servers", {}) if kind == "server" else row for row in rows]
    found = dict.fromkeys(name for cell in cells for name in cell)
    return [name for name in found if name not in PRIVATE]


def condensed(report):
    return {"kind": report["kind"], "date": report["date"], "machine": report["machine"],
            "rounds": report["rounds"], "versions": report.get("versions", {}),
            "left_out": report.get("left_out", {}), "note": report.get("note", ""),
            "names": names_of(report), **KINDS[report["kind"]].condensed(report)}


def shown(kind):
    path = SHOWN / f"{kind}.json"
    return json.loads(path.read_text()) if path.exists() else None


def rows_of(kept):
    """What identifies each row of a result that is kept."""
    rows = kept.get("rows", kept.get("instructions", []))
    if isinstance(rows, dict):
        return set(rows)
    return {row.get("scenario") or row["title"] for row in rows}


def keep(path, takes_fewer):
    """Keeps a result, unless it has less than the one that is shown.
    :returns: whether it was kept."""
    report = json.loads(path.read_text())
    kind = report.get("kind")
    if kind not in KINDS:
        harness.note(f"{path.name}: not taken, its kind is not known")
        return False
    kept, old = condensed(report), shown(kind) or {"names": []}
    missing = KINDS[kind].needed - set(kept["names"])
    if not takes_fewer:
        missing |= set(old["names"]) - set(kept["names"])
        missing |= rows_of(old) - rows_of(kept)
        missing |= set(report.get("faults", []))
    if missing:
        harness.note(f"{path.name}: not taken, it lacks {', '.join(sorted(missing))}")
        return False
    SHOWN.mkdir(exist_ok=True)
    (SHOWN / f"{kind}.json").write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n")
    harness.note(f"{path.name}: shown")
    return True


def keep_newest(takes_fewer):
    """Keeps the newest result of each kind that can be kept."""
    for kind in KINDS:
        for path in sorted(harness.RESULTS.glob(f"{kind}-*.json"), reverse=True):
            if keep(path, takes_fewer):
                break


# --- README's paragraph -----------------------------------------------------------------------------


def summary_text():
    """The most telling figures, with those where ours is behind."""
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
    found = {part: text(shown(name)) for name, kind in KINDS.items() if shown(name)
             for part, text in kind.texts.items()}
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
    named = [Path(path) for path in arguments if not path.startswith("-")]
    if {path for path in arguments if path.startswith("-")} - {"--fewer"}:
        print(__doc__, file=sys.stderr)
        return 64
    kept = [keep(path, "--fewer" in arguments) for path in named]
    if not named:
        keep_newest("--fewer" in arguments)
    for path, text in outputs().items():
        path.write_text(text)
        harness.note(f"written: {path.relative_to(ROOT)}")
    return 0 if all(kept) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
