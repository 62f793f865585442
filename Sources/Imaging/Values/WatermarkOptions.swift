/// How a watermark is laid on the result, in the caller's own units.
package struct WatermarkOptions: Hashable, Sendable {
    /// The place on the result: one of the nine places that ``Gravity`` names.
    package var position = Gravity.bottomRight
    /// Distance from that place in CSS pixels: inwards from an edge, to the right of the centre.
    package var x = 0
    /// Distance from that place in CSS pixels: inwards from an edge, down from the centre.
    package var y = 0
    /// Opacity in per cent, 1…100.
    package var opacity = 100
    /// The watermark's width in ten-thousandths of the result's, 100…10000; nil for its own size times the device pixel
    /// ratio.
    package var scale: Int?
    /// Whether it is repeated to the right and down, from the top left corner plus the distances.
    package var isTiled = false

    /// The defaults of the contract.
    package init() {}
}
