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
    func send(_ request: URLRequest, limit: Int) async throws(ClientError) -> Answer {
        if Task.isCancelled { throw .cancelled }
        let (events, continuation) = AsyncThrowingStream<Exchange.Event, any Error>.makeStream()
        let task = session.dataTask(with: request)
        exchanges.add(Exchange(continuation: continuation, limit: limit), for: task)
        continuation.onTermination = { [exchanges] reason in
            if case .cancelled = reason { exchanges.cancel(task) }
        }
        task.resume()
        var iterator = events.makeAsyncIterator()
        do {
            if case .header(let response) = try await iterator.next() {
                return Answer(response: response, events: events)
            }
        } catch {
            throw ClientError(error)
        }
        throw Task.isCancelled ? .cancelled : .transport(URLError(.badServerResponse))
    }
}

/// A request in progress.
struct Exchange {
    /// A piece of a response.
    enum Event: Sendable {
        case header(HTTPURLResponse)
        case bytes(Data)
    }

    let continuation: AsyncThrowingStream<Event, any Error>.Continuation
    /// The maximum number of remaining bytes of the body.
    var limit: Int
}

/// The requests in progress of a session, by task identifier.
private final class Exchanges: NSObject, URLSessionDataDelegate, @unchecked Sendable {
    // Guarded by the lock.
    private var exchanges: [Int: Exchange] = [:]
    private let lock = NSLock()

    func add(_ exchange: Exchange, for task: URLSessionTask) {
        lock.withLock { exchanges[task.taskIdentifier] = exchange }
    }

    /// Cancels a task, unless it has ended: the lock prevents it from ending meanwhile.
    func cancel(_ task: URLSessionTask) {
        lock.withLock { if exchanges[task.taskIdentifier] != nil { task.cancel() } }
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        let exchange = lock.withLock { exchanges[dataTask.taskIdentifier] }
        if let response = response as? HTTPURLResponse { exchange?.continuation.yield(.header(response)) }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let exchange = lock.withLock {
            exchanges[dataTask.taskIdentifier]?.limit -= data.count
            return exchanges[dataTask.taskIdentifier]
        }
        guard let exchange else { return }
        if exchange.limit < 0 {
            exchange.continuation.finish(throwing: ClientError.tooLarge)
            cancel(dataTask)
        } else {
            exchange.continuation.yield(.bytes(data))
        }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        lock.withLock { exchanges.removeValue(forKey: task.taskIdentifier) }?.continuation.finish(throwing: error)
    }
}
