"""Runs cases of the Autobahn test suite, converted to Python 3, and judges them. Started by `run`.

The suite was written for Python 2, where text and octets are the same. Here its text stands for octets: every
character is one octet (Latin-1), made into bytes where the cases hand it to the WebSocket library and where they
compare what came back. Nothing of a case's judgement is changed.
"""
import argparse
import binascii
import collections
import contextlib
import io
import os
import signal
import sys
import types

OUT = sys.stdout


def octets(value):
    """The octets that text of a case stands for; lists and tuples element by element."""
    if isinstance(value, str):
        return value.encode("latin-1")
    if isinstance(value, (list, tuple)):
        return [octets(element) for element in value]
    return value


def load():
    """Imports the suite with what it expects of Python 2 and of packages that are not needed; returns `fuzzing`."""
    resources = types.ModuleType("pkg_resources")
    resources.resource_filename = lambda package, path: os.path.join(os.path.dirname(sys.modules[package].__file__), path)
    sys.modules["pkg_resources"] = resources
    import zope.interface
    if not hasattr(zope.interface, "implements"):
        zope.interface.implements = lambda *interfaces: None

    # The bodies of the case classes print octets in hexadecimal and validate UTF-8 while they are imported.
    import autobahn.twisted.websocket
    from autobahn.websocket import utf8validator
    real_hex, RealValidator = binascii.b2a_hex, utf8validator.Utf8Validator
    text_hex = lambda data, *rest: real_hex(octets(data), *rest).decode()

    class Validator(RealValidator):
        def validate(self, data):
            return super().validate(octets(data))

    binascii.b2a_hex, utf8validator.Utf8Validator = text_hex, Validator
    try:
        from autobahntestsuite import fuzzing
    finally:
        binascii.b2a_hex, utf8validator.Utf8Validator = real_hex, RealValidator
    mine = types.SimpleNamespace(b2a_hex=text_hex, hexlify=text_hex, a2b_hex=binascii.a2b_hex)
    for name, module in list(sys.modules.items()):
        if name.startswith("autobahntestsuite") and hasattr(module, "binascii"):
            module.binascii = mine
    return fuzzing


def adapt(fuzzing, verbose, patience):
    """Puts octets between the cases and the library, and a short log of frames in place of the suite's. A peer has
    `patience` times the suite's time to answer."""
    from autobahn.websocket.protocol import WebSocketProtocol
    from autobahntestsuite.case.case import Case
    Case.compare = lambda self, one, other: octets(one) == octets(other)

    def in_octets(name):
        original = getattr(WebSocketProtocol, name)

        def call(self, *arguments, **named):
            return original(self, *(octets(a) for a in arguments), **{n: octets(a) for n, a in named.items()})
        return call

    Protocol = fuzzing.FuzzingProtocol
    for name in ("sendFrame", "sendMessage", "sendPing", "sendPong", "sendCloseFrame", "sendData", "beginMessage",
                 "beginMessageFrame", "sendMessageFrame", "sendMessageFrameData"):
        setattr(Protocol, name, in_octets(name))
    Protocol.debug = False
    fuzzing.asciiLogData = lambda data, maxlen=64, replace=False: shown(data)

    def frame(self, way, header, payload):
        if verbose:
            log = self.wirelog
            log.append("%s opcode %d, fin %d, rsv %d, %d octets: %s" % (way, header.opcode, header.fin, header.rsv, header.length, shown(payload)))
            if len(log) > 20:  # the first ten and the last ten
                log[10:-10] = ["…"]

    def received(self, header, payload):
        self.rxFrameStats[header.opcode] = self.rxFrameStats.get(header.opcode, 0) + 1
        frame(self, "<", header, payload)

    def sent(self, header, payload, repeat, chop, sync):
        self.txFrameStats[header.opcode] = self.txFrameStats.get(header.opcode, 0) + 1
        frame(self, ">", header, payload)

    Protocol.logRxFrame, Protocol.logTxFrame = received, sent
    Protocol.logRxOctets = lambda self, data: None
    Protocol.logTxOctets = lambda self, data, sync: None
    Protocol.enableWirelog = lambda self, on: None
    # The suite notes its timers in its log: let these entries go.
    from twisted.internet import reactor
    # A case that waits between frames always takes that time.
    pause = min(patience, 3)
    Protocol.continueLater = lambda self, delay, action, tag=None: reactor.callLater(delay * pause, later, self, action)
    Protocol.killAfter = lambda self, delay: reactor.callLater(delay * patience, later, self, self.failConnection)
    Protocol.closeAfter = lambda self, delay: reactor.callLater(delay * patience, later, self, self.sendClose)
    # The library's batched timers round down to whole seconds: the second for the closing handshake could be over
    # at once.
    from autobahn.websocket.protocol import WebSocketFactory
    exact = types.SimpleNamespace(call_later=lambda delay, action, *rest: reactor.callLater(delay, action, *rest))
    WebSocketFactory._batched_timer = property(lambda self: exact, lambda self, timer: None)
    for factory in (fuzzing.FuzzingServerFactory, fuzzing.FuzzingClientFactory):
        patient(factory, patience)
    closed = WebSocketProtocol.STATE_CLOSED
    # Newer versions of the library have this under another name.
    if not hasattr(WebSocketProtocol, "failConnection"):
        Protocol.failConnection = lambda self, *arguments: self._fail_connection(*arguments)

    def later(protocol, action):
        if protocol.state != closed:
            action()


