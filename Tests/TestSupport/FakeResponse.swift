/// The response of a ``FakeOrigin`` to a path, as steps that can delay, hold or cut it.
package struct FakeResponse: Sendable {
    /// An action on the connection.
    enum Step: Sendable {
        case send(ArraySlice<UInt8>)
        case wait(Duration)
        case hold(Gate)
        case waitForClose
        case close
        case reset
    }

    /// Marks the end of the body.
    package enum Framing: Sendable {
        /// `Content-Length` with the body's size
        case length
        /// `Transfer-Encoding: chunked`
        case chunked
        /// closing the connection
        case close
    }

    package var status = 200
    /// Header fields other than those of the framing.
    package var fields: [(name: String, value: String)] = []
    package var body: [UInt8] = []
    package var framing = Framing.length

    private var beforeHead: [Step] = []
    private var breaks: [(count: Int, step: Step)] = []
    private var drip: (count: Int, pause: Duration)?
    private var raw: [Step]?

    package init(status: Int = 200, fields: [(name: String, value: String)] = [], body: [UInt8] = []) {
        self.status = status
        self.fields = fields
        self.body = body
    }

    package static func image(_ bytes: [UInt8], type: String = "image/jpeg") -> FakeResponse {
        FakeResponse(fields: [("Content-Type", type)], body: bytes)
    }

    /// A status, with a short text if it may have a body.
    package static func status(_ status: Int) -> FakeResponse {
        if status == 204 || status == 304 { return FakeResponse(status: status) }
        return FakeResponse(
            status: status, fields: [("Content-Type", "text/plain")], body: Array("status \(status)\n".utf8))
    }

    package static func redirect(to location: String, status: Int = 302) -> FakeResponse {
        FakeResponse(status: status, fields: [("Location", location)])
    }

    /// Sends these bytes instead of a response and closes the connection.
    package static func raw(_ bytes: [UInt8]) -> FakeResponse { steps([.send(bytes[...]), .close]) }

    /// Sends this text instead of a response and closes the connection.
    package static func raw(_ text: String) -> FakeResponse { raw(Array(text.utf8)) }

    /// Sends this text instead of a response, then `rest` after a pause, and keeps the connection open.
    package static func open(_ text: String, _ rest: String = "") -> FakeResponse {
        steps(
            [.send(Array(text.utf8)[...])]
                + (rest.isEmpty ? [] : [.wait(.milliseconds(50)), .send(Array(rest.utf8)[...])])
                // Otherwise the text's last byte would be sent alone and could arrive with the next response.
                + [.send([])])
    }

    /// Sends nothing until the client closes the connection.
    package static let silence = steps([.waitForClose])

    /// Closes the connection without sending a byte.
    package static let closing = steps([.close])

    /// Resets the connection without sending a byte.
    package static let reset = steps([.reset])

    /// Adds a header field.
    package func with(_ name: String, _ value: String) -> FakeResponse {
        changed { $0.fields.append((name, value)) }
    }

    /// Changes the framing of the body.
    package func framed(by framing: Framing) -> FakeResponse {
        changed { $0.framing = framing }
    }

    /// Delays the response.
    package func delayed(by pause: Duration) -> FakeResponse {
        changed { $0.beforeHead.append(.wait(pause)) }
    }

    /// Waits for the gate before the response; the gate's arrivals count the requests.
    package func held(at gate: Gate) -> FakeResponse {
        changed { $0.beforeHead.append(.hold(gate)) }
    }

    /// Waits for the gate after `count` bytes of the body.
    package func held(afterBytes count: Int, at gate: Gate) -> FakeResponse {
        changed { $0.breaks.append((count, .hold(gate))) }
    }

    /// Closes the connection after `count` bytes of the body.
    package func cut(afterBytes count: Int) -> FakeResponse {
        changed { $0.breaks.append((count, .close)) }
    }

    /// Resets the connection after `count` bytes of the body.
    package func reset(afterBytes count: Int) -> FakeResponse {
        changed { $0.breaks.append((count, .reset)) }
    }

    /// Sends the body in pieces of `count` bytes, with a pause after each.
    package func dripping(_ count: Int, every pause: Duration) -> FakeResponse {
        changed { $0.drip = (count, pause) }
    }

    /// All steps in order; HEAD requests get no body.
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

    private func changed(_ change: (inout FakeResponse) -> Void) -> FakeResponse {
        var copy = self
        change(&copy)
        return copy
    }

    private static func steps(_ steps: [Step]) -> FakeResponse {
        FakeResponse().changed { $0.raw = steps }
    }
}
