internal import Foundation

extension Program {
    /// The path of the built `httpkit`, which stands beside the bundle of tests.
    package static var httpkit: String {
        tests.deletingLastPathComponent().appendingPathComponent("httpkit").path
    }

    /// The path of the program that these tests are.
    package static var own: String { tests.path }

    /// The program, on Darwin of the bundle, that these tests are.
    private static var tests: URL {
        #if canImport(Darwin)
            let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }
            return bundle?.bundleURL ?? Bundle.main.bundleURL
        #else
            return Bundle.main.executableURL ?? URL(fileURLWithPath: CommandLine.arguments[0])
        #endif
    }
}
