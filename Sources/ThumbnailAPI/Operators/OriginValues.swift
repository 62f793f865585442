import JSON
import ThumbnailPipeline

/// Origins as operators see them: how many there are, and those that are worst off.
extension JSONValue {
    /// Most origins that are listed.
    private static let mostOrigins = 50

    /// The number of origins in each state.
    static func originCounts(_ origins: [OriginStatus]) -> JSONValue {
        .object(
            OriginStatus.State.allCases.map { state in
                (state.rawValue, .int(origins.count { $0.state == state }))
            })
    }

    /// As many origins as are listed: first suspended ones, then those that are not reachable, then the others.
    ///
    /// In each state, those come first that no client can have made up.
    static func worstOrigins(_ origins: [OriginStatus]) -> JSONValue {
        let troubled: [OriginStatus.State] = [.suspended, .notReachable]
        var listed: [OriginStatus] = []
        for isProven in [true, false] {
            for state in troubled { listed += origins.filter { $0.state == state && $0.isProven == isProven } }
        }
        for state in [OriginStatus.State.reachable, .unknown] { listed += origins.filter { $0.state == state } }
        return .array(listed.prefix(mostOrigins).map(JSONValue.origin))
    }
}
