/// What pixels are mixed by when a picture is made smaller.
package enum ResamplingLight: String, Sendable, Hashable, CaseIterable {
    /// Their components as they are stored, by sRGB's curve: what most services do; fine bright detail becomes too dark.
    case gamma
    /// The light that they stand for, as the eye mixes them from a distance.
    case linear
}
