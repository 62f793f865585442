import Text

/// Alula's own dialect: `/thumbnail?url=…`.
package struct NativeDialect: RenditionDialect {
    package let name = "thumbnail"
    private let signingKeys: [[UInt8]]
    private let vocabulary: Vocabulary

    package var hasSigningKeys: Bool { !signingKeys.isEmpty }

    /// The dialect with targets that are signed with any of `signingKeys`; without keys, unsigned targets are read.
    ///
    /// - Parameter vocabulary: The watermarks and presets that targets may name.
    package init(signingKeys: [[UInt8]] = [], vocabulary: Vocabulary = Vocabulary()) {
        self.signingKeys = signingKeys
        self.vocabulary = vocabulary
    }

    package func claim(on target: String) -> DialectClaim {
        target.prefix(before: UInt8(ascii: "?")) == ThumbnailTarget.path ? .certain : .none
    }

    package func isAuthentic(_ target: RequestedTarget) -> Bool {
        signingKeys.isEmpty || URLSigner.verify(target: target.target.string, keys: signingKeys)
    }

    package func query(in target: RequestedTarget) throws(APIError) -> ThumbnailQuery {
        try ThumbnailTarget.parse(target.target.string, accept: target.accept?.string, vocabulary: vocabulary)
    }

    /// A rendition is a query of `/thumbnail` without the source and without what concerns a single request.
    ///
    /// It is written anew, unless presets would then change what it means; these apply when the target is read.
    package func target(source: String, rendition: String) throws(APIError) -> String {
        for name in try RawQuery(target: "?" + rendition).decoded().map(\.name)
        where ["url", "placeholder", "expires", "sig"].contains(name) {
            throw .badBody("", "A rendition has no parameter \(name).")
        }
        let target =
            "\(ThumbnailTarget.path)?url=\(PercentEncoding.encode(source))\(rendition.isEmpty ? "" : "&" + rendition)"
        let query = try ThumbnailTarget.parse(target, accept: nil, vocabulary: vocabulary)
        return vocabulary.keepsWrittenTargets ? ThumbnailTarget.generate(query) : target
    }
}
