package import Coordination
package import HTTPTypes

package final class CurlLoader: DataLoading {
    package struct StartFailure: Error, CustomStringConvertible {
        package let detail: String

        package var description: String { "downloads: \(detail)" }
    }

    package static let maximumIdleConnections = 128
    private let multi: CurlMulti
    private let inbox = CurlInbox()
    private let thread: WorkThread
    private let keys: OriginKeys
    private let decoder: BodyDecoder

    package init(
        configuration: DownloadConfiguration, timekeeper: any Timekeeper = SystemTimekeeper(),
        observer: DownloadObserver = DownloadObserver()
    ) throws(StartFailure) {
        guard let multi = CurlMulti() else { throw StartFailure(detail: "libcurl") }
        guard let resolver = NameResolver(servers: configuration.nameServers) else {
            throw StartFailure(detail: "c-ares")
        }
        let start = LoopStart { [inbox] in
            CurlLoop(multi: multi, inbox: inbox, resolver: resolver, timekeeper: timekeeper, observer: observer).run()
        }
        keys = OriginKeys(timekeeper: timekeeper) { source, now throws(KeyFailure) in
            try KeyServices.blockingKey(from: source, at: now) { (request, url) throws(KeyFailure) in
                try HTTPClient.blockingCall(request, to: url, authorities: configuration.certificateAuthorities)
            }
        }
        do {
            thread = try WorkThread(named: "transfers") { start.run() }
        } catch {
            throw StartFailure(detail: "the transfer thread")
        }
        self.multi = multi
        decoder = BodyDecoder()
    }

    deinit { shutDown() }

    /// Loads a source; follows redirects that the settings allow, and resumes a truncated body.
    package func load(
        _ request: TransferRequest, progress: TransferProgress, admitHop: @escaping HopAdmission
    ) async throws -> TransferResult {
        let origin = request.identity.rules.origin
        let key = try await keys.key(for: origin)
        let result: TransferResult
        do {
            result = try await transfer(request, signedBy: key, progress: progress, admitHop: admitHop)
        } catch let error as DownloadError {
            guard case .storeRejection(_, let code) = error, OriginKeys.requiresRenewal(code), let key,
                let next = try await keys.key(for: origin, insteadOf: key)
            else { throw error }
            result = try await transfer(request, signedBy: next, progress: progress, admitHop: admitHop)
        }
        guard case .source(let source) = result, !source.codings.isEmpty else { return result }
        return .source(try await decoder.decode(source, for: request, progress: progress))
    }

    private func transfer(
        _ request: TransferRequest, signedBy key: OriginCredentials.AccessKey?, progress: TransferProgress,
        admitHop: @escaping HopAdmission
    ) async throws -> TransferResult {
        let id = inbox.announce()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let load = CurlInbox.Load(
                    id: id, request: request, progress: progress, admitHop: admitHop, key: key,
                    continuation: continuation)
                if let rejection = inbox.start(load) { return continuation.resume(throwing: rejection) }
                multi.wakeUp()
            }
        } onCancel: {
            inbox.cancel(id)
            multi.wakeUp()
        }
    }

    /// Sends a request after checking addresses as for a source; does not follow redirects.
    ///
    /// - Parameter request: The request to send; its target is ignored.
    /// - Throws: A ``DownloadError``, also for a status other than 2xx.
    package func call(_ request: HTTPRequest, at url: SourceURL, by rules: DownloadRules) async throws {
        let call = TransferRequest(
            object: SourceIdentity(url: url, rules: rules.unnamed), upload: TransferUpload(call: request))
        _ = try await load(call, progress: TransferProgress())
    }

    package func shutDown() {
        guard inbox.shutDown() else { return }
        multi.wakeUp()
        thread.blockingJoin()
        decoder.shutDown()
    }
}

/// Used only by the `transfers` thread.
private struct LoopStart: @unchecked Sendable {
    let run: () -> Void
}
