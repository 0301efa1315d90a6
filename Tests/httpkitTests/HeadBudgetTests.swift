import HTTPParser
import Testing

@testable import httpkit

@Suite("Limits on a whole head and on a target")
struct HeadBudgetTests {
    private static let head = "GET /abcd HTTP/1.1\r\nHost: a\r\n\r\n"

    private func fault(
        _ head: String, headBytes: Int? = nil, targetBytes: Int? = nil
    ) -> HTTPParseError? {
        HeadBudget(headBytes: headBytes, targetBytes: targetBytes)
            .fault(in: Array(head.utf8), at: 100)
    }

    @Test("A head of exactly the limit passes, and empty lines before it do not count")
    func atLimit() {
        let count = Self.head.utf8.count
        #expect(fault(Self.head, headBytes: count, targetBytes: 5) == nil)
        #expect(fault("\r\n\r\n" + Self.head, headBytes: count, targetBytes: 5) == nil)
        #expect(fault("", headBytes: 0, targetBytes: 0) == nil)
        #expect(fault("\r\n", headBytes: 0, targetBytes: 0) == nil)
    }

    @Test("A head above the limit is refused at the first byte above it")
    func aboveLimit() {
        let count = Self.head.utf8.count
        #expect(
            fault(Self.head, headBytes: count - 1)
                == HTTPParseError(.fieldsTooLong, at: 100 + count - 1))
        #expect(
            fault("\r\n" + Self.head, headBytes: count - 1)
                == HTTPParseError(.fieldsTooLong, at: 102 + count - 1))
        #expect(fault(Self.head, headBytes: 7) == HTTPParseError(.requestLineTooLong, at: 107))
        #expect(fault(Self.head, targetBytes: 4) == HTTPParseError(.requestLineTooLong, at: 108))
    }

    @Test("An unfinished head is checked, too")
    func unfinished() {
        #expect(fault("GET /abcd", targetBytes: 5) == nil)
        #expect(fault("GET /abcd", targetBytes: 4) == HTTPParseError(.requestLineTooLong, at: 108))
        #expect(fault("GET", targetBytes: 0) == nil)
        #expect(fault("GET", headBytes: 2) == HTTPParseError(.requestLineTooLong, at: 102))
    }

    @Test("Of two exceeded limits, the error names the one that is exceeded first")
    func firstFault() {
        #expect(
            fault(Self.head, headBytes: 20, targetBytes: 2)
                == HTTPParseError(.requestLineTooLong, at: 106))
        #expect(
            fault(Self.head, headBytes: 5, targetBytes: 2)
                == HTTPParseError(.requestLineTooLong, at: 105))
    }
}
