package import Recipes
package import ThumbnailTypes

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
    package var boundsSigned = false
    /// The width for `w=auto` without a hint, before ``roundUp(_:)``.
    package var automaticWidth = 640

    package init() {}

    var isOpen: Bool { sizes.isEmpty && qualities.isEmpty }

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
        .sizeNotAllowed(name, allowed: name == "q" ? qualities : sizes, ofAll: boundsSigned)
    }

    private static func roundUp(_ number: Int, among allowed: [Int]) -> Int {
        allowed.first { $0 >= number } ?? allowed.last ?? number
    }
}

package struct RequestedBox: Hashable, Sendable {
    var width: Int?
    var height: Int?
}

/// A recipe whose box and quality an operator can limit.
package protocol SizedRecipe: RenderRecipe {
    /// Whether neither the target nor a preset names a quality, and the format has one.
    var hasDefaultQuality: Bool { get }

    func allowed(by policy: SizePolicy, choices: ClientChoices) throws(APIError) -> Self
}

package protocol BoxRecipe: SizedRecipe {
    var box: RequestedBox { get }
    var quality: Int? { get }

    mutating func set(_ box: RequestedBox, quality: Int?)
}

extension BoxRecipe {
    package func allowed(by policy: SizePolicy, choices: ClientChoices) throws(APIError) -> Self {
        let allowed = try choices.contains(.quality) ? quality.map(policy.quality) : quality
        var recipe = self
        recipe.set(try policy.allowed(box, choices: choices), quality: allowed)
        return recipe
    }
}
