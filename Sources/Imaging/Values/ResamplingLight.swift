/// The meaning of samples while resampling averages them.
package enum ResamplingLight: String, Sendable, Hashable, CaseIterable {
    /// The components as stored, by sRGB's curve: what most services do. Fine bright detail becomes too dark.
    case gamma
    /// The light that the components stand for, as an eye sees it from a distance.
    case linear
}
