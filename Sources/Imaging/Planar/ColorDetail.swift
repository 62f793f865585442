import CPlanarShim

/// Fine detail in strong colours, such as coloured text.
///
/// If luma alone is mixed as light, such detail gets wrong colours; then the planes are mixed together, see
/// ``ColorResampling``. That takes longer, and changes nothing that is visible in photographs.
enum ColorDetail {
    /// The share of chroma samples that must differ much from a neighbour.
    ///
    /// Of seventeen photographs, the largest share is 0.1 % in full size and 3 % at level 8; in coloured text it is 8
    /// to 54 %.
    private static let share = 0.01

    /// The edges of a few large areas do not count: as many samples as two lines across and two down the image have.
    private static func leastEdges(in size: PixelSize) -> Int {
        Int(Double(size.area) * share) + 2 * (size.width + size.height)
    }

    /// Whether chroma planes of equal size have such detail; a grey image has none.
    @unsafe
    static func isFound(in planes: CPlanarShimPlanes) -> Bool {
        guard planes.count == 3 else { return false }
        var (blue, red) = unsafe (planes.planes.1, planes.planes.2)
        let size = unsafe PixelSize(width: Int(blue.width), height: Int(blue.height))
        return unsafe Int(CPlanarShim_color_edges(&blue, &red)) > leastEdges(in: size)
    }
}
