// Measures how fast targets are read: targets a second of CPU time in Alula's dialect and in those of other services,
// and how the time grows with the length of targets that were made to take long. The dialects take turns within one
// run.
//
// Usage: targets [--rounds 15] [--count 2000]
import Dialects
import Measuring
import Text

private struct Options {
    var rounds = 15
    var count = 2_000

    init(_ arguments: ArraySlice<String>) {
        var rest = arguments
        while let argument = rest.popFirst() {
            switch argument {
            case "--rounds": rounds = rest.popFirst().flatMap { Int($0) } ?? rounds
            case "--count": count = rest.popFirst().flatMap { Int($0) } ?? count
            default: fatalError("\(argument) is unknown")
            }
        }
    }
}

/// A dialect and what is asked of it.
private struct Subject {
    let dialect: any Dialect
    /// The same image in the same size and quality in all dialects.
    let target: String
    /// Targets of about this many bytes, with what they repeat.
    let hostile: [(name: String, target: @Sendable (Int) -> String)]

    /// CPU microseconds to read a target.
    func time(_ target: String, count: Int) -> Double {
        let asked = RequestedTarget(target, accept: "image/avif,image/webp,*/*;q=0.8")
        let start = processMilliseconds()
        for _ in 0..<count {
            _ = dialect.isAuthentic(asked)
            _ = try? dialect.request(in: asked)
        }
        return (processMilliseconds() - start) * 1_000 / Double(count)
    }
}

/// `part` as often as it fits into `bytes`.
private func repeated(_ part: String, _ bytes: Int) -> String {
    String(repeating: part, count: max(1, bytes / part.utf8.count))
}

private func subjects() -> [Subject] {
    var imgproxy = ImgproxyConfiguration()
    imgproxy.prefix = PathPrefix("/i")
    var thumbor = ThumborConfiguration()
    thumbor.prefix = PathPrefix("/t")
    guard let imgproxy = ImgproxyDialect(imgproxy), let thumbor = ThumborDialect(thumbor),
        let prefix = PathPrefix("/w")
    else { fatalError("a dialect has no place") }
    let source = "https://example.com/images/curiosity.jpg"
    let escaped = "https%3A%2F%2Fexample.com%2Fimages%2Fcuriosity.jpg"
    return [
        Subject(
            dialect: NativeDialect(), target: "/thumbnail?url=\(escaped)&w=300&h=200&fit=cover&q=80&format=webp",
            hostile: [
                ("parameters", { "/thumbnail?url=\(escaped)" + repeated("&w=1", $0) }),
                ("escapes", { "/thumbnail?w=1&url=https%3A%2F%2Fa%2F" + repeated("%2F", $0) }),
            ]),
        Subject(
            dialect: imgproxy, target: "/i/_/rs:fill:300:200/q:80/plain/\(source)@webp",
            hostile: [
                ("options", { "/i/_/" + repeated("q:80/", $0) + "plain/" + source }),
                ("arguments", { "/i/_/pd" + repeated(":1", $0) + "/plain/" + source }),
                ("slashes", { "/i/_/w:1/plain/http:" + repeated("/", $0) + "a" }),
                ("base64", { "/i/_/w:1/" + repeated("aHR0/", $0) }),
            ]),
        Subject(
            dialect: thumbor, target: "/t/unsafe/300x200/filters:quality(80):format(webp)/\(source)",
            hostile: [
                ("filters", { "/t/unsafe/filters" + repeated(":blur(1)", $0) + "/" + source }),
                (
                    "nested filters",
                    { "/t/unsafe/filters:" + repeated("image(/filters:", $0) + repeated(")", $0 / 15) + "/" + source }
                ),
                ("brackets", { "/t/unsafe/filters:fill(" + repeated("(", $0) + "/" + source }),
                ("slashes", { "/t/unsafe/" + repeated("/", $0) + source }),
            ]),
        Subject(
            dialect: WsrvDialect(at: prefix), target: "/w/?url=\(escaped)&w=300&h=200&fit=cover&q=80&output=webp",
            hostile: [
                ("parameters", { "/w/?url=a.com/b" + repeated("&w=1", $0) }),
                ("escapes", { "/w/?w=1&url=a.com/" + repeated("%2525", $0) }),
                ("numbers", { "/w/?url=a.com/b&mod=" + repeated("1,", $0) }),
            ]),
    ]
}

private func rounded(_ value: Double, _ digits: Int = 1) -> String {
    let unit = digits == 0 ? 1 : 10
    let whole = Int((value * Double(unit)).rounded())
    return digits == 0 ? "\(whole)" : "\(whole / unit).\(whole % unit)"
}

private let options = Options(CommandLine.arguments.dropFirst())
private let measured = subjects()
private var least = measured.map { _ in Double.infinity }
for _ in 0..<options.rounds {
    for (index, subject) in measured.enumerated() {
        least[index] = min(least[index], subject.time(subject.target, count: options.count))
    }
}
print("targets a second of CPU time, least of \(options.rounds) rounds")
for (subject, time) in zip(measured, least) {
    print("  \(subject.dialect.name): \(rounded(1_000_000 / time, 0)), \(rounded(time)) µs each")
}
print("microseconds for targets of 2 and 8 KB, and their ratio: 4 is linear, 16 quadratic")
for subject in measured {
    for (name, target) in subject.hostile {
        let times = [2_000, 8_000].map { bytes in
            (0..<options.rounds).map { _ in subject.time(target(bytes), count: max(1, options.count / 40)) }.min() ?? 0
        }
        let ratio = times[1] / max(times[0], 0.01)
        print("  \(subject.dialect.name), \(name): \(rounded(times[0])) \(rounded(times[1])) ×\(rounded(ratio))")
    }
}