def patient(factory, patience):
    """Gives the peers of a factory more time for both handshakes."""
    original = factory.resetProtocolOptions

    def reset(self):
        original(self)
        for name in ("openHandshakeTimeout", "closeHandshakeTimeout", "serverConnectionDropTimeout"):
            if hasattr(self, name):
                setattr(self, name, getattr(self, name) * patience)
    factory.resetProtocolOptions = reset


def shown(data):
    """Octets for a person to read."""
    if isinstance(data, list):
        data = b"".join(octets(part) for part in data)
    data = octets(data)
    if not isinstance(data, (bytes, bytearray)):
        return repr(data)
    return repr(bytes(data[:32]))[1:] + ("…" if len(data) > 32 else "")


def plain(text, most=110):
    """A description of the suite in one line."""
    text = " ".join(text.replace("<br>", " ").replace("<b>", "").replace("</b>", "").split())
    return text if len(text) <= most else text[:most] + "…"


class Results:
    """What became of each case, and the report."""

    def __init__(self, wanted, verbose, shortened):
        self.wanted, self.verbose, self.shortened = wanted, verbose, shortened
        self.cases, self.faults, self.trouble = {}, [], None

    def add(self, factory, result):
        self.cases[result["id"]] = result
        if self.verbose:
            print("%s: %s, close: %s, %d ms" % (result["id"], result["behavior"], result["behaviorClose"], result["duration"]), file=sys.stderr)
        listener = factory.resultListeners.pop((result["agent"], result["id"]), None)
        factory.agents.setdefault(result["agent"], {})[result["id"]] = result
        if listener:
            listener(result)

    def judge(self, case):
        """ok, non-strict or failed; how the case behaved; why."""
        result = self.cases.get(case)
        if result is None:
            return "failed", "NOT RUN", ""
        behavior, close = result["behavior"], result["behaviorClose"]
        why = [] if result["result"].startswith("Actual events match") else [result["result"]]
        if close not in ("OK", "INFORMATIONAL"):
            why = [line for line in why if line != result["resultClose"]] + ["close: %s (%s)" % (close, result["resultClose"])]
        elif behavior == "NON-STRICT":
            why = [plain(result["description"])]
        elif behavior == "UNIMPLEMENTED":
            why = ["compression was not agreed on"]
        if behavior not in ("OK", "INFORMATIONAL", "NON-STRICT") or close not in ("OK", "INFORMATIONAL"):
            return "failed", behavior, "; ".join(why)
        return ("non-strict" if behavior == "NON-STRICT" else "ok"), behavior, "; ".join(why)

    def report(self):
        verdicts, behaviors = collections.Counter(), collections.Counter()
        lines, missing = [], []
        for case in self.wanted:
            verdict, behavior, why = self.judge(case)
            verdicts[verdict] += 1
            behaviors[behavior] += 1
            if behavior == "NOT RUN":
                missing.append(case)
            elif verdict != "ok":
                lines.append("%-13s %-8s %s" % (behavior, case, why))
                if self.verbose:
                    lines += self.details(self.cases[case])
        print(", ".join("%s %d" % pair for pair in behaviors.most_common()), file=OUT)
        if self.shortened:
            print("cases of 12 and 13 with %d messages in place of 1000" % self.shortened, file=OUT)
        for line in lines:
            print(line, file=OUT)
        if missing:
            print("%-13s %s" % ("NOT RUN", " ".join(missing[:12]) + (" … %s" % missing[-1] if len(missing) > 12 else "")), file=OUT)
        for fault in self.faults[:5]:
            print("fault in the suite itself: %s" % fault, file=OUT)
        if self.trouble:
            print(self.trouble, file=OUT)
        print("%d ok, %d non-strict, %d failed of %d" % (verdicts["ok"], verdicts["non-strict"], verdicts["failed"], len(self.wanted)), file=OUT)
        OUT.flush()
        return 0 if verdicts["ok"] == len(self.wanted) and not self.faults else 1

    def details(self, result):
        yield "    %s" % plain(result["description"], 200)
        for behavior, events in result["expected"].items():
            yield "    expected for %s: %s" % (behavior, events)
        yield "    received: %s" % (result["received"],)
        yield "    closed by %s, clean %s (%s), code here %s, code there %s %s" % (
            "the suite" if result["closedByMe"] else "the peer", result["wasClean"], result["wasNotCleanReason"],
            result["localCloseCode"], result["remoteCloseCode"], result["remoteCloseReason"] or "")
        for entry in result["wirelog"]:
            yield "    %s" % entry


