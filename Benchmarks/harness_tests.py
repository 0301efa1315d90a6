#!/usr/bin/env python3
"""Tests of what a run keeps when a part of it fails in a way that the script does not expect.

    python3 Benchmarks/harness_tests.py

Nothing is built or started: programs and servers have stand-ins.
"""

import contextlib
import importlib.util
import io
import json
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import harness
import report
import servers
import uploads
import webdav
import webdav_probes

# By its path: Python 3.9 has a module of that name.
SPEC = importlib.util.spec_from_file_location("parser", harness.HERE / "parser.py")
parser = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(parser)

SAMPLE = {"seconds": 1.0, "cpu": 1.0, "client": 1.0, "octets": 1, "responses": 1, "growth": 1}


class Failing:
    """Gives what it is asked for, and in the end an error of a kind that no script lists."""

    def __init__(self, value, count):
        self.value, self.left = value, count

    def __call__(self, *_):
        self.left -= 1
        if self.left < 0:
            raise KeyError("not listed")
        return dict(self.value) if isinstance(self.value, dict) else self.value


class FaultTests(unittest.TestCase):
    def setUp(self):
        self.stack = contextlib.ExitStack()
        self.addCleanup(self.stack.close)
        folder = Path(self.stack.enter_context(tempfile.TemporaryDirectory()))
        self.replace(harness, RESULTS=folder / "results", LEFT_OUT={}, FAULTS=[],
                     compile_c=mock.Mock(return_value="program"), build_product=mock.Mock(),
                     machine=lambda: {"processor": "none", "cores": 1})
        self.replace(report, SHOWN=folder / "shown")
        for stream in (contextlib.redirect_stdout, contextlib.redirect_stderr):
            self.stack.enter_context(stream(io.StringIO()))

    def replace(self, place, **values):
        self.stack.enter_context(mock.patch.multiple(place, **values))

    def run_main(self, script, *arguments):
        """The exit status of a script, and the result that it has written."""
        self.replace(sys, argv=[script.__name__, *arguments])
        status = script.main()
        (self.path,) = harness.RESULTS.iterdir()
        return status, json.loads(self.path.read_text())

    def start(self, *names):
        """Has servers that are named and do nothing."""
        @contextlib.contextmanager
        def running(_, __, **___):
            yield {name: mock.Mock(port="12345") for name in names}

        self.replace(servers, running=running)

    def test_webdav_keeps_earlier_scenarios_and_the_other_servers(self):
        self.start("dav-ours", "dav-nginx")
        scenarios = {
            "early": ("early", "ms", lambda one, _: dict(SAMPLE)),
            # A round to warm up, and one that counts, of two servers.
            "late": ("late", "ms", Failing(SAMPLE, 3)),
        }
        self.replace(webdav, SCENARIOS=scenarios, make_trees=mock.Mock(), Run=mock.Mock())
        self.replace(webdav_probes, less_work=lambda _: {})
        status, result = self.run_main(webdav, "--rounds", "1", "--no-build")
        self.assertEqual(status, 1)
        self.assertEqual(result["scenarios"]["early"], {"ours": [SAMPLE], "nginx": [SAMPLE]})
        self.assertEqual(result["scenarios"]["late"], {"nginx": [SAMPLE]})
        self.assertEqual(result["faults"], ["late by ours"])
        self.assertIn("KeyError", result["left_out"]["late by ours"])

    def test_webdav_without_a_server_that_starts_ends_with_1(self):
        self.start()
        self.replace(webdav, make_trees=mock.Mock())
        status, result = self.run_main(webdav, "--rounds", "1", "--no-build")
        self.assertEqual((status, result["scenarios"]), (1, {}))

    def test_uploads_keep_earlier_scenarios_and_goals(self):
        self.start("page")
        scenarios = {
            "early": ("early", 1, {"page": ("page", lambda *_: dict(SAMPLE))},
                      [("page", None, "growth", 16)]),
            "late": ("late", 1, {"page": ("page", Failing(SAMPLE, 1))},
                     [("page", None, "growth", 16)]),
        }
        self.replace(uploads, SCENARIOS=scenarios, make_trees=mock.Mock(), cuts=Failing([], 0))
        self.replace(webdav, Run=mock.Mock())
        status, result = self.run_main(uploads, "--rounds", "1", "--no-build")
        self.assertEqual(status, 1)
        self.assertEqual(result["scenarios"], {"early": {"page": [SAMPLE]}, "late": {}})
        self.assertEqual([goal["met"] for goal in result["goals"]], [True])
        self.assertEqual(result["faults"], ["late: page", "cuts"])
        self.assertFalse(report.keep(self.path, takes_fewer=False))
        self.assertTrue(report.keep(self.path, takes_fewer=True))

    def test_parser_keeps_the_other_measurements(self):
        self.replace(parser, parsers=lambda _: {"one": ["one"], "two": ["two"]},
                     cases=lambda _: {"long": "long.http"},
                     # Two to find out how many, two of the first round, one of the second.
                     nanoseconds=Failing(2.0, 5), plot=mock.Mock(),
                     without_debug_information=lambda program: program,
                     instructions_per_request=Failing(7.0, 0),
                     shutil=mock.Mock(which=lambda _: "valgrind"))
        status, result = self.run_main(parser, "--rounds", "2", "--reference", "one")
        self.assertEqual(status, 1)
        # The second round begins with the other one.
        self.assertEqual(result["nanoseconds"], {"two long": 2.0})
        self.assertEqual(result["instructions"], {})
        self.assertEqual(result["faults"], ["one on long", "instructions of two on long"])


if __name__ == "__main__":
    unittest.main()
