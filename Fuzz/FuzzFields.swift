import HTTPTypes

/// Dates, cache directives and media types: whatever is taken is written as something that reads back the same.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let text = String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    let now = HTTPDate(secondsSince1970: 1_800_000_000)
    if let date = HTTPDate(text, now: now) {
        precondition(HTTPDate(date.imfFixdate, now: now) == date, "\(text) is written as \(date.imfFixdate)")
    }
    let control = CacheControl(text)
    for name in ["max-age", "s-maxage", "stale-if-error"] {
        let isThere = control.contains(name)
        precondition((control.seconds(name) != nil) == isThere, "\(text) has \(name) and has it not")
        precondition((0...1 << 31).contains(control.seconds(name) ?? 0), "\(text) has a wrong \(name)")
    }
    precondition(CacheControl(text) == control, "\(text) is read in two ways")
    if let type = MediaType(text) {
        precondition(MediaType(type.description) == type, "\(text) is another type when read again")
    }
    for member in HTTPSyntax.list(text) {
        precondition(!member.isEmpty, "\(text) has an empty member")
    }
    return 0
}
