import Recipes
import Text
package import ThumbnailTypes

/// weserv/images 5: `/?url=example.com/image.jpg&w=300`.
///
/// Ignores unknown parameters and values as weserv does; only a missing or invalid `url` is rejected.
package struct WsrvDialect: UnsignedDialect {
    package let name = "wsrv"
    package let prefix: PathPrefix

    package init(at prefix: PathPrefix) { self.prefix = prefix }

    /// At `/`, matches targets with a `url`, except Alula's own paths.
    package func match(on target: String) -> DialectMatch {
        let match = prefix.match(on: target)
        guard case .fallback = match else { return match }
        guard WsrvTarget.namesSource(target) else { return .none }
        return target.prefix(before: UInt8(ascii: "?")) == "/" ? .exact : .fallback
    }

    package func request(in target: RequestedTarget) throws(APIError) -> Request {
        try WsrvTarget(target.target.string).request()
    }
}

package struct WsrvConfiguration: Hashable, Sendable {
    package var prefix: PathPrefix?

    package init() {}
}
