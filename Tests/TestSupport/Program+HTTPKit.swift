internal import Foundation

extension Program {
    /// The path of the built `httpkit`, which stands beside the bundle of tests.
    package static var httpkit: String {
        #if canImport(Darwin)
            let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }
            let tests = bundle?.bundleURL ?? Bundle.main.bundleURL
        #else
            let tests = Bundle.main.executableURL ?? URL(fileURLWithPath: CommandLine.arguments[0])
        #endif
        return tests.deletingLastPathComponent().appendingPathComponent("httpkit").path
    }
}
