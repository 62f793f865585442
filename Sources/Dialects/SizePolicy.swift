import ThumbnailTypes

/// The sizes and qualities that clients may request.
///
/// Sizes are sides of the box in pixels of the response: device pixel ratios and factors apply; margins, crops and
/// turns do not.
package struct SizePolicy: Hashable, Sendable {
    package enum Rule: String, Sendable, CaseIterable {
        case reject = "refuse"
        /// Replaces a size by the next larger allowed one, or the largest.
        case up
    }

    package var sizes: [Int] = [] { didSet { sizes = Set(sizes).sorted() } }
    package var qualities: [Int] = [] { didSet { qualities = Set(qualities).sorted() } }
    package var rule = Rule.reject
    /// Whether the limits also apply to signed requests, as a tenant's do.
    package var limitsSigned = false
    /// The width for `w=auto` without a hint, before ``roundUp(_:)``.
    package var automaticWidth = 640

    package init() {}

    var isUnlimited: Bool { sizes.isEmpty && qualities.isEmpty }

    func roundUp(_ pixels: Int) -> Int { Self.roundUp(pixels, among: sizes) }

    func allowed(_ box: RequestedBox, choices: ClientChoices) throws(APIError) -> RequestedBox {
        guard !sizes.isEmpty else { return box }
        guard box.width != nil || box.height != nil else {
            guard rule == .up, let largest = sizes.last else { throw rejection("w") }
            return RequestedBox(width: largest)
        }
        var allowed = box
        if choices.contains(.width), let width = box.width { allowed.width = try side(width, parameter: "w") }
        if choices.contains(.height), let height = box.height { allowed.height = try side(height, parameter: "h") }
        return allowed
    }

    func side(_ pixels: Int, parameter name: String) throws(APIError) -> Int {
        guard !sizes.isEmpty, !sizes.contains(pixels) else { return pixels }
        guard rule == .up else { throw rejection(name) }
        return roundUp(pixels)
    }

    func quality(_ quality: Int) throws(APIError) -> Int {
        guard !qualities.isEmpty, !qualities.contains(quality) else { return quality }
        guard rule == .up else { throw rejection("q") }
        return Self.roundUp(quality, among: qualities)
    }

    func rejection(_ name: String) -> APIError {
        .sizeNotAllowed(name, allowed: name == "q" ? qualities : sizes, ofAll: limitsSigned)
    }

    private static func roundUp(_ number: Int, among allowed: [Int]) -> Int {
        allowed.first { $0 >= number } ?? allowed.last ?? number
    }
}
