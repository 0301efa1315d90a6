import HTTPParser
import Testing

@Suite("The byte buffer")
struct ByteBufferTests {
    @Test("The buffer contains the appended bytes")
    func appending() {
        var buffer = ByteBuffer()
        #expect(buffer.isEmpty == true)
        buffer.append(1)
        buffer.append([2, 3])
        buffer.append([4, 5].span)
        buffer.append("A\u{FC}")
        buffer.append(literal: "B")
        #expect(buffer.bytes.copied == [1, 2, 3, 4, 5, 0x41, 0xC3, 0xBC, 0x42])
        #expect(buffer.count == 9)
        #expect(buffer.isEmpty == false)
    }

    @Test("Appending and consuming no bytes changes nothing")
    func empty() {
        var buffer = ByteBuffer()
        buffer.append([UInt8]())
        buffer.append("")
        buffer.append([UInt8]().span)
        buffer.consume(0)
        #expect(buffer.count == 0)
        #expect(buffer.bytes.copied == [])
    }

    @Test("Consuming removes bytes from the front, while the buffer grows and moves")
    func consuming() {
        var buffer = ByteBuffer(capacity: 8)
        var expected: [UInt8] = []
        var random = UInt64(1)
        for round in 0..<2_000 {
            random = random &* 6_364_136_223_846_793_005 &+ 1
            let amount = Int(random >> 60)
            let piece = (0..<amount).map { UInt8(truncatingIfNeeded: round &+ $0) }
            buffer.append(piece)
            expected += piece
            let taken = min(Int(random >> 40 & 15), expected.count)
            buffer.consume(taken)
            expected.removeFirst(taken)
            #expect(buffer.count == expected.count)
            guard buffer.bytes.copied == expected else {
                Issue.record("other bytes in round \(round)")
                return
            }
        }
    }

    @Test("The buffer is usable after removing all bytes, shrinking and reserving")
    func reuse() {
        var buffer = ByteBuffer()
        buffer.append([UInt8](repeating: 1, count: 10_000))
        buffer.shrink(to: 10)
        #expect(buffer.count == 10_000)
        buffer.removeAll()
        buffer.shrink(to: 10)
        buffer.append([2, 3])
        buffer.reserve(5_000)
        buffer.append([4])
        #expect(buffer.bytes.copied == [2, 3, 4])
    }

    @Test(
        "Numbers are appended in decimal digits",
        arguments: [
            0, 1, 9, 10, 99, 100, 4_294_967_295, 999_999_999_999_999_999,
            1_000_000_000_000_000_000, .max, -1, -10, .min,
        ] as [Int64])
    func decimal(number: Int64) {
        var buffer = ByteBuffer()
        buffer.append("x")
        buffer.append(decimal: number)
        #expect(String(decoding: buffer.bytes.copied, as: UTF8.self) == "x\(number)")
        var array = Array("x".utf8)
        array.append(decimal: number)
        #expect(array == buffer.bytes.copied)
    }

    @Test("Every power of ten and its neighbours are appended in decimal digits")
    func powers() {
        var power: Int64 = 1
        for _ in 0..<19 {
            for number in [power - 1, power, power + 1] {
                var buffer = ByteBuffer()
                buffer.append(decimal: number)
                #expect(String(decoding: buffer.bytes.copied, as: UTF8.self) == "\(number)")
                var array: [UInt8] = []
                array.append(decimal: number)
                #expect(array == buffer.bytes.copied)
            }
            power = power.multipliedReportingOverflow(by: 10).partialValue
        }
    }

    @Test("Numbers with any count of hexadecimal digits are appended")
    func hexadecimal() {
        var numbers: [UInt64] = [0, .max]
        for shift in 0..<64 as Range<UInt64> { numbers += [1 << shift, (1 << shift) - 1] }
        for number in numbers {
            var buffer = ByteBuffer()
            buffer.append(hexadecimal: number)
            #expect(
                String(decoding: buffer.bytes.copied, as: UTF8.self)
                    == String(number, radix: 16))
        }
    }

    @Test("Bytes that a closure writes are appended")
    func room() {
        var buffer = ByteBuffer()
        buffer.append([1])
        unsafe buffer.withRoom(3) { room in
            unsafe room[0] = 2
            return 1
        }
        #expect(buffer.bytes.copied == [1, 2])
    }
}
