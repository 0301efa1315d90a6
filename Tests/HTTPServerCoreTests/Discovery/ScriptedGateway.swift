#if os(Linux)
    import TestSupport

    /// A gateway that answers NAT-PMP on a separate loopback address, by a plan.
    struct ScriptedGateway {
        let address: String
        private let program: RunningProgram

        private static let script = """
            import socket, struct, sys
            addresses, plan = sys.argv[2].split(","), sys.argv[3].split(",")
            gateway = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            gateway.bind((sys.argv[1], 5351))
            print("ready", flush=True)

            def mapping(result, port, given, granted):
                return struct.pack("!BBHIHHI", 0, 130, result, 1, port, given, granted)

            def external(address):
                return struct.pack("!BBHI", 0, 128, 0, 1) + socket.inet_aton(address)

            def following(steps):
                return steps.pop(0) if len(steps) > 1 else steps[0]

            # What was answered to whom. Clients repeat a request after a quarter of a second, each
            # sends it from a separate port.
            answered = {}

            def answer(*messages):
                answered[peer, request] = messages
                for message in messages:
                    gateway.sendto(message, peer)

            while True:
                request, peer = gateway.recvfrom(64)
                if (peer, request) in answered:
                    answer(*answered[peer, request])
                    continue
                if request == bytes(2):
                    print("address", flush=True)
                    address = following(addresses)
                    if address.startswith("late+"):
                        late = mapping(0, 8099, 1, 60)
                        answer(late, external(address.removeprefix("late+")))
                    elif address != "silent":
                        answer(external(address))
                    continue
                version, code, _, port, wish, lifetime = struct.unpack("!BBHHHI", request)
                assert (version, code) == (0, 2), "not a request to map a TCP port"
                print(f"map {port} wish {wish} for {lifetime}", flush=True)
                verb, _, number = following(plan).partition(":")
                if verb == "silent":
                    continue
                result, given, granted = 0, wish + 1, int(number or 0)
                late = []
                if lifetime == 0:
                    given, granted = 0, 0
                elif verb == "keep":
                    given = wish
                elif verb == "refuse":
                    result, given, granted = granted, 0, 0
                elif verb == "late":
                    late = [external("198.51.100.1"), mapping(0, port + 1, 1, 60)]
                answer(*late, mapping(result, port, given, granted))
            """

        /// A repeated request gets the same answer, without a line of output or a step of the plan.
        /// After `silent` a repeated request takes the next step.
        /// - Parameters:
        ///   - addresses: the external addresses to report, one per request; the last one repeats.
        ///     `silent` sends no answer; `late+ADDRESS` first answers another request.
        ///   - plan: the reactions to requests to map a port, one per request; the last repeats.
        ///     `grant:SECONDS` gives the port after the requested one, `keep:SECONDS` the requested
        ///     one. `refuse:CODE` refuses, `late:SECONDS` first answers other requests, and
        ///     `silent` sends no answer.
        init(
            addresses: [String], plan: [String], address: String = ScriptedGateway.anyAddress()
        ) async throws {
            self.address = address
            program = try RunningProgram(
                "python3",
                [
                    "-c", Self.script, address, addresses.joined(separator: ","),
                    plan.joined(separator: ","),
                ])
            guard await program.wait(until: { $0.text.hasPrefix("ready\n") }) else {
                throw Program.Failure(program.complaints)
            }
        }

        /// A random loopback address of this machine.
        static func anyAddress() -> String {
            let parts = (0..<2).map { _ in String(Int.random(in: 1...254)) }
            return "127.\(Int.random(in: 64...254)).\(parts.joined(separator: "."))"
        }

        /// The requests so far, in order.
        var requests: [String] {
            program.text.split(separator: "\n").dropFirst().map(String.init)
        }
    }
#endif
