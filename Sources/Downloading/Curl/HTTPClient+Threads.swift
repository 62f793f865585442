import Coordination
package import HTTPTypes

extension HTTPClient {
    /// Sends a request on a thread of its own, because the server may take its time; redirects are not followed, and
    /// the answer's body is not kept.
    ///
    /// - Parameters:
    ///   - request: The method, the fields and the body; its target does not count.
    ///   - url: An absolute `http` or `https` URL.
    ///   - timeLimit: Time for all of it.
    ///   - authorities: A file of certificate authorities in PEM instead of the system's.
    ///   - thread: The thread's name.
    package static func status(
        of request: HTTPRequest, to url: String, timeLimit: Duration, authorities: String?, thread name: String
    ) async -> Result<Int, Failure> {
        await withCheckedContinuation { continuation in
            let thread = try? WorkThread(named: name) {
                let result = Result { () throws(Failure) in
                    try blockingSend(
                        request, to: url, timeLimit: timeLimit, authorities: authorities, keepsBody: false
                    ).status
                }
                continuation.resume(returning: result)
            }
            guard let thread else { return continuation.resume(returning: .failure(Failure(description: "no thread"))) }
            thread.detach()
        }
    }
}
