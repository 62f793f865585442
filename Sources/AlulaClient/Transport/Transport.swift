import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Sends requests over one session, and streams their responses.
final class Transport: Sendable {
    private let session: URLSession
    private let exchanges = Exchanges()

    init(_ configuration: URLSessionConfiguration) {
        #if canImport(FoundationNetworking)
        // With a cache, a task that is canceled during its cache lookup may end twice, which ends the program.
        let configuration = configuration.copy() as? URLSessionConfiguration ?? configuration
        configuration.urlCache = nil
        #endif
        session = URLSession(configuration: configuration, delegate: exchanges, delegateQueue: nil)
    }

    deinit {
        // The session retains its delegate until then.
        session.finishTasksAndInvalidate()
    }

    /// Returns the response to a request once its header has arrived.
    ///
    /// The request ends when the task is canceled, or when the response is dropped.
    ///
    /// - Parameters:
    ///   - request: The request without its body.
    ///   - body: The body.
    ///   - limit: The maximum size of the response's body in bytes.
    ///   - progress: Called while the body is sent, on the caller's actor.
    func send(
        _ request: URLRequest, body: UploadBody? = nil, limit: Int, progress: (TransferProgress) -> Void = { _ in }
    ) async throws(ClientError) -> ServiceResponse {
        if Task.isCancelled { throw .cancelled }
        let task = task(for: request, sending: body)
        let channel = EventChannel<Exchange.Event> { [exchanges] in exchanges.cancel(task) }
        exchanges.add(Exchange(channel: channel, body: body, limit: limit), for: task)
        let events = EventReader(channel)
        task.resume()
        while let event = try await events.next() {
            switch event {
            case .sent(let sent): progress(sent)
            case .header(let response): return ServiceResponse(header: response, events: events)
            case .bytes: break
            }
        }
        throw .transport(URLError(.badServerResponse))
    }

    private func task(for request: URLRequest, sending body: UploadBody?) -> URLSessionTask {
        guard let body else { return session.dataTask(with: request) }
        var request = request
        if let bytes = body.bytes {
            request.httpBody = bytes
            return session.dataTask(with: request)
        }
        #if canImport(Darwin)
        // Without it the body is sent in chunks, as it is on Linux, where the session would send both.
        request.setValue(String(body.count), forHTTPHeaderField: "Content-Length")
        #endif
        return session.uploadTask(withStreamedRequest: request)
    }
}

/// A request in progress.
struct Exchange {
    /// The progress of a body, or a piece of a response.
    enum Event: Sendable {
        case sent(TransferProgress)
        case header(HTTPURLResponse)
        case bytes(Data)
    }

    let channel: EventChannel<Event>
    /// The body, if it is streamed.
    let body: UploadBody?
    /// The maximum number of remaining bytes of the response's body.
    var limit: Int
}

/// The requests in progress of a session, by task identifier.
private final class Exchanges: NSObject, URLSessionDataDelegate {
    private let exchanges = Guarded<[Int: Exchange]>([:])

    func add(_ exchange: Exchange, for task: URLSessionTask) {
        exchanges.withLock { $0[task.taskIdentifier] = exchange }
    }

    /// Cancels a task, unless it has ended: the lock prevents it from ending meanwhile.
    func cancel(_ task: URLSessionTask) {
        exchanges.withLock { if $0[task.taskIdentifier] != nil { task.cancel() } }
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        let body = exchanges.withLock { $0[task.taskIdentifier]?.body }
        completionHandler(body?.stream())
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        guard let exchange = exchanges.withLock({ $0[task.taskIdentifier] }), let total = exchange.body?.count else {
            return
        }
        let progress = TransferProgress(completedBytes: Int(clamping: totalBytesSent), totalBytes: total)
        exchange.channel.send(.sent(progress)) { if case .sent = $0 { true } else { false } }
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        let exchange = exchanges.withLock { $0[dataTask.taskIdentifier] }
        // On Linux an interim response, such as 100 (Continue), also arrives here.
        if let response = response as? HTTPURLResponse, response.statusCode >= 200 {
            exchange?.channel.send(.header(response))
        }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let exchange = exchanges.withLock { exchanges in
            exchanges[dataTask.taskIdentifier]?.limit -= data.count
            return exchanges[dataTask.taskIdentifier]
        }
        guard let exchange else { return }
        if exchange.limit < 0 {
            exchange.channel.finish(throwing: .tooLarge)
            cancel(dataTask)
        } else {
            exchange.channel.send(.bytes(data))
        }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let exchange = exchanges.withLock { $0.removeValue(forKey: task.taskIdentifier) }
        exchange?.channel.finish(throwing: error.map { ClientError($0) })
    }
}
