/// The settings of libaom for an effort and a quality, chosen by measurement (docs/measurements/avif.md).
struct AVIFEffort {
    /// The quantisation matrices that may be used, of 0…15.
    let matrices = 6...15
    private let effort: Int

    /// The settings for an effort of 0…9.
    init(_ effort: Int) { self.effort = min(max(effort, 0), 9) }

    /// libaom's speed, 0…9: lower ones take longer.
    func speed(isStill: Bool) -> Int { 9 - effort }

    /// libaom's level for a quality of 1…100: 0, which loses nothing, to 63.
    static func level(for quality: Int) -> Int { ((100 - quality) * 63 + 50) / 100 }
}
