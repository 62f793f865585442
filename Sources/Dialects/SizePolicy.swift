package import Recipes
package import ThumbnailTypes

/// The sizes and qualities that clients may request, so that they cannot have results rendered at arbitrary sizes.
///
/// Sizes are sides of the box in pixels of the response: device pixel ratios and factors count, margins, crops and
/// turns do not.
package struct SizePolicy: Hashable, Sendable {
    /// The effect of a size or quality that is not allowed.
    package enum Rule: String, Sendable, CaseIterable {
        case refuse
        /// The next larger one replaces it, or the largest.
        case up
    }

    /// The allowed sides, ascending; empty for any.
    package var sizes: [Int] = [] { didSet { sizes = Set(sizes).sorted() } }
    /// The allowed qualities, ascending; empty for any.
    package var qualities: [Int] = [] { didSet { qualities = Set(qualities).sorted() } }
    package var rule = Rule.refuse
    /// The default width of `w=auto` without a hint, before ``roundUp(_:)``.
    package var automaticWidth = 640

    package init() {}

    var isOpen: Bool { sizes.isEmpty && qualities.isEmpty }

    /// Returns the smallest size of at least this many pixels, or the largest.
    func roundUp(_ pixels: Int) -> Int { Self.roundUp(pixels, among: sizes) }

    func allowed(_ box: RequestedBox, _ choices: ClientChoices) throws(APIError) -> RequestedBox {
        guard !sizes.isEmpty else { return box }
        guard box.width != nil || box.height != nil else {
            guard rule == .up, let largest = sizes.last else { throw refusal("w") }
            return RequestedBox(width: largest)
        }
        var allowed = box
        if choices.contains(.width), let width = box.width { allowed.width = try side(width, "w") }
        if choices.contains(.height), let height = box.height { allowed.height = try side(height, "h") }
        return allowed
    }

    /// Returns the allowed side for one of this many pixels, in a parameter with this name.
    func side(_ pixels: Int, _ name: String) throws(APIError) -> Int {
        guard !sizes.isEmpty, !sizes.contains(pixels) else { return pixels }
        guard rule == .up else { throw refusal(name) }
        return roundUp(pixels)
    }

    func quality(_ quality: Int) throws(APIError) -> Int {
        guard !qualities.isEmpty, !qualities.contains(quality) else { return quality }
        guard rule == .up else { throw .sizeNotAllowed("q", allowed: qualities) }
        return Self.roundUp(quality, among: qualities)
    }

    func refusal(_ name: String) -> APIError { .sizeNotAllowed(name, allowed: sizes) }

    private static func roundUp(_ number: Int, among allowed: [Int]) -> Int {
        allowed.first { $0 >= number } ?? allowed.last ?? number
    }
}

/// The sides of a box in pixels of the response; nil for one that follows from the other.
package struct RequestedBox: Hashable, Sendable {
    var width: Int?
    var height: Int?
}

/// A recipe whose box and quality an operator can limit, as in all dialects.
package protocol SizedRecipe: RenderRecipe {
    /// Whether neither the target nor a preset names the quality of a result that has one.
    var hasDefaultQuality: Bool { get }

    /// Returns the allowed recipe for this one, which may be unchanged.
    func allowed(by policy: SizePolicy, _ choices: ClientChoices) throws(APIError) -> Self
}

package protocol BoxRecipe: SizedRecipe {
    /// The box in pixels of the response.
    var box: RequestedBox { get }
    var quality: Int? { get }

    /// Sets the box in pixels of the response, and the quality.
    mutating func set(_ box: RequestedBox, quality: Int?)
}

extension BoxRecipe {
    package func allowed(by policy: SizePolicy, _ choices: ClientChoices) throws(APIError) -> Self {
        let allowed = try choices.contains(.quality) ? quality.map(policy.quality) : quality
        var recipe = self
        recipe.set(try policy.allowed(box, choices), quality: allowed)
        return recipe
    }
}
