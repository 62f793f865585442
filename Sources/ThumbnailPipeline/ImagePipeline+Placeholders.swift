import Coordination
package import Imaging

extension ImagePipeline {
    /// A plain image in the size of the request's box; 1×1 where the request names no side.
    ///
    /// Judged, priced and made like a result: what is asked for by many at once is made once.
    package func placeholder(for request: ThumbnailRequest, color: Color) async throws -> EncodedImage {
        let size = request.options.placeholderSize
        let format = request.format.format(
            own: .png, hasAlpha: true, automatic: configuration.automaticFormats)
        guard max(size.width, size.height) <= format.maximumSide,
            size.area <= configuration.limits.maximumFramePixels(of: format)
        else { throw PipelineError.placeholderTooLarge }
        let shown = format.supportsAlpha ? color : color.composited(over: .white)
        return try await placeholders.image(for: PlaceholderKey(color: shown, size: size, format: format)) {
            try await self.makePlaceholder(color: shown, size: size, format: format)
        }
    }

    private func makePlaceholder(color: Color, size: PixelSize, format: ImageFormat) async throws -> EncodedImage {
        let plan = RenderPlan(resizedSize: size, format: format, quality: format.defaultQuality)
        let price = WorkPrice(of: plan, ofPlain: color)
        return try await inLane(price, patience: nil) { patience in
            let room = try await reserveMemory(forPlaceholder: plan)
            defer { room.release() }
            return try await lanes.workers(for: price.render).run(
                priority: .finishing, timeLimit: configuration.decodeTimeout, patience: patience
            ) { [codec] token in
                try ImageRenderer.placeholder(color: color, size: size, format: format, token: token, codec: codec)
            }
        }
    }
}
