package import Crypto
package import Imaging
package import Text

/// The settings of the dialect of thumbor and imagor.
package struct ThumborConfiguration: Sendable {
    /// Where the dialect lies; nil for nowhere.
    package var place: DialectPlace?
    /// The key of signatures; nil if none are demanded.
    package var key: [UInt8]?
    /// The hash function of signatures.
    package var signer = HMAC.Hash.sha1
    /// The number of characters that signatures are cut to; nil for all.
    package var signatureLength: Int?
    /// Whether targets that begin with `unsafe/` are served; nil for only without a key.
    package var servesUnsafe: Bool?
    /// The text before addresses of images that begin with no scheme, such as `http://`.
    package var baseURL: SourceBase = "http://"
    /// Formats that `Accept` may choose if the target names none, best first.
    package var automaticFormats: [ImageFormat] = []
    /// Whether opaque PNG images are answered as JPEG if the target names no format.
    package var replacesPNG = false
    /// Seconds for which clients may use answers, whatever their source says; nil for the source's own lifetime.
    package var maximumAge: Int?
    /// Seconds for which shared caches may use answers longer while they fetch them anew; nil says nothing.
    package var staleAge: Int?
    /// Most filters that count, the first ones; nil for all.
    package var maximumFilters: Int?
    /// The filters that do nothing.
    package var disabledFilters: Set<ExactText> = []
    /// The quality of JPEG and WebP if the target names none.
    package var quality = 80

    /// The defaults of the contract.
    package init() {}

    /// Whether targets that begin with `unsafe/` are served.
    var isUnsafeServed: Bool { servesUnsafe ?? (key == nil) }
}
