package import Imaging

extension RenderPlan {
    /// The plan of a request, given the headers of its sources.
    ///
    /// - Throws: ``ImagingError`` for sources, pages and results that the limits or the output format exclude; that of an additional
    ///   source within an ``AdditionalSourceError``.
    package init(
        for request: ThumbnailRequest, of headers: PerSource<ImageHeader>, by configuration: PipelineConfiguration
    ) throws {
        let (image, limits) = (headers.image, configuration.limits)
        let hasRecipe = request.options.recipe != nil
        if hasRecipe { try Self.check(headers.additional, of: request, limits: limits) }
        let format = request.format.format(
            own: image.format, hasAlpha: image.page(request.options.page).hasAlpha,
            automatic: configuration.automaticFormats)
        try self.init(
            options: request.options, format: format, isFormatChosen: request.format.isFixed, source: image,
            limits: limits, light: configuration.light, efforts: configuration.efforts,
            similarity: configuration.similarity,
            additions: hasRecipe ? headers.additional : [])
        guard !hasRecipe else { return }
        for (named, header) in zip(request.additional, headers.additional) {
            try AdditionalSourceError.attributing(to: named.role) {
                try append(header, for: named.role, request.options, by: configuration)
            }
        }
    }

    /// Refuses additional sources that the limits exclude, each as a failure of its own role.
    private static func check(
        _ additional: [ImageHeader], of request: ThumbnailRequest, limits: ImagingLimits
    ) throws {
        for (named, header) in zip(request.additional, additional) {
            try AdditionalSourceError.attributing(to: named.role) {
                _ = try DecodePlan(ofAddition: header, limits: limits)
            }
        }
    }

    /// Plans the decode of the next additional source, and the step that uses its pixels.
    private mutating func append(
        _ header: ImageHeader, for role: AdditionalSource.Role, _ options: RenderingOptions,
        by configuration: PipelineConfiguration
    ) throws(ImagingError) {
        let limits = configuration.limits
        switch role {
        case .watermark:
            guard let watermark = options.watermark else {
                additions.append(try DecodePlan(ofAddition: header, limits: limits))
                return
            }
            try append(
                watermark: watermark, ratio: options.devicePixelRatio, header: header, limits: limits,
                light: configuration.light)
        }
    }
}
