import Coordination

/// A file that an origin sends whole or in ranges; counts the bytes sent.
package final class RangedFile: Sendable {
    private struct State {
        var bytes: [UInt8]
        var fields: [(name: String, value: String)]
        var requests: [Range<Int>?] = []
        var sentBytes = 0
    }

    private let state: Locked<State>

    /// With a strong `ETag`, ranges can be requested with `If-Range`.
    package init(_ bytes: [UInt8], _ fields: [(name: String, value: String)] = [("ETag", "\"1\"")]) {
        state = Locked(State(bytes: bytes, fields: fields))
    }

    /// Requested ranges, clamped to the file; nil for a request for all of it.
    package var requests: [Range<Int>?] { state.withLock { $0.requests } }

    /// Number of bytes in all bodies so far.
    package var sentBytes: Int { state.withLock { $0.sentBytes } }

    /// Replaces the file.
    package func become(_ bytes: [UInt8], _ fields: [(name: String, value: String)]) {
        state.withLock { ($0.bytes, $0.fields) = (bytes, fields) }
    }

    /// The response of an origin that follows RFC 9110 sections 13 and 14.
    ///
    /// - Parameter isLying: Whether to send the range even if `If-Range` does not match.
    package func answer(to request: FakeOrigin.Request, isLying: Bool = false) -> FakeResponse {
        state.withLock { state in
            let range = Self.range(request.value("Range"), of: state.bytes.count)
            state.requests.append(range)
            var answer = FakeResponse(fields: [("Content-Type", "application/octet-stream")] + state.fields)
            func has(_ value: String?) -> Bool { state.fields.contains { $0.value == value } }
            if let tag = request.value("If-None-Match"), has(tag) {
                answer.status = 304
                return answer
            }
            if request.value("Range") != nil, isLying || request.value("If-Range").map(has) ?? true {
                guard let range else {
                    answer.status = 416
                    return answer.with("Content-Range", "bytes */\(state.bytes.count)")
                }
                answer.status = 206
                answer = answer.with(
                    "Content-Range", "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(state.bytes.count)")
                answer.body = Array(state.bytes[range])
            } else {
                answer.body = state.bytes
            }
            state.sentBytes += answer.body.count
            return answer
        }
    }

    private static func range(_ text: String?, of count: Int) -> Range<Int>? {
        let numbers = text?.dropFirst("bytes=".count).split(separator: "-").compactMap { Int($0) } ?? []
        guard numbers.count == 2, numbers[0] < count else { return nil }
        return numbers[0]..<min(numbers[1] + 1, count)
    }
}
