extension OriginHealth.Report {
    /// What the end of a transfer says about the origin where it ended.
    ///
    /// Any valid answer below 500 speaks for the origin, whatever it says about one source.
    init(_ result: Result<TransferAnswer, any Error>) {
        guard case .failure(let error) = result else {
            self = .success
            return
        }
        guard let error = error as? DownloadError else {
            self = .nothing
            return
        }
        switch error {
        case .unreachable, .noAddress, .protocolError, .tls, .timedOut: self = .failure
        case .status(let status): self = status >= 500 ? .failure : .success
        case .notFound, .notAsked, .notAnImage, .emptyBody, .tooManyRedirects: self = .success
        case .sourceNotAllowed, .tooLarge, .receiptCancelled, .queueFull, .memoryFull, .originSuspended, .shuttingDown,
            .notCached, .internal:
            self = .nothing
        }
    }
}
