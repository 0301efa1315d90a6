"""What a server does of the work that a scenario measures: asked of each before the measurement.

A server that does not look at conditions, at locks, or at what a LOCK asks for is faster without, and
no measure for one that does. Its figures are shown all the same, with a mark.
"""

import http.client
import re

SHARED = ('<?xml version="1.0"?><D:lockinfo xmlns:D="DAV:"><D:lockscope><D:shared/></D:lockscope>'
          '<D:locktype><D:write/></D:locktype></D:lockinfo>')
EXCLUSIVE = SHARED.replace("shared", "exclusive")
PUTS, MOVES = ("put-1", "put-8", "put-over"), ("move",)


class Server:
    """A server under question, through a connection for each request."""

    def __init__(self, port):
        self.port = port

    def ask(self, method, path, content=None, **fields):
        connection = http.client.HTTPConnection("127.0.0.1", int(self.port), timeout=20)
        try:
            fields = {name.replace("_", "-"): value for name, value in fields.items()}
            connection.request(method, path, content, fields)
            response = connection.getresponse()
            return response.status, response.read().decode(errors="replace"), response.headers
        finally:
            connection.close()

    def lock(self, path, content):
        status, answer, headers = self.ask("LOCK", path, content, Depth="0",
                                           Content_Type="application/xml")
        token = re.search("<[^>]+>", headers.get("Lock-Token") or "")
        return status, answer, token.group() if token else None

    def unlock(self, path, token):
        if token:
            self.ask("UNLOCK", path, Lock_Token=token)


def looks_at_conditions(server):
    server.ask("PUT", "/probe", "old")
    status, _, _ = server.ask("PUT", "/probe", "new", If_None_Match="*")
    return status == 412


def reads_locks(server):
    """Whether a LOCK is answered by what it asks for: a shared lock, or a refusal of one."""
    status, answer, token = server.lock("/probe", SHARED)
    server.unlock("/probe", token)
    return status >= 400 or "exclusive" not in answer


def keeps_locked_members(server):
    """Whether a collection stays where it is while a member is locked by somebody else."""
    server.ask("MKCOL", "/probes/")
    server.ask("PUT", "/probes/member", "content")
    _, _, token = server.lock("/probes/member", EXCLUSIVE)
    status, _, _ = server.ask("MOVE", "/probes/",
                              Destination=f"http://127.0.0.1:{server.port}/moved-probes/")
    server.unlock("/probes/member", token)
    return token is not None and (status == 207 or status >= 400)


PROBES = [
    (looks_at_conditions, PUTS, "a PUT replaces what If-None-Match says it must not"),
    (reads_locks, ("lock",), "a LOCK is granted without a look at what it asks for"),
    (keeps_locked_members, MOVES, "a collection is moved away with a member that another locked"),
]


def less_work(port):
    """The scenarios in which a server does less than is asked, with what it leaves out."""
    server, found = Server(port), {}
    for probe, scenarios, text in PROBES:
        if not probe(server):
            found.update(dict.fromkeys(scenarios, text))
    for path in ("/probe", "/probes/", "/moved-probes/"):
        server.ask("DELETE", path)
    return found
