import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The header of a response, and its body as it arrives.
struct Answer: Sendable {
    let response: HTTPURLResponse
    /// The events after the header.
    let events: EventReader<Exchange.Event>

    func field(_ name: String) -> String? { response.value(forHTTPHeaderField: name) }

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
            let total = Int(clamping: response.expectedContentLength)
            progress(TransferProgress(completedBytes: body.count, totalBytes: total))
        }
        return body
    }

    /// Returns the whole body; throws the error of an error response.
    func success(progress: (TransferProgress) -> Void = { _ in }) async throws(ClientError) -> Data {
        let isSuccess = response.statusCode == 200
        let body = try await body { if isSuccess { progress($0) } }
        if isSuccess { return body }
        guard mediaType == "application/problem+json" else { throw unexpected }
        let problem: Problem = try Self.decoded(body, status: response.statusCode)
        throw .problem(problem, retryAfter: field("Retry-After").flatMap { Int($0) }.map { .seconds($0) })
    }

    /// The error for an unrecognized response.
    var unexpected: ClientError { .unexpected(status: response.statusCode, mediaType: mediaType) }

    /// Decodes a JSON value.
    static func decoded<Value: Decodable>(_ body: Data, status: Int) throws(ClientError) -> Value {
        do {
            return try JSONDecoder().decode(Value.self, from: body)
        } catch {
            throw .unexpected(status: status, mediaType: "application/json")
        }
    }
}
