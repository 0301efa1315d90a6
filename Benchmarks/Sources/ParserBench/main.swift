// Measures one parser on one case, with the command line of the drivers in C:
//
//   ParserBench --only borrowed|owned|incremental|nio --case PATH --iterations N
//
// PATH is one `.http` file, or a folder whose `.http` files are parsed in rotation. Prints
// nanoseconds per request; `parser.py` runs it in turns with the others.

import Foundation

/// The value after `name` on the command line.
func argument(_ name: String) -> String? {
    let arguments = CommandLine.arguments
    guard let index = arguments.firstIndex(of: name), index + 1 < arguments.count else {
        return nil
    }
    return arguments[index + 1]
}

/// Ends the program with a line on standard error.
func refuse(_ text: String) -> Never {
    FileHandle.standardError.write(Data((text + "\n").utf8))
    exit(1)
}

/// The requests of a file, or of a folder in the order of their names.
func requests(at path: String) throws -> [[UInt8]] {
    guard !path.hasSuffix(".http") else {
        return [[UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))]
    }
    let names = try FileManager.default.contentsOfDirectory(atPath: path)
    return try names.filter { $0.hasSuffix(".http") }.sorted().map { name in
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: "\(path)/\(name)")))
    }
}

guard let name = argument("--only"), let path = argument("--case"),
    let iterations = argument("--iterations").flatMap(Int.init), iterations > 0
else {
    refuse("usage: ParserBench --only NAME --case PATH --iterations N")
}
let cases = try requests(at: path)
guard !cases.isEmpty else { refuse("no cases in \(path)") }
let result: Double?
switch name {
case "borrowed": result = measure(BorrowedHead.self, cases, iterations: iterations)
case "owned": result = measure(OwnedHead.self, cases, iterations: iterations)
case "incremental": result = measure(Incremental.self, cases, iterations: iterations)
case "nio": result = measure(NIODecoder.self, cases, iterations: iterations)
default: refuse("no parser of the name \(name)")
}
guard let result else { refuse("a request of \(path) was not parsed") }
print(result)
