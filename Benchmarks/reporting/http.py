"""Server, parser and client."""

import harness

from reporting.words import (
    PRIVATE, at_most, behind, caption, figure, goals, left_out, title, why_not, with_spread)

POSTS = ["post-note", "post-order", "post-order-read"]
CONTENT = ["json", "json-gzip", "json-uncached"]
DRESSED = "dressed-64"
ECHO, ECHO_GOAL = "echo-64", 1.3


# --- the server --------------------------------------------------------------------------------------


def condensed_server(report):
    """The medians of all scenarios."""
    def cells(row):
        return {name: {key: cell.get(key) for key in
                       ("cpu", "ratio", "error", "spread", "errors", "beside_hello")}
                for name, cell in row["servers"].items() if name != "base"}

    scenarios = report["scenarios"]
    counts = scenarios.get("allocations", {}).get("servers", {})
    return {
        "rows": [{"scenario": name, "title": row["title"], "cells": cells(row)}
                 for name, row in scenarios.items() if name not in ("idle", "allocations")],
        "idle": scenarios.get("idle", {}).get("bytes", {}),
        "allocations": {name: {path: count["count"] for path, count in paths.items()}
                        for name, paths in counts.items() if name not in PRIVATE}}


def general_rows(report):
    """The rows of the large table: those that the C limit takes part in, without TLS and JSON."""
    return [row for row in report["rows"] if "limit" in row["cells"]
            and not row.get("scenario", "").startswith(("tls-", "post-"))]


def rows_named(report, names):
    found = {row.get("scenario"): row for row in report["rows"]}
    return [found[name] for name in names if name in found]


def server_text(report):
    rows = general_rows(report)
    peers = [name for name in report["names"] if name not in ("limit", "ours")]
    lines = []
    for row in rows:
        cells = row["cells"]
        ours = cells["ours"]
        lines.append([row["title"], figure(cells["limit"]["cpu"]), figure(ours["cpu"]),
                      with_spread(ours["ratio"], ours["spread"]),
                      *(figure(cells.get(name, {}).get("ratio")) for name in peers)])
    text = [caption(report), "", harness.table(
        ["scenario", "C limit, µs", "ours, µs", "ours", *map(title, peers)], lines), ""]
    text += behind(rows, "ratio", peers) + left_out(report)
    text += [f"- wrk counted {cell['errors']:,.0f} errors of {title(name)} in a second of: "
             f"{row['title']}." for row in rows for name, cell in row["cells"].items()
             if cell.get("errors")]
    for row in rows_named(report, [DRESSED]):
        cell = row["cells"]["dressed"]
        text.append(f"- {row['title']}: {with_spread(cell['ratio'], cell['spread'])} of the time "
                    "of the handler alone.")
    for row in rows_named(report, [ECHO]):
        ours = row["cells"]["ours"]
        ratio = beside_hello(report, ours)
        text.append(f"- {row['title']}: {figure(ours['cpu'])} µs, {figure(ratio)} of our hello, "
                    f"at most {ECHO_GOAL}: {'met' if ratio and ratio <= ECHO_GOAL else '**missed**'}.")
    if report["idle"]:
        costs = ", ".join(f"{title(name)} {cost:,.0f}" for name, cost in report["idle"].items())
        text += ["", f"Bytes of memory for an idle persistent connection: {costs}."]
    if report["allocations"]:
        text += ["", "Heap allocations per request:", "", harness.table(
            ["", "hello", "async handler", "1 KiB file"],
            [[title(name), *(harness.figure(paths[path], 1) for path in ("/", "/async", "/1k"))]
             for name, paths in report["allocations"].items()])]
    return text


# Files, as ratios to nginx: its name, ours, and the goal.
FILE_GOALS = {"nginx-100k": ("nginx-keeping", "ours", 1.1),
              "nginx-1m": ("nginx-keeping", "ours", 1.2),
              "nginx-served": ("nginx", "served", 0.9)}


