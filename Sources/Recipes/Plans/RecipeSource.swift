package struct RecipeSource: Hashable, Sendable {
    package let header: ImageHeader
    /// The box inside the border, in pixels of the upright page; nil before or without a trim.
    package internal(set) var box: ImageRegion?
    package let additions: [ImageHeader]
    package let rules: RenderingRules
    /// Formats that a recipe must not choose by itself; a format that the request names is kept, and fails.
    package internal(set) var unsupportedFormats: Set<ImageFormat> = []

    package init(
        header: ImageHeader, box: ImageRegion? = nil, additions: [ImageHeader] = [],
        rules: RenderingRules = RenderingRules()
    ) {
        self.header = header
        self.box = box
        self.additions = additions
        self.rules = rules
    }

    package var limits: ImagingLimits { rules.limits }

    /// Returns the first format that can represent the result; otherwise PNG, or JPEG for an opaque still.
    ///
    /// - Parameter isMoving: Whether the result keeps several frames, if its format supports them.
    package func firstSupported(of formats: [ImageFormat], hasAlpha: Bool, isMoving: Bool = false) -> ImageFormat {
        .first(of: formats, excluding: unsupportedFormats, hasAlpha: hasAlpha, isMoving: isMoving)
    }

    package func with(box: ImageRegion?) -> RecipeSource {
        var source = self
        source.box = box
        return source
    }

    package func whole(ofPage page: Int = 0) -> ImageRegion { box ?? ImageRegion(allOf: header.page(page).size) }
}
