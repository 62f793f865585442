import Imaging

extension WsrvRecipe: SizedRecipe {
    var isQualityUnnamed: Bool { options.namedQuality == nil }

    func allowed(by policy: SizePolicy, _ asked: AskedParts) throws(APIError) -> WsrvRecipe {
        var options = options
        if let quality = options.namedQuality { options.quality = try policy.quality(quality) }
        let box = AskedBox(width: try side(options.width, "w", policy), height: try side(options.height, "h", policy))
        let allowed = try policy.allowed(box, asked)
        if allowed != box || options.hasShares {
            (options.width, options.height) = (allowed.width.map { .pixels($0) }, allowed.height.map { .pixels($0) })
            options.ratio = nil
        }
        return WsrvRecipe(options)
    }

    /// The pixels of a side; a share of the source counts as the largest side, because it can be any.
    private func side(_ length: WsrvLength?, _ name: String, _ policy: SizePolicy) throws(APIError) -> Int? {
        if case .share? = length, let largest = policy.sizes.last {
            guard policy.rule == .up else { throw policy.refusal(name) }
            return largest
        }
        let side = WsrvOptions(width: length, ratio: options.ratio).box(for: PixelSize(width: 1, height: 1)).width
        return side > 0 ? side : nil
    }
}

extension WsrvOptions {
    /// Whether a side is a share of the source's.
    fileprivate var hasShares: Bool {
        [width, height].contains { if case .share? = $0 { true } else { false } }
    }
}
