"""WebDAV and uploads."""

import harness

from reporting.words import (
    at_most, caption, figure, goals, left_out, median_with_spread, title, with_spread)

MIB = 1 << 20


# --- WebDAV ------------------------------------------------------------------------------------------


def condensed_webdav(report):
    rows = []
    for scenario, samples in report["scenarios"].items():
        cells = {}
        for name in [name for name in samples if name != "base"]:
            taken = samples[name]
            seconds = [one["seconds"] for one in taken]
            cells[name] = {
                "seconds": harness.median(seconds), "spread": harness.spread(seconds),
                "cpu": harness.median([one["cpu"] for one in taken]),
                "growth": max(one["growth"] for one in taken) / 1024,
                "time": harness.ratio(samples, "ours", name, "seconds"),
                "work": harness.ratio(samples, "ours", name, "cpu"),
                "less": bool(taken[0].get("linked"))
                or scenario in report["less"].get(name, {})}
        rows.append({**report["titles"][scenario], "scenario": scenario, "cells": cells})
    texts = {name: list(dict.fromkeys(found.values()))
             for name, found in report["less"].items() if found}
    return {"rows": rows, "less": texts, "notes": report["notes"]}


def speed(seconds, unit):
    """Of a scenario whose unit is "ms", "MiB" for one GiB, or the requests that are counted."""
    if unit == "ms":
        return f"{figure(seconds * 1e3)} ms"
    return f"{1024 / seconds:,.0f} MiB/s" if unit == "MiB" else f"{unit / seconds:,.0f} /s"


def best(row):
    """The largest ratio to a server that does all of the work."""
    return max((cell["time"] for name, cell in row["cells"].items()
                if name != "ours" and not cell["less"] and cell["time"]), default=None)


def webdav_table(report, key, own):
    others = [name for name in report["names"] if name != "ours"]
    rows = []
    for row in report["rows"]:
        cells = row["cells"]
        line = [row["title"], own(cells["ours"], row["unit"])]
        for name in others:
            cell = cells.get(name)
            line.append("failed" if cell is None else
                        figure(cell[key]) + ("*" if cell["less"] else ""))
        rows.append(line + ([figure(best(row))] if key == "time" else []))
    return harness.table(["", "ours", *map(title, others), *(["best"] if key == "time" else [])],
                         rows)


def webdav_text(report):
    rows = report["rows"]
    text = [caption(report), "", webdav_table(
        report, "time", lambda cell, unit: with_spread(1, cell["spread"]).replace(
            "1.00", speed(cell["seconds"], unit)))]
    text += ["", "Processor time of the server, as a ratio in the same way:", "", webdav_table(
        report, "work", lambda cell, _: f"{figure(cell['cpu'] * 1e3)} ms"), ""]
    # The goals of the design.
    slower = [row["title"] for row in rows if (row["cells"].get("apache", {}).get("time") or 0) > 1]
    text += [goals([("ahead of Apache in each row", "; ".join(slower) or "in all", not slower),
                    *at_most("time as a ratio to the best of those that do the same work",
                             max((best(row) for row in rows if best(row)), default=None), 1.3)]), ""]
    for name in report["names"]:
        cases = [f"{row['title']} ({figure(row['cells'][name]['time'])})" for row in rows
                 if name != "ours" and (row["cells"].get(name, {}).get("time") or 0) > 1]
        if cases:
            text.append(f"- {title(name)} is ahead in: {'; '.join(cases)}.")
    growth = {name: max((row["cells"][name]["growth"] for row in rows if name in row["cells"]),
                        default=None) for name in report["names"]}
    grown = ", ".join(f"{title(name)} {figure(most)}" for name, most in growth.items()
                      if most is not None)
    text += [f"- The most that memory grew in any row, in MiB: {grown}."]
    text += left_out(report)
    text += ["", "Where the work is not the same:", ""]
    for name in report["names"]:
        if name in report["notes"]:
            text.append(f"- {title(name)}: {report['notes'][name]}.")
        text += [f"- {title(name)}, with a star: {words}." for words in report["less"].get(name, [])]
    return text


# --- uploads -----------------------------------------------------------------------------------------


def condensed_uploads(report):
    rows = []
    for scenario, samples in report["scenarios"].items():
        about = report["titles"][scenario]
        for name, taken in samples.items():
            seconds = [one["seconds"] for one in taken]
            rows.append({
                "title": f"{about['title']}: {name}",
                "speed": about["octets"] / MIB / harness.median(seconds),
                "spread": harness.spread(seconds),
                "cpu": [one["cpu"] * 1e6 / (about["octets"] / MIB) for one in taken],
                "growth": max(one["growth"] for one in taken) / 1024})
    return {"rows": rows, "goals": report["goals"]}


def uploads_text(report):
    rows = [[row["title"], f"{with_spread(row['speed'], row['spread'])} MiB/s",
             f"{median_with_spread(row['cpu'])} µs", f"+{row['growth']:.1f} MiB"]
            for row in report["rows"]]
    judged = [(goal["words"], f"{goal['value']:,.2f}", goal["met"]) for goal in report["goals"]]
    return [caption(report), "", harness.table(
        ["", "speed", "processor time per MiB", "memory"], rows), "", goals(judged)]
