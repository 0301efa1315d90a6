#!/usr/bin/env python3
"""The upload page and resumable uploads: beside plain uploads, plain downloads, and Apache's PUT.

`httpkit serve --webdav --uploader` and Apache's mod_dav are up at once and take turns, round after
round; `Load/plan.c` sends the requests. What was uploaded is compared outside of the measured time.
Nobody waits for the disk. Ends with 1 when a goal is missed, or when a measurement fails.
"""

import argparse
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import harness
import servers
import webdav
import webdav_servers
from webdav import BIG, BLOCK, request, require

MIB = 1 << 20
FILES, FILE = 10, 100 * MIB
ARCHIVE_FILES, ARCHIVE_FILE = 4, 512 * MIB
RESUMABLE = {"Upload_Complete": "?1"}


def page_command(setup):
    return [harness.built_product("httpkit", webdav_servers.REPOSITORY), "serve",
            webdav_servers.tree(setup), "--port", setup.port, "--webdav", "/dav", "--uploader", "/up",
            "--log-level", "error"]


servers.COMMANDS["page"] = page_command


# --- requests ------------------------------------------------------------------------------------

def put(path, size, **fields):
    return request("PUT", path, BLOCK, times=size // len(BLOCK), **fields)


def post(name, size, **fields):
    return request("POST", f"/up/upload?path=/&name={name}&conflict=replace", BLOCK,
                   times=size // len(BLOCK), Content_Type="application/octet-stream", **fields)


def get(path):
    # Its answer is counted and not kept.
    return request("GET", f"/up/download?path={path}", status=200, times=0)


def require_content(path, size):
    require(path.stat().st_size == size, f"{path.stat().st_size} octets instead of {size}")
    with path.open("rb") as file:
        for _ in range(size // len(BLOCK)):
            require(file.read(len(BLOCK)) == BLOCK, "the content is wrong")


def upload(requests, size, connections, removed):
    """Measures uploads of files of one size; compares what has come, and removes it."""
    def run(one, is_warm):
        sample = one.measure(requests, connections)
        for path in removed:
            file = one.tree / path.rpartition("/")[2]
            if is_warm:
                require_content(file, size)
            require(file.stat().st_size == size, f"{file.name} is not whole")
        one.send([request("DELETE", path) for path in removed])
        return sample
    return run


def download(requests, octets):
    def run(one, _):
        sample = one.measure(requests)
        require(octets <= sample["octets"] <= octets + MIB,
                f"{sample['octets']} octets instead of {octets}")
        return sample
    return run


NAMES = [f"part-{number}" for number in range(FILES)]
ARCHIVE = ARCHIVE_FILES * ARCHIVE_FILE
# Title, octets, the server and what it is to do by name, and the goals: one over another, of what, at
# most; or a growth of memory in MiB.
SCENARIOS = {
    "resumable": ("One upload of 1 GiB", BIG, {
        "PUT": ("page", upload([put("/dav/one", BIG)], BIG, 1, ["/dav/one"])),
        "PUT, resumable": (
            "page", upload([put("/dav/two", BIG, **RESUMABLE)], BIG, 1, ["/dav/two"])),
        "page": ("page", upload([post("three", BIG)], BIG, 1, ["/dav/three"])),
        "page, resumable": (
            "page", upload([post("four", BIG, **RESUMABLE)], BIG, 1, ["/dav/four"])),
    }, [("PUT, resumable", "PUT", "seconds", 1.05), ("PUT, resumable", "PUT", "cpu", 1.05),
        ("page, resumable", "page", "seconds", 1.05), ("page, resumable", "page", "cpu", 1.05)]),
    "parallel": (f"{FILES} uploads of 100 MiB at once", FILES * FILE, {
        "page": ("page", upload([post(name, FILE) for name in NAMES], FILE, FILES,
                                [f"/dav/{name}" for name in NAMES])),
        "Apache, PUT": ("dav-apache", upload([put(f"/{name}", FILE) for name in NAMES], FILE, FILES,
                                             [f"/{name}" for name in NAMES])),
    }, [("page", "Apache, PUT", "cpu", 1), ("page", None, "growth", 16)]),
    "archive": ("A folder of 2 GiB", ARCHIVE, {
        "its files, one after the other": (
            "page", download([get(f"/big/{number}") for number in range(ARCHIVE_FILES)], ARCHIVE)),
        "its archive": ("page", download([get("/big/")], ARCHIVE)),
    }, [("its archive", "its files, one after the other", "seconds", 1 / 0.8),
        ("its archive", None, "growth", 16)]),
}


# --- cuts ----------------------------------------------------------------------------------------

CUTS, CUT_BYTES = 50, BIG // 51
PROXY = harness.HERE.parent / "Tests" / "ConformanceTests" / "Uploads" / "cutting_proxy.py"


def cut_upload(one):
    """An upload by `httpkit fetch --resume` over connections that are cut; returns the part of it
    that was sent twice."""
    source = one.folder / "cut-source"
    with source.open("wb") as file:
        for _ in range(BIG // len(BLOCK)):
            file.write(BLOCK)
    proxy = subprocess.Popen(
        [sys.executable, PROXY, one.server.port, str(CUT_BYTES), str(CUTS)],
        stdout=subprocess.PIPE, text=True)
    try:
        port = proxy.stdout.readline().split()[1]
        httpkit = harness.built_product("httpkit", webdav_servers.REPOSITORY)
        subprocess.run([httpkit, "fetch", "-T", source, "--resume",
                        f"http://127.0.0.1:{port}/dav/cut"], check=True, timeout=webdav.TIME_LIMIT)
        passed, left = 0, CUTS
        while left or passed < BIG:
            _, passed, _, left = proxy.stdout.readline().split()
            passed, left = int(passed), int(left)
    finally:
        proxy.kill()
        proxy.wait()
        source.unlink()
    require_content(one.tree / "cut", BIG)
    one.send([request("DELETE", "/dav/cut")])
    return passed / BIG - 1


def cuts(one):
    """What cuts cost, as a goal that was met or not."""
    return [{"words": f"1 GiB by `httpkit fetch -T --resume`, cut {CUTS} times: percent that is "
             "sent twice, at most 1.00", "value": (part := cut_upload(one) * 100),
             "met": part <= 1}]


# --- measuring and telling -----------------------------------------------------------------------

def measure(name, runs, rounds):
    """Samples by subject, in turns after one round that does not count."""
    subjects = SCENARIOS[name][2]

    def take(subject, number):
        server, run = subjects[subject]
        return run(runs[server], number == 0)

    return harness.take_turns(
        [subject for subject, (server, _) in subjects.items() if server in runs], rounds, take,
        lambda subject: f"{SCENARIOS[name][0]}: {subject}", warms_up=True)


def show(name, samples):
    title, octets, _, _ = SCENARIOS[name]
    print(f"\n### {title}\n")
    rows = []
    for subject, taken in samples.items():
        seconds = [sample["seconds"] for sample in taken]
        spread = harness.spread(seconds)
        cpu = harness.median([sample["cpu"] for sample in taken])
        rows.append([subject, f"{octets / MIB / harness.median(seconds):,.0f} MiB/s",
                     f"{cpu * 1e6 / (octets / MIB):,.0f} µs",
                     f"{max(sample['growth'] for sample in taken) / 1024:,.1f}",
                     "–" if spread is None else f"±{spread * 100:.0f} %"])
    print(harness.table(["", "speed", "server CPU per MiB", "memory +MiB", "noise"], rows))


def judge(name, samples):
    """How each goal of a scenario came out."""
    found = []
    for subject, other, key, limit in SCENARIOS[name][3]:
        if subject not in samples or (other and other not in samples):
            continue
        if other:
            value = harness.ratio(samples, subject, other, key)
            text = f"{subject} / {other}, {'processor time' if key == 'cpu' else 'time'}"
        else:
            value = max(sample[key] for sample in samples[subject]) / 1024
            text = f"{subject}, growth of memory in MiB"
        found.append({"words": f"{text}, at most {limit:.2f}", "value": value,
                      "met": value <= limit})
    return found


def tell(goals):
    print()
    for goal in goals:
        print(f"- {'met' if goal['met'] else 'MISSED'}: {goal['words']}: {goal['value']:.2f}",
              flush=True)


def make_trees(root):
    for name in ("page", "dav-apache"):
        folder = root / name
        folder.mkdir()
        folder.chmod(0o777)
    (root / "page" / "big").mkdir()
    for number in range(ARCHIVE_FILES):
        with (root / "page" / "big" / str(number)).open("wb") as file:
            for _ in range(ARCHIVE_FILE // len(BLOCK)):
                file.write(BLOCK)


def measure_all(report, scenarios, rounds, root):
    """Adds the samples of each scenario and its goals to the report, and shows them."""
    with servers.running(["page", "dav-apache"], root) as running:
        require("page" in running, "httpkit serve does not start")
        runs = {name: webdav.Run(server, root) for name, server in running.items()}
        for name in scenarios:
            harness.note(name)
            with harness.leaving_out(name):
                if name == "cuts":
                    goals = cuts(runs["page"])
                else:
                    samples = measure(name, runs, rounds)
                    report["scenarios"][name] = samples
                    show(name, samples)
                    goals = judge(name, samples)
                report["goals"] += goals
                tell(goals)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=5, help="rounds of every scenario (5)")
    parser.add_argument("--scenarios", help=f"of {', '.join(SCENARIOS)}, cuts, by commas")
    parser.add_argument("--folder", help="where files are kept, on the file system to be tried")
    parser.add_argument("--no-build", action="store_true", help="take httpkit as it was built")
    return parser.parse_args()


def main():
    options = arguments()
    scenarios = options.scenarios.split(",") if options.scenarios else [*SCENARIOS, "cuts"]
    for unknown in set(scenarios) - {*SCENARIOS, "cuts"}:
        sys.exit(f"uploads.py: nothing is called {unknown}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    harness.compile_c(harness.HERE / "Load" / "plan.c", "plan")
    if not options.no_build:
        harness.build_product("httpkit", webdav_servers.REPOSITORY, harness.release_flags())
    report = {"kind": "uploads", "machine": harness.machine(), "rounds": options.rounds,
              "versions": {"apache": webdav_servers.versions()["apache"]}, "goals": [],
              "titles": {name: {"title": SCENARIOS[name][0], "octets": SCENARIOS[name][1]}
                         for name in scenarios if name in SCENARIOS}, "scenarios": {}}
    root = Path(tempfile.mkdtemp(dir=options.folder))
    try:
        root.chmod(0o755)
        make_trees(root)
        with harness.leaving_out("the rest"):
            measure_all(report, scenarios, options.rounds, root)
    finally:
        shutil.rmtree(root, ignore_errors=True)
    print(f"\n{report['machine']['processor']}, {report['machine']['cores']} cores; "
          f"{options.rounds} rounds; samples in {harness.save('uploads', report)}")
    return harness.status() if all(goal["met"] for goal in report["goals"]) else 1


if __name__ == "__main__":
    sys.exit(main())
