import Text

/// Alula's own dialect: `/thumbnail?url=…`.
package struct NativeDialect: RenditionDialect {
    package let name = "thumbnail"
    private let signingKeys: [[UInt8]]

    package var hasSigningKeys: Bool { !signingKeys.isEmpty }

    /// The dialect with targets that are signed with any of `signingKeys`; without keys, unsigned targets are read.
    package init(signingKeys: [[UInt8]] = []) {
        self.signingKeys = signingKeys
    }

    package func claim(on target: String) -> DialectClaim {
        target.prefix(before: UInt8(ascii: "?")) == ThumbnailTarget.path ? .certain : .none
    }

    package func isAuthentic(_ target: RequestedTarget) -> Bool {
        signingKeys.isEmpty || URLSigner.verify(target: target.target.string, keys: signingKeys)
    }

    package func query(in target: RequestedTarget) throws(APIError) -> ThumbnailQuery {
        try ThumbnailTarget.parse(target.target.string, accept: target.accept?.string)
    }

    /// A rendition is a query of `/thumbnail` without the source and without what concerns a single request.
    package func target(source: String, rendition: String) throws(APIError) -> String {
        for name in try RawQuery(target: "?" + rendition).decoded().map(\.name)
        where ["url", "placeholder", "expires", "sig"].contains(name) {
            throw .badBody("", "A rendition has no parameter \(name).")
        }
        let target =
            "\(ThumbnailTarget.path)?url=\(PercentEncoding.encode(source))\(rendition.isEmpty ? "" : "&" + rendition)"
        return ThumbnailTarget.generate(try ThumbnailTarget.parse(target, accept: nil))
    }
}
