import HTTPServerCore
import HTTPServerKit
import Testing

@Suite("Natural order")
struct NaturalOrderTests {
    @Test(
        "Numbers compare as numbers, letters without regard to case",
        arguments: [
            ["1", "2", "10", "100"],
            ["a1", "A2", "a10", "b1"],
            ["a", "a1", "a1b", "aa"],
            ["IMG_2.jpg", "img_10.jpg", "IMG_010a.jpg", "img_11.jpg"],
            ["v1.2.9", "v1.2.10", "v1.10.1"],
            ["9", "99999999999999999999998", "99999999999999999999999"],
            ["0", "00", "01", "1", "2"],
            ["B", "b", "c"],
            ["éa", "Éb", "éc"],
        ])
    func order(names: [String]) {
        let keyed = names.reversed().map { (name: $0, key: NaturalOrderKey(Array($0.utf8))) }
        #expect(keyed.sorted { $0.key < $1.key }.map(\.name) == names)
    }

    @Test("The order is total: different names are never equal")
    func total() {
        let names = ["a", "A", "a0", "a00", "0", "00", "", "\u{FFFD}"].map { Array($0.utf8) }
        for left in names + [[0xFF]] {
            for right in names + [[0xFF]] {
                let (less, greater) = (
                    NaturalOrderKey(left) < NaturalOrderKey(right),
                    NaturalOrderKey(right) < NaturalOrderKey(left)
                )
                #expect((left == right) ? (!less && !greater) : (less != greater))
            }
        }
    }
}
