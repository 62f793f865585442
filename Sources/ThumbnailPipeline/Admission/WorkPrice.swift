import Imaging

/// What it takes in time to make a result of what is there.
struct WorkPrice: Equatable {
    /// The decode; zero where its pixels are there, or others have them made.
    let decode: Duration
    /// The render after it.
    let render: Duration

    /// The price of a result of an image whose header is `header`.
    ///
    /// - Parameter fileByteCount: Bytes of its file, 0 where they are not known; nil where it need not be decoded.
    init(of plan: RenderPlan, from header: ImageHeader, decoding fileByteCount: Int?) {
        decode = fileByteCount.map { header.timePrice(of: plan.decode, fileByteCount: $0) } ?? .zero
        render = plan.timePrice(of: header)
    }

    /// The price of a plain image.
    init(of plan: RenderPlan, ofPlain color: Color) {
        decode = .zero
        render = plan.timePrice(ofPlain: color)
    }

    /// What both take together.
    var sum: Duration { decode + render }

    /// Where the work belongs: in the lane of its dearer half.
    var lane: WorkLanes.Lane { decode.isDear || render.isDear ? .dear : .small }
}