def files_text(report):
    lines = []
    for row in rows_named(report, FILE_GOALS):
        name, ours, goal = FILE_GOALS[row["scenario"]]
        nginx, ours = row["cells"][name], row["cells"][ours]
        lines.append([row["title"].removeprefix("beside nginx: "), figure(nginx["cpu"]),
                      figure(ours["cpu"]), with_error(ours["ratio"], ours.get("error")),
                      judged(ours["ratio"], goal)])
    return [caption(report), "", harness.table(
        ["scenario", "nginx, µs", "ours, µs", "ours / nginx", "goal"], lines)]


# The goals of the design for TLS, as ratios to nginx.
TLS_GOALS = {"tls-hello-64": 0.80, "tls-100k": 0.70, "tls-1m": 0.85, "tls-handshake": 0.90,
             "tls-handshake-full": 0.90}


# Gaps of tables, with their reasons.
TLS_GAPS = [("limit", "file", "it is a program of one short answer")]
JSON_GAPS = [("nginx", "gzip, repeated", "it compresses each answer again, as in the next row")]
READ_GAPS = [(name, "`JSONReadable`", "a protocol of this toolkit")
             for name in ("limit", "nio", "hummingbird", "flyingfox")]


def with_error(ratio, error):
    return figure(ratio) if error is None else f"{ratio:.2f} ± {error:.3f}"


def judged(ratio, goal):
    return f"{goal:.2f}, " + ("met" if ratio <= goal else "**missed**")


def tls_text(report):
    rows = [row for row in report["rows"] if row.get("scenario", "").startswith("tls-")]
    lines = []
    for row in rows:
        cells, goal = row["cells"], TLS_GOALS.get(row["scenario"])
        ours = cells["ours"]
        lines.append([row["title"].removeprefix("TLS: "), figure(cells["nginx"]["cpu"]),
                      figure(ours["cpu"]), with_error(ours["ratio"], ours.get("error")),
                      figure(cells.get("limit", {}).get("ratio")),
                      "" if goal is None else judged(ours["ratio"], goal)])
    return [caption(report), "", harness.table(
        ["scenario", "nginx, µs", "ours, µs", "ours / nginx", "C limit / nginx", "goal"], lines),
        "", *why_not(TLS_GAPS, lines)]


def beside_hello(report, ours):
    """Our cost as a ratio to our hello, measured in the same turns where that was done."""
    hello = rows_named(report, ["hello-64"])
    if ours.get("beside_hello") or not (hello and ours):
        return ours.get("beside_hello")
    return ours["cpu"] / hello[0]["cells"]["ours"]["cpu"]


def content_rows(report, names, servers):
    return [[row["title"], *(with_spread(row["cells"].get(name, {}).get("cpu"),
                                         row["cells"].get(name, {}).get("spread"))
                             for name in servers)] for row in rows_named(report, names)]


def json_text(report):
    """JSON that is sent, and JSON that is decoded."""
    posters = [name for name in ("limit", "ours", "nio", "hummingbird", "flyingfox")
               if name in report["names"]]
    rows, judged = [], []
    for row, cells in zip(rows_named(report, ["hello-64", *POSTS]), content_rows(
            report, ["hello-64", *POSTS], posters)):
        ratio = beside_hello(report, row["cells"].get("ours", {}))
        rows.append([*cells, figure(ratio)])
        judged += at_most(f"{row['title']}, as a ratio to hello", ratio, 1.6)
    content = content_rows(report, CONTENT, ["ours", "nginx"])
    return [caption(report), "", harness.table(["µs of processor time", "ours", "nginx"], content),
        "", *why_not(JSON_GAPS, content), "", harness.table(
            ["µs of processor time", *map(title, posters), "ours / its hello"], rows),
        "", *why_not(READ_GAPS, rows), "", goals(judged[1:])]


# --- the parser --------------------------------------------------------------------------------------


def condensed_parser(report):
    return {key: report[key] for key in
            ("cases", "parsers", "reference", "nanoseconds", "ratio", "spread", "instructions")}


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


# --- the client --------------------------------------------------------------------------------------

