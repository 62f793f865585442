/// The image endpoint of a front-end framework: it lies at one place, and knows no signatures.
package protocol FrontEndDialect: Dialect {
    /// The place of its targets.
    var place: DialectPlace { get }
}

extension FrontEndDialect {
    package var signatures: DialectSignatures { .none }

    package func claim(on target: String) -> DialectClaim { place.claim(on: target) }

    package func isAuthentic(_ target: RequestedTarget) -> Bool { true }
}
