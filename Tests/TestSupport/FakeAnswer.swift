/// The script of a ``FakeOrigin`` for a path: an answer, and how it is delayed, held or broken off.
package struct FakeAnswer: Sendable {
    /// One thing to do on the connection.
    enum Step: Sendable {
        case send(ArraySlice<UInt8>)
        case wait(Duration)
        case hold(Gate)
        case waitForClose
        case close
        case reset
    }

    /// How the end of the body is signaled.
    package enum Framing: Sendable {
        /// `Content-Length` with the body's size.
        case length
        /// `Transfer-Encoding: chunked`
        case chunked
        /// The connection's end.
        case close
    }

    package var status = 200
    /// Header fields beside those of the framing.
    package var fields: [(name: String, value: String)] = []
    package var body: [UInt8] = []
    /// How the end of the body is signaled.
    package var framing = Framing.length

    private var beforeHead: [Step] = []
    private var breaks: [(count: Int, step: Step)] = []
    private var drip: (count: Int, pause: Duration)?
    private var raw: [Step]?

    /// An answer of this status, fields and body.
    package init(status: Int = 200, fields: [(name: String, value: String)] = [], body: [UInt8] = []) {
        self.status = status
        self.fields = fields
        self.body = body
    }

    /// An answer with an image.
    package static func image(_ bytes: [UInt8], type: String = "image/jpeg") -> FakeAnswer {
        FakeAnswer(fields: [("Content-Type", type)], body: bytes)
    }

    /// A status with a short text, if it may have one.
    package static func status(_ status: Int) -> FakeAnswer {
        if status == 204 || status == 304 { return FakeAnswer(status: status) }
        return FakeAnswer(
            status: status, fields: [("Content-Type", "text/plain")], body: Array("status \(status)\n".utf8))
    }

    /// A redirect to `location`.
    package static func redirect(to location: String, status: Int = 302) -> FakeAnswer {
        FakeAnswer(status: status, fields: [("Location", location)])
    }

    /// These bytes instead of an answer; then the connection is closed.
    package static func raw(_ bytes: [UInt8]) -> FakeAnswer { steps([.send(bytes[...]), .close]) }

    /// This text instead of an answer; then the connection is closed.
    package static func raw(_ text: String) -> FakeAnswer { raw(Array(text.utf8)) }

    /// This text instead of an answer, and more of it after a moment; the connection stays open.
    package static func open(_ text: String, _ rest: String = "") -> FakeAnswer {
        steps(
            [.send(Array(text.utf8)[...])]
                + (rest.isEmpty ? [] : [.wait(.milliseconds(50)), .send(Array(rest.utf8)[...])])
                // The last step's last byte goes alone, and could arrive with the next answer.
                + [.send([])])
    }

    /// Nothing, until the client gives up.
    package static let silence = steps([.waitForClose])

    /// The connection is closed without a byte.
    package static let closing = steps([.close])

    /// The connection is reset without a byte.
    package static let reset = steps([.reset])

    /// The same with another field.
    package func with(_ name: String, _ value: String) -> FakeAnswer {
        changed { $0.fields.append((name, value)) }
    }

    /// The same with the body's end marked in this way.
    package func framed(by framing: Framing) -> FakeAnswer {
        changed { $0.framing = framing }
    }

    /// The same after a pause.
    package func delayed(by pause: Duration) -> FakeAnswer {
        changed { $0.beforeHead.append(.wait(pause)) }
    }

    /// The same once the gate is open; the gate's arrivals are the requests so far.
    package func held(at gate: Gate) -> FakeAnswer {
        changed { $0.beforeHead.append(.hold(gate)) }
    }

    /// The same, but after `count` bytes of body it continues only once the gate is open.
    package func held(afterBytes count: Int, at gate: Gate) -> FakeAnswer {
        changed { $0.breaks.append((count, .hold(gate))) }
    }

    /// The same, but the connection is closed after `count` bytes of body.
    package func cut(afterBytes count: Int) -> FakeAnswer {
        changed { $0.breaks.append((count, .close)) }
    }

    /// The same, but the connection is reset after `count` bytes of body.
    package func reset(afterBytes count: Int) -> FakeAnswer {
        changed { $0.breaks.append((count, .reset)) }
    }

    /// The same, but the body comes in pieces of `count` bytes with a pause after each.
    package func dripping(_ count: Int, every pause: Duration) -> FakeAnswer {
        changed { $0.drip = (count, pause) }
    }

    /// All steps, in order; a HEAD request gets no body.
    func steps(isHead: Bool) -> [Step] {
        if let raw { return beforeHead + raw }
        var steps = beforeHead + [.send(Array(head.utf8)[...])]
        guard !isHead else { return steps }
        var position = 0
        for (count, step) in breaks.sorted(by: { $0.count < $1.count }) {
            let end = min(count, body.count)
            if end > position { steps += pieces(body[position..<end]) }
            position = max(position, end)
            steps.append(step)
        }
        if position < body.count { steps += pieces(body[position...]) }
        if framing == .chunked { steps.append(.send(Array("0\r\n\r\n".utf8)[...])) }
        if framing == .close { steps.append(.close) }
        return steps
    }

    private var head: String {
        var head = "HTTP/1.1 \(status) Scripted\r\n"
        for (name, value) in fields { head += "\(name): \(value)\r\n" }
        switch framing {
        case .length:
            let isAnnounced = fields.contains { $0.name.lowercased() == "content-length" }
            if !isAnnounced && status >= 200 && status != 204 && status != 304 {
                head += "Content-Length: \(body.count)\r\n"
            }
        case .chunked: head += "Transfer-Encoding: chunked\r\n"
        case .close: head += "Connection: close\r\n"
        }
        return head + "\r\n"
    }

    private func pieces(_ bytes: ArraySlice<UInt8>) -> [Step] {
        guard let drip else { return [.send(framed(bytes))] }
        return stride(from: bytes.startIndex, to: bytes.endIndex, by: drip.count).flatMap { start in
            [.send(framed(bytes[start..<min(start + drip.count, bytes.endIndex)])), .wait(drip.pause)]
        }
    }

    private func framed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        guard framing == .chunked else { return bytes }
        return (Array("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + Array("\r\n".utf8))[...]
    }

    private func changed(_ change: (inout FakeAnswer) -> Void) -> FakeAnswer {
        var copy = self
        change(&copy)
        return copy
    }

    private static func steps(_ steps: [Step]) -> FakeAnswer {
        FakeAnswer().changed { $0.raw = steps }
    }
}
