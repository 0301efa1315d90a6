import HTTPCodecs
import HTTPParser
import HTTPServerCore
internal import HTTPServerKit

/// Documents of some media types.
extension BinRouter {
    mutating func addDocuments() {
        group("Documents")
        document("/html", "A page.", .html, BinText.html)
        document("/json", "Nested JSON.", .json, BinText.json)
        document("/xml", "XML.", MediaType("application/xml") ?? .plainText, BinText.xml)
        document(
            "/encoding/utf8", "A page with many writing systems, in UTF-8.", .html,
            BinText.scripts)
        document(
            "/robots.txt", "Rules for robots, which exclude /deny.", .plainText,
            "User-agent: *\nDisallow: /deny\n")
        document(
            "/deny", "A page closed to robots.", .plainText, "Robots were asked not to come.\n")
        document("/forms/post", "A form, which is sent to /post.", .html, BinText.form)
        answer(
            [.get], "/links/:n/:offset", "A page with n links to pages like it, at most 200.",
            example: "/links/10/0"
        ) { request in
            let count = min(max(try request.number("n"), 1), 200)
            let current = try request.number("offset")
            let links = (0..<count).map { number in
                number == current
                    ? "\(number)" : "<a href='/links/\(count)/\(number)'>\(number)</a>"
            }
            return .html(
                "<!doctype html><html><head><title>Links</title></head><body>"
                    + links.joined(separator: " ") + "</body></html>\n")
        }
        answer([.get], "/links/:n", "") { request in
            .redirect(to: "/links/\(try request.number("n"))/0")
        }
    }

    private mutating func document(
        _ path: String, _ text: String, _ mediaType: MediaType, _ content: String
    ) {
        var mediaType = mediaType
        if mediaType.type == "text", mediaType["charset"] == nil {
            mediaType = MediaType("\(mediaType.essence); charset=utf-8") ?? mediaType
        }
        let body = ResponseBody.text(content, mediaType: mediaType.description)
        answer([.get], path, text) { _ in Response(.ok, body: body) }
    }
}

/// The texts.
private enum BinText {
    static let html = """
        <!doctype html>
        <html lang="en">
        <head><meta charset="utf-8"><title>A lighthouse</title></head>
        <body>
        <h1>The lamp is lit at dusk</h1>
        <p>The keeper counts the turns: one flash, a breath, and another. A ship that counts the \
        same knows where she is.</p>
        <p>At dawn he writes the night into a book, one line for each hour, wipes the glass and \
        goes to sleep.</p>
        </body>
        </html>

        """

    static let json = """
        {
          "lighthouse": {
            "name": "Sandy Point",
            "height": 31.5,
            "lit": true,
            "light": {
              "period": 10,
              "flashes": [1, 4]
            },
            "keepers": [
              {"name": "Ada", "since": 1843},
              {"name": "Grace", "since": 1906}
            ],
            "closed": null
          }
        }

        """

    static let xml = """
        <?xml version="1.0" encoding="utf-8"?>
        <!-- A lighthouse -->
        <lighthouse name="Sandy Point" lit="true">
          <height unit="m">31.5</height>
          <light period="10"><flash at="1"/><flash at="4"/></light>
          <keeper since="1843">Ada</keeper>
          <keeper since="1906">Grace</keeper>
        </lighthouse>

        """

    static let scripts = """
        <!doctype html>
        <html lang="en">
        <head><meta charset="utf-8"><title>Scripts</title></head>
        <body>
        <h1>“Good morning” — in UTF-8</h1>
        <ul>
        <li lang="de">Guten Morgen, schöne Grüße</li>
        <li lang="el">Καλημέρα κόσμε</li>
        <li lang="ru">Доброе утро</li>
        <li lang="he" dir="rtl">בוקר טוב</li>
        <li lang="ar" dir="rtl">صباح الخير</li>
        <li lang="hi">सुप्रभात</li>
        <li lang="th">สวัสดีตอนเช้า</li>
        <li lang="zh">早上好</li>
        <li lang="ja">おはようございます</li>
        <li lang="ko">좋은 아침입니다</li>
        </ul>
        <p>∀x ∈ ℝ: ⌈x⌉ = −⌊−x⌋ · ½ + ¼ ≤ ¾ · 10 €, 5 £ · 🌅 🏳️‍🌈 · e\u{0301} = é</p>
        </body>
        </html>

        """

    static let form = """
        <!doctype html>
        <html lang="en">
        <head><meta charset="utf-8"><title>An order</title></head>
        <body>
        <form method="post" action="/post">
        <p><label>Name <input name="custname" autocomplete="name"></label></p>
        <p><label>Telephone <input type="tel" name="custtel" autocomplete="tel"></label></p>
        <p><label>E-mail <input type="email" name="custemail" autocomplete="email"></label></p>
        <fieldset><legend>Size</legend>
        <p><label><input type="radio" name="size" value="small"> small</label></p>
        <p><label><input type="radio" name="size" value="medium"> medium</label></p>
        <p><label><input type="radio" name="size" value="large"> large</label></p>
        </fieldset>
        <fieldset><legend>With</legend>
        <p><label><input type="checkbox" name="topping" value="cheese"> cheese</label></p>
        <p><label><input type="checkbox" name="topping" value="onion"> onion</label></p>
        <p><label><input type="checkbox" name="topping" value="mushroom"> mushroom</label></p>
        </fieldset>
        <p><label>When <input type="time" name="delivery" min="11:00" max="21:00" step="900">\
        </label></p>
        <p><label>Remarks <textarea name="comments"></textarea></label></p>
        <p><button>Order</button></p>
        </form>
        </body>
        </html>

        """
}
