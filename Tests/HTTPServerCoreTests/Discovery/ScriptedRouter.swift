#if os(Linux)
    import HTTPServerDiscovery
    import TestSupport

    /// A router that speaks UPnP IGD on a separate loopback address, by a plan. It serves its
    /// description and its actions over HTTP, and answers searches by SSDP.
    final class ScriptedRouter: Sendable {
        /// The address of the router.
        let address: String
        /// The URL of its description.
        let description: String
        private let program: RunningProgram

        private static let script = #"""
            import os, re, socket, struct, sys, threading, time

            address = sys.argv[1]
            plan = dict(word.partition("=")[::2] for word in sys.argv[2:])
            steps = plan.get("plan", "grant").split(",")
            addresses = plan.get("addresses", "203.0.113.7").split(",")
            # Port outside: machine inside, its port, seconds.
            entries = {int(port): ("127.0.0.2", int(port), 0)
                       for port in plan.get("taken", "").split("+") if port}
            kind = "urn:schemas-upnp-org:service:WAN%sConnection:1"
            lock = threading.Lock()

            def say(text):
                with lock:
                    print(text, flush=True)

            def following(list):
                return list.pop(0) if len(list) > 1 else list[0]

            def service(line):
                control = plan.get("control", "/control").replace("/control", "/control/" + line)
                return f"""<service><serviceType>{kind % line}</serviceType>
                    <serviceId>urn:upnp-org:serviceId:WAN{line}Conn1</serviceId>
                    <controlURL>{control}</controlURL><eventSubURL>/event</eventSubURL>
                    <SCPDURL>/scpd.xml</SCPDURL></service>"""

            def description():
                lines = plan.get("lines", "IP").split("+")
                return f"""<?xml version="1.0"?>
                    <root xmlns="urn:schemas-upnp-org:device-1-0"><device>
                    <deviceType>urn:schemas-upnp-org:device:InternetGatewayDevice:1</deviceType>
                    <deviceList><device><serviceList>{"".join(service(line) for line in lines)}
                    </serviceList></device></deviceList></device></root>"""

            def soap(action, text):
                return 200, f"""<?xml version="1.0"?>
                    <s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body>
                    <u:{action}Response xmlns:u="urn:x">{text}</u:{action}Response>
                    </s:Body></s:Envelope>"""

            def error(code):
                return 500, f"""<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/">
                    <s:Body><s:Fault><faultcode>s:Client</faultcode><faultstring>UPnPError</faultstring>
                    <detail><UPnPError xmlns="urn:schemas-upnp-org:control-1-0">
                    <errorCode>{code}</errorCode><errorDescription>No</errorDescription></UPnPError>
                    </detail></s:Fault></s:Body></s:Envelope>"""

            def add(values, step):
                outside, inside = int(values["NewExternalPort"]), int(values["NewInternalPort"])
                seconds, client = int(values["NewLeaseDuration"]), values["NewInternalClient"]
                verb, _, number = step.partition(":")
                if verb == "refuse":
                    return error(number)
                if plan.get("leases") == "permanent" and seconds:
                    return error(725)
                if plan.get("ports") == "same" and outside != inside:
                    return error(724)
                known = entries.get(outside)
                if known and (known[0] != client or plan.get("renewal") == "refused"):
                    return error(718)
                if verb != "pretend":
                    entries[outside] = (client, inside, int(number or seconds))
                return soap("AddPortMapping", "")

            def act(action, values, line):
                if action == "GetStatusInfo":
                    say(f"status {line}")
                    status = "Connected" if line == plan.get("up", "IP") else "Disconnected"
                    return soap(action, f"<NewConnectionStatus>{status}</NewConnectionStatus>")
                if action == "GetExternalIPAddress":
                    say("address")
                    return soap(action,
                        f"<NewExternalIPAddress>{following(addresses)}</NewExternalIPAddress>")
                outside = int(values["NewExternalPort"])
                if action == "AddPortMapping":
                    say("add {NewExternalPort} to {NewInternalClient}:{NewInternalPort} for "
                        "{NewLeaseDuration}".format(**values))
                    step = following(steps)
                    if step == "unanswered":
                        add(values, "grant")
                        return "silent"
                    return step if step in SPECIAL else add(values, step)
                if action == "GetSpecificPortMappingEntry":
                    if plan.get("entries") == "untold":
                        return error(602)
                    if plan.get("entries") in SPECIAL:
                        return plan["entries"]
                    if outside not in entries:
                        return error(714)
                    client, inside, seconds = entries[outside]
                    return soap(action, f"""<NewInternalPort>{inside}</NewInternalPort>
                        <NewInternalClient>{client}</NewInternalClient><NewEnabled>1</NewEnabled>
                        <NewLeaseDuration>{seconds}</NewLeaseDuration>""")
                if action == "DeletePortMapping":
                    say(f"delete {outside}")
                    if plan.get("removal") == "silent":
                        return "silent"
                    if plan.get("removal") == "late":
                        time.sleep(1.2)
                    return soap(action, "") if entries.pop(outside, None) else error(714)
                return error(401)

            def flood(peer):
                while True:
                    peer.sendall(b"<a>" * 10000)

            def drip(peer):
                while True:
                    peer.sendall(b"<")
                    time.sleep(0.02)

            def head(status, more):
                return f"HTTP/1.1 {status} Said\r\nContent-Type: text/xml\r\n{more}\r\n".encode()

            # Answers that are none: nothing, no XML, XML that is cut off, another status, a document
            # without an end, one that comes byte by byte.
            SPECIAL = {
                "silent": lambda peer: time.sleep(60),
                "closed": lambda peer: None,
                "noise": lambda peer: peer.sendall(bytes(range(256)) * 4),
                "garbage": lambda peer: peer.sendall(
                    head(200, "Content-Length: 16\r\n") + b"<<<><&;]]>\x00\xff<!--"),
                "cut": lambda peer: peer.sendall(head(200, "Content-Length: 500\r\n") + b"<root>"),
                "missing": lambda peer: peer.sendall(head(404, "Content-Length: 0\r\n")),
                "forbidden": lambda peer: peer.sendall(head(403, "Content-Length: 0\r\n")),
                "flood": lambda peer: (peer.sendall(head(200, "")), flood(peer)),
                "huge": lambda peer: (
                    peer.sendall(head(200, "Content-Length: 9999999999\r\n")), flood(peer)),
                "drip": lambda peer: (peer.sendall(head(200, "")), drip(peer)),
            }

            def answer(request):
                path = request.split(" ", 2)[1]
                if path == "/description.xml":
                    say("description")
                    how = plan.get("description", "good")
                    text = description()
                    # A comment makes it as long as it shall be.
                    missing = int(plan.get("length", 0)) - len(text) - 7
                    return how if how in SPECIAL else (200, f"{text}<!--{'x' * missing}-->")
                found = re.search(r'(?im)^soapaction: "urn:[^"#]*WAN(\w+)Connection:1#(\w+)"', request)
                if not found or not path.endswith("/control/" + found[1]):
                    return "missing"
                values = dict(re.findall(r"<(New\w+)>([^<]*)</New", request))
                return act(found[2], values, found[1])

            def serve(peer):
                try:
                    request = b""
                    while b"\r\n\r\n" not in request:
                        request += peer.recv(65536)
                    length = re.search(rb"(?i)content-length: (\d+)", request)
                    end = request.index(b"\r\n\r\n") + 4 + int(length[1] if length else 0)
                    while len(request) < end:
                        request += peer.recv(65536)
                    said = answer(request.decode())
                    if said in SPECIAL:
                        SPECIAL[said](peer)
                    else:
                        body = said[1].encode()
                        peer.sendall(head(said[0], f"Content-Length: {len(body)}\r\n") + body)
                except OSError:
                    pass
                finally:
                    peer.close()

            def search(port):
                group = socket.inet_aton("239.255.255.250")
                hearing = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                hearing.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                hearing.bind(("239.255.255.250", 1900))
                hearing.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP,
                    group + socket.inet_aton("127.0.0.1"))
                speaking = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                speaking.bind((address, 0))
                urls = plan.get("locations", "http://ADDRESS:PORT/description.xml").split("+")

                def run():
                    while True:
                        request, peer = hearing.recvfrom(2048)
                        target = re.search(rb"(?im)^st: *(\S+)", request)[1].decode()
                        if not target.startswith("urn:schemas-upnp-org:device:InternetGateway"):
                            continue
                        for number, url in enumerate(urls):
                            url = url.replace("ADDRESS", address).replace("PORT", str(port))
                            speaking.sendto((f"HTTP/1.1 200 OK\r\nST: {target}\r\n"
                                f"LOCATION: {url}\r\nUSN: uuid:{number}\r\n\r\n").encode(), peer)
                threading.Thread(target=run, daemon=True).start()

            listening = socket.create_server((address, 0))
            port = listening.getsockname()[1]
            if plan.get("search"):
                search(port)
            say(f"ready {port}")
            while True:
                peer, _ = listening.accept()
                threading.Thread(target=serve, args=(peer,), daemon=True).start()
            """#

        /// - Parameter plan: words of the form `name=value`. `plan` lists the reactions to requests
        ///   to map a port, one per request; the last one repeats: `grant`, `grant:SECONDS` for a
        ///   shorter lease, `pretend`, `refuse:CODE`, `unanswered`, or the name of an invalid answer.
        init(_ plan: [String] = [], address: String = ScriptedGateway.anyAddress()) async throws {
            self.address = address
            let program = try RunningProgram("python3", ["-c", Self.script, address] + plan)
            guard await program.wait(until: { $0.text.contains("\n") }),
                let port = program.text.split(separator: "\n").first?.split(separator: " ").last
            else { throw Program.Failure(program.complaints) }
            self.program = program
            description = "http://\(address):\(port)/description.xml"
        }

        /// The requests so far, in order.
        var requests: [String] {
            program.text.split(separator: "\n").dropFirst().map(String.init)
        }

        /// Waits until a request has arrived so many times.
        func wait(for request: String, times: Int = 1) async -> Bool {
            await program.wait { program in
                let lines = program.text.split(separator: "\n")
                return lines.count(where: { $0 == request }) >= times
            }
        }

        /// A configuration that uses this router only.
        var configuration: NATPortMappingConfiguration {
            var configuration = NATPortMappingConfiguration()
            configuration.gateway = address
            configuration.protocols = [.upnp]
            configuration.patience = .seconds(60)
            return configuration
        }

        /// A mapper that searches for the router, and retries soon.
        func searchingMapper() -> NATPortMapper {
            var configuration = configuration
            configuration.retryInterval = .milliseconds(100)
            return NATPortMapper(configuration)
        }

        /// A mapper that does not search for the router.
        func mapper(
            _ change: (inout NATPortMappingConfiguration) -> Void = { _ in }
        ) -> NATPortMapper {
            var configuration = configuration
            change(&configuration)
            return NATPortMapper(configuration, description: description)
        }

        /// Ends the router, as a loss of power would.
        func end() async {
            program.signal(9)
            _ = await program.end()
        }
    }
#endif
