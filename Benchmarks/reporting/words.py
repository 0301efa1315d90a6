"""How figures, names and findings are written, the same in all parts."""

import re

import harness

TITLES = {
    "limit": "C limit", "ours": "ours", "nginx": "nginx", "nio": "SwiftNIO",
    "hummingbird": "Hummingbird", "flyingfox": "FlyingFox", "borrowed": "ours, borrowed head",
    "owned": "ours, owned head", "incremental": "ours, incremental events",
    "llhttp": "llhttp", "picohttpparser": "picohttpparser", "libcurl": "libcurl",
    "ahc": "async-http-client", "urlsession": "URLSession", "apache": "Apache",
    "brief": "ours, brief wait", "bare": "handler alone", "dressed": "with all of that",
}
# Servers of another checkout, with other handlers or settings, which take no column of their own.
PRIVATE = {"base", "bare", "dressed", "nginx-keeping", "nginx-log", "served"}


def title(name):
    return TITLES.get(name, name)


def figure(value):
    """A figure with three digits, or as many as stand before its point."""
    if value is None:
        return "not measured"
    return harness.figure(value, 2 if value < 10 else 1 if value < 100 else 0)


def with_spread(value, spread):
    """A figure, and how far the middle half of its samples lies around it."""
    text = figure(value)
    return text if spread is None or value is None else f"{text} ± {spread * 100:.0f} %"


def median_with_spread(samples):
    return with_spread(harness.median(samples), harness.spread(samples))


def caption(report):
    """How the figures were taken."""
    machine = report["machine"]
    # A program says its version as it likes: the name, perhaps a slash, and the number.
    versions = []
    for name, said in report["versions"].items():
        number = re.search(r"\d+(\.\d+)+", said or "")
        if number:
            versions.append(f"{title(name)} {number[0]}")
    swift = re.search(r"\d+(\.\d+)+", machine["swift"])
    facts = [machine["processor"], f"{machine['cores']} cores", machine["system"],
             *([f"Swift {swift[0]}"] if swift else []), *versions]
    note = f" {report['note']}" if report.get("note") else ""
    return f"{report['date']}, {report['rounds']} rounds: {', '.join(facts)}.{note}"


def left_out(report):
    """A line for each that was not measured, with the reason."""
    return [f"- Not measured: {title(name)}, {reason.strip().splitlines()[0]}." for name, reason in
            report["left_out"].items()]


def why_not(gaps, rows):
    """A line for each known gap of a table: `gaps` has the peer, the words of its rows, and the reason."""
    return [f"- Not measured: {title(name)}, {words}: {reason}." for name, words, reason in gaps
            if any(words in row[0] and "not measured" in row for row in rows)]


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


def goals(rows):
    """A table of goals: the words, the figure, and whether it is met."""
    table = [[words, value, "met" if is_met else "**missed**"] for words, value, is_met in rows]
    return harness.table(["goal", "figure", ""], table)


def at_most(words, value, most):
    """A row of `goals`; none where the figure was not measured."""
    return [] if value is None else [(f"{words}, at most {most:g}", figure(value), value <= most)]


def wrapped(text, width=104):
    lines, line = [], ""
    for word in text.split():
        if len(line) + len(word) + 1 > width and line:
            lines.append(line)
            line = ""
        line = f"{line} {word}".strip()
    return lines + [line]
