package import Imaging

/// The sizes and qualities that an operator lets clients ask for, so that nobody can have results made in sizes of
/// their own.
///
/// Sizes are sides of the box in pixels of the answer: device pixel ratios and factors count, margins, crops and turns
/// do not.
package struct SizePolicy: Hashable, Sendable {
    /// The consequence for a size or quality that is not allowed.
    package enum Rule: String, Sendable, CaseIterable {
        /// The request is refused.
        case refuse
        /// The next larger one takes its place, the largest at most.
        case up
    }

    /// The sides that may be asked for, ascending; empty for any.
    package private(set) var sizes: [Int] = []
    /// The qualities that may be asked for, ascending; empty for any.
    package private(set) var qualities: [Int] = []
    package var rule = Rule.refuse
    /// The width that ``up(_:)`` turns into that of `w=auto` for clients that do not tell theirs.
    package var automaticWidth = 640

    /// A policy that allows all.
    package init() {}

    /// The policy with these sizes and no others.
    package mutating func allow(sizes: [Int]) { self.sizes = Set(sizes).sorted() }

    /// The policy with these qualities and no others.
    package mutating func allow(qualities: [Int]) { self.qualities = Set(qualities).sorted() }

    /// Whether a client may ask for anything.
    var isOpen: Bool { sizes.isEmpty && qualities.isEmpty }

    /// The smallest size that covers so many pixels, the largest at most.
    func up(_ pixels: Int) -> Int { Self.up(pixels, among: sizes) }

    /// The box that is allowed in place of `box`.
    ///
    /// - Throws: ``APIError/sizeNotAllowed(_:allowed:)``.
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

    /// The side that is allowed in place of one of so many pixels, which a parameter of this name asks for.
    func side(_ pixels: Int, _ name: String) throws(APIError) -> Int {
        guard !sizes.isEmpty, !sizes.contains(pixels) else { return pixels }
        guard rule == .up else { throw refusal(name) }
        return up(pixels)
    }

    /// The quality that is allowed in place of one that a client asks for.
    func quality(_ quality: Int) throws(APIError) -> Int {
        guard !qualities.isEmpty, !qualities.contains(quality) else { return quality }
        guard rule == .up else { throw .sizeNotAllowed("q", allowed: qualities) }
        return Self.up(quality, among: qualities)
    }

    /// The refusal of a side that a parameter of this name asks for.
    func refusal(_ name: String) -> APIError { .sizeNotAllowed(name, allowed: sizes) }

    private static func up(_ number: Int, among allowed: [Int]) -> Int {
        allowed.first { $0 >= number } ?? allowed.last ?? number
    }
}

/// The sides of a box in pixels of the answer; nil for one that the other side gives.
package struct RequestedBox: Hashable, Sendable {
    var width: Int?
    var height: Int?
}

/// The parts of a target that the client chooses; those that a preset names are the operator's choice.
package struct ClientChoices: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    static let width = ClientChoices(rawValue: 1)
    static let height = ClientChoices(rawValue: 2)
    static let quality = ClientChoices(rawValue: 4)
    /// The qualities of single formats, in a grammar that has them.
    static let formatQualities = ClientChoices(rawValue: 8)
    /// Formats whose images keep their size, in a grammar that has them.
    static let untouchedFormats = ClientChoices(rawValue: 16)
    static let tags = ClientChoices(rawValue: 32)
    static let all = ClientChoices(rawValue: 63)
}

/// A recipe whose box and quality an operator can bound; those of all grammars.
package protocol SizedRecipe: RenderRecipe {
    /// Whether neither the target nor a preset names the quality of a result that has one.
    var hasDefaultQuality: Bool { get }

    /// The recipe of the request that is allowed in place of this one; the same one if it is allowed itself.
    ///
    /// - Parameter choices: The parts that the client chooses.
    /// - Throws: ``APIError/sizeNotAllowed(_:allowed:)``.
    func allowed(by policy: SizePolicy, _ choices: ClientChoices) throws(APIError) -> Self
}

/// A recipe with one box and one quality.
package protocol BoxRecipe: SizedRecipe {
    /// The box in pixels of the answer.
    var box: RequestedBox { get }
    /// The quality that the target names.
    var quality: Int? { get }

    /// Sets the box in pixels of the answer, and the quality.
    mutating func set(_ box: RequestedBox, quality: Int?)
}

extension BoxRecipe {
    /// The recipe with the box and the quality that are allowed.
    package func allowed(by policy: SizePolicy, _ choices: ClientChoices) throws(APIError) -> Self {
        let allowed = try choices.contains(.quality) ? quality.map(policy.quality) : quality
        var recipe = self
        recipe.set(try policy.allowed(box, choices), quality: allowed)
        return recipe
    }
}
