import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The header of a response, and its body as it arrives.
struct ServiceResponse: Sendable {
    let header: HTTPURLResponse
    /// The events after the header.
    let events: EventReader<Exchange.Event>

    var status: Int { header.statusCode }

    func field(_ name: String) -> String? { header.value(forHTTPHeaderField: name) }

    /// The media type without parameters.
    var mediaType: String? {
        field("Content-Type")?.split(separator: ";").first?.trimmingCharacters(in: .whitespaces).lowercased()
    }

    /// Returns the next piece of the body; nil at its end.
    func next() async throws(ClientError) -> Data? {
        while let event = try await events.next() {
            if case .bytes(let bytes) = event { return bytes }
        }
        return nil
    }

    /// Returns the whole body.
    ///
    /// - Parameter progress: Called after each piece, on the caller's actor.
    func body(progress: (TransferProgress) -> Void = { _ in }) async throws(ClientError) -> Data {
        var body = Data()
        while let bytes = try await next() {
            body += bytes
            // Negative if the length is unknown.
            let total = Int(clamping: header.expectedContentLength)
            progress(TransferProgress(completedBytes: body.count, totalBytes: total))
        }
        return body
    }

    /// Returns the whole body of a success; throws the error of any other response.
    func successBody(progress: (TransferProgress) -> Void = { _ in }) async throws(ClientError) -> Data {
        let isSuccess = status == 200
        let body = try await body { if isSuccess { progress($0) } }
        if isSuccess { return body }
        guard mediaType == "application/problem+json" else { throw unexpectedError }
        let problem: Problem = try Self.decoded(body, status: status)
        throw .problem(problem, retryAfter: field("Retry-After").flatMap { Int($0) }.map { .seconds($0) })
    }

    /// The error for an unrecognized response.
    var unexpectedError: ClientError { .unexpected(status: status, mediaType: mediaType) }

    /// Decodes a JSON value.
    static func decoded<Value: Decodable>(_ body: Data, status: Int) throws(ClientError) -> Value {
        do {
            return try JSONDecoder().decode(Value.self, from: body)
        } catch {
            throw .unexpected(status: status, mediaType: "application/json")
        }
    }
}