def give_up(sentence):
    print(sentence, file=OUT, flush=True)
    sys.exit(2)


def chosen(names, patterns):
    """The cases among `names` that are, or begin with, one of the patterns; a pattern without a case is an error."""
    found = set()
    for pattern in patterns:
        stem = pattern.rstrip("*").rstrip(".")
        matching = [name for name in names if name == stem or name.startswith(stem + ".")]
        if not matching:
            give_up("no such case: %s" % pattern)
        found.update(matching)
    return [name for name in names if name in found]


def main():
    parser = argparse.ArgumentParser(prog="Scripts/autobahn/run")
    parser.add_argument("--server", type=int, metavar="PORT")
    parser.add_argument("--skip", action="append", default=[], metavar="CASE")
    parser.add_argument("--messages", type=int, default=0, metavar="N")
    parser.add_argument("--patience", type=float, default=1, metavar="N")
    parser.add_argument("-v", "--verbose", action="store_true")
    parser.add_argument("rest", nargs="*")
    arguments = parser.parse_intermixed_args()
    url = None if arguments.server is not None else (arguments.rest.pop(0) if arguments.rest else parser.error("a URL is needed"))
    if url is not None and not url.startswith(("ws://", "wss://")):
        parser.error("the URL has to begin with ws:// or wss://")

    with contextlib.redirect_stdout(io.StringIO()):
        fuzzing = load()
    adapt(fuzzing, arguments.verbose, arguments.patience)
    from autobahntestsuite.case import Cases
    from twisted.internet import reactor
    from twisted.internet.error import CannotListenError
    from twisted.logger import globalLogBeginner, formatEvent

    names = [".".join(case.__name__[len("Case"):].split("_")) for case in Cases]
    names.sort(key=lambda name: [int(number) for number in name.split(".")])
    wanted = chosen(names, arguments.rest) if arguments.rest else list(names)
    skipped = set(chosen(names, arguments.skip)) if arguments.skip else set()
    wanted = [name for name in wanted if name not in skipped]
    shortened = arguments.messages if any(name.split(".")[0] in ("12", "13") for name in wanted) else 0
    if shortened:
        for case in Cases:
            if hasattr(case, "COUNT") and hasattr(case, "WAITSECS"):
                case.COUNT = shortened

    results = Results(wanted, arguments.verbose, shortened)

    def observe(event):
        if event.get("log_failure") is not None:
            failure = event["log_failure"]
            frames = failure.getTraceback().strip().splitlines()
            results.faults.append("%s (%s)" % (frames[-1].strip(), " ".join(frames[-3].split()) if len(frames) > 2 else ""))
            if arguments.verbose:
                print(failure.getTraceback(), file=sys.stderr)
        elif arguments.verbose and event.get("log_level") and event["log_level"].name in ("warn", "error", "critical"):
            print("  " + formatEvent(event), file=sys.stderr)

    globalLogBeginner.beginLoggingTo([observe], discardBuffer=True, redirectStandardIO=False)
    fuzzing.FuzzingFactory.logCase = lambda self, result: results.add(self, result)
    fuzzing.FuzzingFactory.createReports = lambda self, *rest: None

    def stop(*rest):
        if reactor.running:
            reactor.callFromThread(reactor.stop)

    spec = {"cases": wanted, "exclude-cases": [], "exclude-agent-cases": {}}
    silence = contextlib.redirect_stdout(io.StringIO() if not arguments.verbose else sys.stderr)
    with silence:
        if url is not None:
            failed = fuzzing.FuzzingClientFactory.clientConnectionFailed

            def unreachable(self, connector, reason):
                results.trouble = "no connection to %s: %s" % (url, reason.getErrorMessage())
                failed(self, connector, reason)

            fuzzing.FuzzingClientFactory.clientConnectionFailed = unreachable
            fuzzing.startClient(dict(spec, servers=[{"url": url, "agent": "peer"}]))
        else:
            factory = fuzzing.FuzzingServerFactory(dict(spec, url="ws://127.0.0.1:%d" % (arguments.server or 80)))
            # Leave when the client asks for its report: one run is one client.
            factory.createReports = lambda *rest: reactor.callLater(0.5, stop)
            try:
                listener = reactor.listenTCP(arguments.server, factory, interface="127.0.0.1")
            except CannotListenError as error:
                give_up(str(error))
            print("listening on ws://127.0.0.1:%d, %d cases" % (listener.getHost().port, len(wanted)), file=OUT, flush=True)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, stop)
        limit = float(os.environ.get("AUTOBAHN_TIMEOUT", "7200"))
        reactor.callLater(limit, lambda: (setattr(results, "trouble", "stopped after %d seconds" % limit), stop()))
        reactor.run(installSignalHandlers=False)
    sys.exit(results.report())


main()
