internal import Foundation

extension Program {
    /// The path of the built `httpkit`, which is next to the test bundle.
    package static var httpkit: String {
        tests.deletingLastPathComponent().appendingPathComponent("httpkit").path
    }

    /// The path of this test program.
    package static var own: String { tests.path }

    /// This test program; on Darwin its bundle.
    private static var tests: URL {
        #if canImport(Darwin)
            let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }
            return bundle?.bundleURL ?? Bundle.main.bundleURL
        #else
            return Bundle.main.executableURL ?? URL(fileURLWithPath: CommandLine.arguments[0])
        #endif
    }
}