CLIENT_TITLES = {"sequential": "GETs one after the other", "concurrent": "64 at once",
                 "download": "1 GiB download", "slow": "the same by a slow reader",
                 "upload": "1 GiB upload from a file"}


def condensed_client(report):
    rows = []
    for scenario, samples in report["scenarios"].items():
        cells = {}
        for name in [name for name in samples if samples[name] and name not in PRIVATE]:
            values = samples[name]
            cell = {key: harness.median([one[key] for one in values])
                    for key in ("wall", "cpu", "peak")}
            cell["spread"] = harness.spread([one["wall"] for one in values])
            cell["cpu_spread"] = harness.spread([one["cpu"] for one in values])
            for key, to in (("ratio", "cpu"), ("wall_ratio", "wall")):
                pairs = zip(samples.get("libcurl", []), values)
                cell[key] = harness.median([mine[to] / theirs[to] for theirs, mine in pairs])
            cells[name] = cell
        rows.append({"title": CLIENT_TITLES[scenario], "scenario": scenario, "cells": cells})
    return {"rows": rows}


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
                if key == "peak":
                    return figure(value[key] / 1024)
                return with_spread(value[key] / (1 if counts else 1e6), value.get("cpu_spread"))

            rows.append([f"{row['title']}: {heading}", *map(cell, names)])
    text = [caption(report), "", harness.table(["", *map(title, names)], rows), ""]
    for key, what in (("wall", "time"), ("cpu", "processor time")):
        for line in behind(report["rows"], key, [name for name in names if name not in ("ours", "brief")]):
            other, cases = line[2:].split(" is ahead in: ")
            # The table above has the figures.
            words = [case.rpartition(" (")[0] for case in cases.rstrip(".").split("; ")]
            text.append(f"- {other} takes less {what} in: {'; '.join(words)}.")
    return text + left_out(report) + ["", client_goals(report)]


def client_goals(report):
    cells = {row["scenario"]: row["cells"] for row in report["rows"]}

    def over(scenario, name, other, key):
        mine, theirs = (cells.get(scenario, {}).get(one, {}).get(key) for one in (name, other))
        return mine / theirs if mine and theirs else None

    def at_least(words, value, least):
        return [] if value is None else [(f"{words}, at least {least:g}", figure(value),
                                          value >= least)]

    one, many, download = "sequential", "concurrent", "download"
    rows = at_least("one after the other, speed as a ratio to async-http-client",
                    over(one, "ahc", "ours", "wall"), 1.3)
    rows += at_least("the same to URLSession", over(one, "urlsession", "ours", "wall"), 3)
    rows += at_least("64 at once, speed as a ratio to async-http-client",
                     over(many, "ahc", "ours", "wall"), 1)
    rows += at_most("its processor time", over(many, "ours", "ahc", "cpu"), 1)
    rows += at_least("64 at once, speed as a ratio to URLSession",
                     over(many, "urlsession", "ours", "wall"), 8)
    rows += at_most("processor time of a request as a ratio to libcurl, one after the other",
                    cells.get(one, {}).get("ours", {}).get("ratio"), 1.6)
    rows += at_most("the same with a brief wait", cells.get(one, {}).get("brief", {}).get("ratio"), 1.6)
    rows += at_most("processor time of a request as a ratio to libcurl, 64 at once",
                    cells.get(many, {}).get("ours", {}).get("ratio"), 1.6)
    rows += at_least("download, speed as a ratio to async-http-client",
                     over(download, "ahc", "ours", "wall"), 1.3)
    for scenario, words in ((download, "memory of a download, MiB"),
                            ("slow", "the same with a slow reader")):
        peak = cells.get(scenario, {}).get("ours", {}).get("peak")
        rows += at_most(words, peak and peak / 1024, 25)
    upload = cells.get("upload", {}).get("ours", {}).get("wall_ratio")
    rows += at_least("upload from a file, speed as a ratio to libcurl", upload and 1 / upload, 0.8)
    return goals(rows)
