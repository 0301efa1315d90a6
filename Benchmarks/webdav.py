#!/usr/bin/env python3
"""WebDAV: httpkit beside Apache, nginx, lighttpd, rclone and wsgidav, time and CPU, in one run.

Every server has its own copy of a tree on the same file system. All are up at once and take turns,
round after round; `Load/plan.c` sends the requests and checks each status, and what the requests
have left on the disk is checked outside of the measured time. A server that answers wrongly is left
out of that scenario with a line that says why. Nobody waits for the disk in any of them: none calls
fsync.
"""

import argparse
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import harness
import servers
import webdav_probes
import webdav_servers

NAMES = list(webdav_servers.COMMANDS)
FLAT, DEEP_FOLDERS, DEEP_EACH, TREE, PUTS, PAIRS = 10_000, 100, 200, 2_000, 2_000, 2_000
SMALL = b"0123456789abcdef" * 64
BIG = 1 << 30
BLOCK = bytes(range(256)) * 4096
CONNECTIONS = 8
TIME_LIMIT = 150
# A port that is filled in when a plan is sent; as long as any that the system gives by itself.
HOST = "127.0.0.1:_PORT"

ALL = b'<?xml version="1.0"?><propfind xmlns="DAV:"><allprop/></propfind>'
# What Finder asks for when it opens a folder.
FINDER = (b'<?xml version="1.0" encoding="utf-8"?><D:propfind xmlns:D="DAV:"><D:prop>'
          b"<D:getlastmodified/><D:getcontentlength/><D:creationdate/><D:resourcetype/>"
          b"</D:prop></D:propfind>")
LOCK = (b'<?xml version="1.0" encoding="utf-8"?><D:lockinfo xmlns:D="DAV:"><D:lockscope>'
        b"<D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype><D:owner>bench</D:owner>"
        b"</D:lockinfo>")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="two rounds")
    parser.add_argument("--rounds", type=int, help="rounds of every server and scenario (5)")
    parser.add_argument("--servers", help=f"of {', '.join(NAMES)}, by commas")
    parser.add_argument("--scenarios", help=f"of {', '.join(SCENARIOS)}, by commas")
    parser.add_argument("--folder", help="where the trees are made, on the file system to be tried")
    parser.add_argument("--no-build", action="store_true", help="take httpkit as it was built")
    return parser.parse_args()


# --- requests ------------------------------------------------------------------------------------

def request(method, path, content=b"", status=0, times=1, **fields):
    """A record of a plan. Status 0 is any of success."""
    lines = [f"{method} {path} HTTP/1.1", f"Host: {HOST}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in fields.items()]
    if content or method in ("PUT", "PROPFIND", "LOCK"):
        lines.append(f"Content-Length: {len(content) * times}")
    if content.startswith(b"<?xml"):
        lines.append("Content-Type: application/xml; charset=utf-8")
    head = ("\r\n".join(lines) + "\r\n\r\n").encode()
    return struct.pack("=4I", len(head), len(content), times, status) + head + content


def propfind(path, depth, content):
    return [request("PROPFIND", path, content, 207, Depth=depth)]


def puts(folder):
    return [request("PUT", f"{folder}file-{number:05}.txt", SMALL) for number in range(PUTS)]


def pairs():
    lock = request("LOCK", "/flat/file-00007.txt", LOCK, 200, Depth=0, Timeout="Second-60")
    return [lock, request("UNLOCK", "/flat/file-00007.txt", Lock_Token="<>")] * PAIRS


class Run:
    """A server with the means to send it requests."""

    def __init__(self, server, folder):
        require(len(server.port) == 5, "the port is too short")
        self.server, self.folder = server, Path(folder)
        self.tree = webdav_servers.tree(server)
        self.made, self.copied, self.moved = 0, None, None

    def send(self, requests, connections=1, answers="-"):
        """Sends requests; returns seconds, the client's own seconds, octets and responses."""
        plan = self.folder / "plan"
        plan.write_bytes(b"".join(requests).replace(b"_PORT", self.server.port.encode()))
        done = subprocess.run(
            [harness.TOOLS / "plan", self.server.port, str(connections), plan, answers],
            capture_output=True, text=True, timeout=TIME_LIMIT)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip()[-200:])
        nanoseconds, client, octets, responses = map(int, done.stdout.split()[1:])
        return nanoseconds / 1e9, client / 1e9, octets, responses

    def measure(self, requests, connections=1):
        self.server.reset_peak()
        cpu, memory = self.server.cpu_seconds(), self.server.memory("VmRSS")
        seconds, client, octets, responses = self.send(requests, connections)
        return {"seconds": seconds, "cpu": self.server.cpu_seconds() - cpu, "client": client,
                "octets": octets, "responses": responses,
                "growth": self.server.memory("VmHWM") - memory}

    def fresh(self, kind):
        """A name that was not used before: where many files were removed a moment ago, ext4 takes
        long to find room for new ones, whoever asks."""
        self.made += 1
        return f"{kind}-{self.made}"


