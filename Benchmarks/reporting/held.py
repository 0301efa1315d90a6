"""What connections hold, and what hostile content costs."""

import harness

from reporting.words import at_most, caption, figure, goals, median_with_spread, title, why_not

GAPS = [("nginx", "WebSocket", "it can only pass them on to another server")]


def condensed_holding(report):
    return {"rows": report["figures"]}


def holding_text(report):
    names = report["names"]
    rows = [[row, *(median_with_spread(cells[name]) if name in cells else "not measured"
                    for name in names)] for row, cells in report["rows"].items()]

    def ours(start):
        return harness.median(next((cells["ours"] for row, cells in report["rows"].items()
                                    if row.startswith(start)), []))

    flood = ours("part of the rate")
    # The goals of the design.
    judged = at_most("an idle connection over TLS, bytes", ours("an idle connection over TLS"), 15_000)
    judged += at_most("an idle WebSocket, bytes", ours("an idle WebSocket"), 3072)
    judged += at_most("stalled WebSockets, MiB", ours("100 stalled"), 16)
    if flood is not None:
        judged.append(("part of their rate that a flood leaves, at least 0.5", figure(flood),
                       flood >= 0.5))
    return [caption(report), "", harness.table(["", *map(title, names)], rows), "",
            *why_not(GAPS, rows), "", goals(judged)]


def condensed_content(report):
    return {"rows": report["rows"], "boundary": report["boundary"]}


def content_text(report):
    rows = []
    for row in report["rows"]:
        value = row["answer"] if row.get("answer") else "; ".join(
            f"{name} {median_with_spread(samples)}" for name, samples in row["ratios"].items())
        rows.append([row["title"], value, f"+{row['growth']:.1f}",
                     figure(row["seconds"]) if row.get("answer") else "",
                     "" if row["passed"] else "**failed**"])
    text = [caption(report), "", harness.table(
        ["content", "answer, or ratio to a plain upload", "memory, MiB", "processor time, s", ""],
        rows)]
    if report["boundary"]:
        text += ["", "The search for boundaries, in GB/s:", "", harness.table(
            ["content", "search", "`memchr` for an absent byte"],
            [[name, figure(pair[0]), figure(pair[1])]
             for name, pair in report["boundary"].items()])]
    return text
