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
        let result = await WorkThread.value(named: name) {
            Result { () throws(Failure) in
                try blockingSend(request, to: url, timeLimit: timeLimit, authorities: authorities, mostBodyBytes: nil)
                    .status
            }
        }
        return result ?? .failure(Failure(description: "no thread"))
    }

    /// Sends a request to a service that lends keys, whose answers are short and soon.
    static func blockingCall(
        _ request: HTTPRequest, _ url: String, authorities: String?
    ) throws(KeyFailure) -> (status: Int, body: [UInt8]) {
        do throws(Failure) {
            let answer = try blockingSend(
                request, to: url, timeLimit: .seconds(5), authorities: authorities, mostBodyBytes: 64 << 10)
            return (answer.status, answer.body)
        } catch {
            throw KeyFailure(detail: error.description, isLasting: false)
        }
    }
}