def require(passed, text):
    if not passed:
        raise RuntimeError(text)


def require_files(folder, count, content=None):
    names = os.listdir(folder) if folder.is_dir() else []
    require(len(names) == count, f"{len(names)} files instead of {count} in {folder.name}")
    for name in names[:: max(count // 20, 1)]:
        require(content is None or (folder / name).read_bytes() == content, f"{name} is wrong")


# --- scenarios -----------------------------------------------------------------------------------

def listing(path, depth, content, expected):
    def run(one, _):
        sample = one.measure(propfind(path, depth, content))
        require(sample["responses"] == expected,
                f"{sample['responses']} responses instead of {expected}")
        return sample
    return run


def small_puts(connections, over=False):
    def run(one, _):
        folder = one.fresh("new")
        one.send([request("MKCOL", f"/{folder}/", status=201)])
        if over:
            one.send(puts(f"/{folder}/"))
        sample = one.measure(puts(f"/{folder}/"), connections)
        require_files(one.tree / folder, PUTS, SMALL)
        return sample
    return run


def copy(one, _):
    one.copied = one.fresh("copy")
    sample = one.measure([
        request("COPY", "/tree/", Destination=f"http://{HOST}/{one.copied}/")])
    folder = one.tree / one.copied
    require_files(folder, TREE, SMALL * 4)
    sample["linked"] = next(folder.iterdir()).stat().st_nlink > 1
    return sample


def move(one, _):
    copy(one, False)
    one.moved = one.fresh("moved")
    sample = one.measure([
        request("MOVE", f"/{one.copied}/", Destination=f"http://{HOST}/{one.moved}/")])
    require_files(one.tree / one.moved, TREE, SMALL * 4)
    require(not (one.tree / one.copied).exists(), "what was moved is still there")
    return sample


def delete(one, _):
    move(one, False)
    sample = one.measure([request("DELETE", f"/{one.moved}/")])
    require(not (one.tree / one.moved).exists(), "what was removed is still there")
    return sample


def locks(one, _):
    return one.measure(pairs())


def get(one, is_warm):
    if is_warm:
        answer = one.folder / "answer"
        one.send([request("GET", "/part")], answers=answer)
        require(answer.read_bytes() == BLOCK * 16, "the content is wrong")
    sample = one.measure([request("GET", "/big", status=200)])
    require(sample["octets"] == BIG, f"{sample['octets']} octets instead of {BIG}")
    return sample


def put(one, is_warm):
    sample = one.measure([request("PUT", "/put", BLOCK, times=BIG // len(BLOCK))])
    path = one.tree / "put"
    require(path.stat().st_size == BIG, f"{path.stat().st_size} octets instead of {BIG}")
    if is_warm:
        with path.open("rb") as file:
            for _ in range(BIG // len(BLOCK)):
                require(file.read(len(BLOCK)) == BLOCK, "the content is wrong")
    # So that the disk has nothing to do in the next measurement. Through the server, which may
    # keep a picture of what is there.
    one.send([request("DELETE", "/put")])
    return sample


SCENARIOS = {
    "propfind-all": (f"PROPFIND Depth 1, {FLAT:,} files, allprop", "ms",
                     listing("/flat/", "1", ALL, FLAT + 1)),
    "propfind-finder": ("the same, what Finder asks", "ms",
                        listing("/flat/", "1", FINDER, FLAT + 1)),
    "propfind-deep": (f"PROPFIND Depth infinity, {DEEP_FOLDERS * DEEP_EACH:,} files, allprop", "ms",
                      listing("/deep/", "infinity", ALL, DEEP_FOLDERS * (DEEP_EACH + 1) + 1)),
    "put-1": (f"PUT of {PUTS:,} new files of 1 KiB, 1 connection", PUTS, small_puts(1)),
    "put-8": (f"the same, {CONNECTIONS} connections", PUTS, small_puts(CONNECTIONS)),
    "put-over": ("the same, replacing files, 1 connection", PUTS, small_puts(1, over=True)),
    "copy": (f"COPY of a collection of {TREE:,} files of 4 KiB", "ms", copy),
    "move": ("MOVE of it", "ms", move),
    "lock": ("LOCK and UNLOCK, pairs", PAIRS, locks),
    "get": ("GET of 1 GiB", "MiB", get),
    "put": ("PUT of 1 GiB", "MiB", put),
    "delete": (f"DELETE of a collection of {TREE:,} files", "ms", delete),
}


# --- the tree ------------------------------------------------------------------------------------

def fill(folder, count, content):
    folder.mkdir(parents=True)
    for number in range(count):
        (folder / f"file-{number:05}.txt").write_bytes(content)


def make_tree(root, big):
    fill(root / "flat", FLAT, SMALL[:100])
    fill(root / "tree", TREE, SMALL * 4)
    for number in range(DEEP_FOLDERS):
        fill(root / "deep" / f"folder-{number:03}", DEEP_EACH, SMALL[:100])
    (root / "part").write_bytes(BLOCK * 16)
    os.link(big, root / "big")  # it is only read
    if os.geteuid() == 0:
        # Apache does not run as root.
        for folder, folders, files in os.walk(root):
            for path in [folder, *(f"{folder}/{name}" for name in folders + files)]:
                os.chmod(path, 0o777 if os.path.isdir(path) else 0o666)


def make_trees(root, names):
    big = root / "big"
    with big.open("wb") as file:
        for _ in range(BIG // len(BLOCK)):
            file.write(BLOCK)
    for name in names:
        make_tree(root / f"dav-{name}", big)



# --- measuring and telling -----------------------------------------------------------------------

def measure(name, runs, rounds):
    """Samples by server, in turns after one round that does not count."""
    return harness.take_turns(
        list(runs), rounds, lambda server, number: SCENARIOS[name][2](runs[server], number == 0),
        lambda server: f"{name} by {server}", harness.PROGRAM_ERRORS, warms_up=True)


def shown(seconds, unit):
    if unit == "ms":
        return f"{seconds * 1e3:,.1f} ms"
    if unit == "MiB":
        return f"{BIG / (1 << 20) / seconds:,.0f} MiB/s"
    return f"{unit / seconds:,.0f} /s"


def show(name, samples):
    title, unit, _ = SCENARIOS[name]
    print(f"\n### {title}\n")
    rows = []
    for server, taken in samples.items():
        middle = {key: harness.median([one[key] for one in taken])
                  for key in ("seconds", "cpu", "client")}
        spread = harness.spread([one["seconds"] for one in taken])
        told = server + (" (hard links)" if taken[0].get("linked") else "")
        rows.append([told, shown(middle["seconds"], unit), f"{middle['cpu'] * 1e3:,.1f} ms",
                     harness.figure(harness.ratio(samples, "ours", server, "seconds")),
                     harness.figure(harness.ratio(samples, "ours", server, "cpu")),
                     f"{max(one['growth'] for one in taken) / 1024:,.1f}",
                     f"{middle['client'] * 1e3:,.1f} ms",
                     "–" if spread is None else f"±{spread * 100:.0f} %"])
    print(harness.table(["server", "speed", "server CPU", "ours / it, time", "ours / it, CPU",
                         "memory +MiB", "client CPU", "noise"], rows), flush=True)


def overview(report, names):
    """One table: time of ours as a ratio to each, below 1 where ours is ahead, and to the best of
    those that do all of the work."""
    others = [name for name in names if name != "ours"]
    rows = []
    for name, samples in report["scenarios"].items():
        title, unit, _ = SCENARIOS[name]
        mine = samples.get("ours")
        speed = shown(harness.median([one["seconds"] for one in mine]), unit) if mine else "–"
        cells, whole = [], []
        for other in others:
            value = harness.ratio(samples, "ours", other, "seconds")
            linked = samples.get(other) and samples[other][0].get("linked")
            less = linked or name in report["less"].get(other, {})
            if value is not None and not less:
                whole.append(value)
            cells.append(harness.figure(value) + ("*" if less and value is not None else ""))
        rows.append([title, speed, *cells, harness.figure(max(whole, default=None))])
    print("\n### Time of ours as a ratio to theirs\n")
    print(harness.table(["", "ours", *others, "best"], rows))
    print("\n* does less than is asked (a copy of hard links, or see below) and does not count "
          "as the best.")


def measure_all(report, names, scenarios, rounds, root):
    """Adds the samples of each scenario to the report, and shows them."""
    with servers.running([f"dav-{name}" for name in names], root) as running:
        require(running, "no server starts")
        runs = {}
        for name, server in running.items():
            short = name.removeprefix("dav-")
            with harness.leaving_out(short):
                report["less"][short] = webdav_probes.less_work(server.port)
                runs[short] = Run(server, root)
        for name in scenarios:
            harness.note(name)
            with harness.leaving_out(name):
                report["scenarios"][name] = measure(name, runs, rounds)
                show(name, report["scenarios"][name])


def main():
    options = arguments()
    names = options.servers.split(",") if options.servers else NAMES
    scenarios = options.scenarios.split(",") if options.scenarios else list(SCENARIOS)
    for unknown in [*set(names) - set(NAMES), *set(scenarios) - set(SCENARIOS)]:
        sys.exit(f"webdav.py: nothing is called {unknown}")
    rounds = options.rounds or (2 if options.quick else 5)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    harness.compile_c(harness.HERE / "Load" / "plan.c", "plan")
    if not options.no_build and "ours" in names:
        harness.build_product("httpkit", webdav_servers.REPOSITORY, harness.release_flags())
    report = {"kind": "webdav", "machine": harness.machine(), "rounds": rounds,
              "versions": webdav_servers.versions(), "notes": webdav_servers.NOTES,
              "titles": {name: {"title": SCENARIOS[name][0], "unit": SCENARIOS[name][1]}
                         for name in scenarios},
              "less": {}, "scenarios": {}}
    root = Path(tempfile.mkdtemp(dir=options.folder))
    try:
        root.chmod(0o755)
        harness.note("making trees")
        make_trees(root, names)
        with harness.leaving_out("the rest"):
            measure_all(report, names, scenarios, rounds, root)
    finally:
        shutil.rmtree(root, ignore_errors=True)
    path = harness.save("webdav", report)
    overview(report, names)
    print("\nWhere the work is not the same:\n")
    for name in names:
        if name in webdav_servers.NOTES:
            print(f"- {name}: {webdav_servers.NOTES[name]}")
        for text in dict.fromkeys(report["less"].get(name, {}).values()):
            print(f"- {name}: {text}")
    print(f"\n{report['machine']['processor']}, {report['machine']['cores']} cores; {rounds} rounds; "
          f"samples in {path}")
    return harness.status()


if __name__ == "__main__":
    sys.exit(main())
