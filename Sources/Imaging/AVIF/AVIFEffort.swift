/// The settings of libaom for an effort and a quality, chosen by measurement (docs/measurements/avif.md).
struct AVIFEffort {
    /// The effort of the service, 0…9.
    let effort: Int

    /// libaom's speed, 0…9: lower ones take longer.
    ///
    /// Animations are coded as if they were live.
    func speed(isStill: Bool) -> Int {
        let speeds = isStill ? Self.stillSpeeds : Self.liveSpeeds
        return speeds[min(effort, speeds.count - 1)]
    }

    /// Speeds 7 and 1 make files that are no smaller than those of 8 and 2.
    private static let stillSpeeds = [9, 8, 6, 5, 4, 3, 2, 0]
    /// The slowest one is 5, and 7 makes libaom 3.6 crash on images without chroma.
    private static let liveSpeeds = [9, 8, 6, 5]

    /// The quantization matrices that may be used, of 0…15: lower ones are coarser in fine detail.
    ///
    /// From level 30 on, coarser ones make files smaller at the same look.
    static func matrices(level: Int) -> ClosedRange<Int> { level < 30 ? 4...12 : 2...10 }

    /// Whether the cosine transform alone is used: at speeds that try few of the others, it makes smaller files.
    var hasCosinesAlone: Bool { effort < 2 }

    /// libaom's level for a quality of 1…100: 0, which loses nothing, to 63.
    ///
    /// 63 levels are spread over the qualities as libheif spreads them. The summand makes up for what these settings do
    /// better than libheif's, so that a quality looks as it did. At level 0, libaom 3.6 leaves wrong blocks in
    /// animations.
    static func level(for quality: Int, isStill: Bool) -> Int {
        quality == 100 ? (isStill ? 0 : 1) : min(63, ((100 - quality) * 63 + 50) / 100 + 2)
    }
}
