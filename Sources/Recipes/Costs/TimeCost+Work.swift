extension ImageHeader {
    package func timeCost(of plan: DecodePlan, fileByteCount: Int = 0) -> Duration {
        let header = decoded(by: plan)
        let time = format.reading.time
        let area = Double(header.work.area)
        // Later scans read fine detail bit by bit; coarse levels skip them.
        let isRefined = header.isProgressive && format.reading.reduction == .transform && plan.level <= 2
        let bytes = Double(preview?.range.count ?? fileByteCount) * time.byte * (isRefined ? TimeCost.refinement : 1)
        var pixel = area > 0 ? max(time.pixel, time.minimumPixel - bytes / area) : 0
        if format.reading.reduction == .transform { pixel /= Double(plan.level) }
        if header.isProgressive { pixel += TimeCost.passes }
        if header.isCMYK {
            pixel += TimeCost.cmyk.pixel / Double(plan.level * plan.level)
            if header.isProgressive { pixel += TimeCost.cmyk.passes }
        }
        if header.colors.encoding?.isHDR == true { pixel += TimeCost.tones }
        if header.frames > 1 { pixel += time.animation }
        if header.hasAlpha, time.isAlphaApart { pixel += TimeCost.alphaPlane }
        // A frame of an animation requires all frames before it.
        let decodedFrames = plan.frames(of: self)
        let decoded =
            plan.isAnimated
            ? min(plan.page, frames) + decodedFrames : format.hasMovingFrames ? min(plan.page + 1, frames) : 1
        // Counts each decoder start and each frame before the requested one.
        let runs = Double(header.work.runs + (format.hasMovingFrames ? decoded - decodedFrames : 0)) * TimeCost.run
        let depth = header.bitDepth > 8 ? 2.0 : 1
        let framing = plan.isAnimated ? TimeCost.frame.decode * Double(decodedFrames) : 0
        let rows = Double(header.storedSize.height) * TimeCost.row
        let tables = header.isCMYK ? TimeCost.cmyk.tables : 0
        let hidden = Double(header.work.hiddenArea) * TimeCost.hidden * depth
        // The map's bytes are already counted with the file.
        let map = plan.gainMap(of: self).map { $0.map.header.timeCost(of: $0.plan) } ?? .zero
        return TimeCost.duration(
            (area * pixel * depth + rows) * Double(decoded) + hidden + framing + runs + bytes + tables)
            + map
    }

    /// Returns the part of ``timeCost(of:fileByteCount:)`` for the decoder runs that the header declares.
    package func runsTime(of plan: DecodePlan) -> Duration {
        TimeCost.duration(Double(decoded(by: plan).work.runs) * TimeCost.run)
    }

    /// Rejects a frame far into an animation, because it requires all frames before it.
    func checkTime(of plan: DecodePlan, limits: ImagingLimits) throws(ImagingError) {
        guard plan.page == 0 || !format.hasMovingFrames || timeCost(of: plan) <= limits.longestSteps else {
            throw .frameTooLate(plan.page)
        }
    }
}

extension RenderPlan {
    package func timeCost(of source: ImageHeader) -> Duration {
        let decoded = source.decoded(by: decode)
        // A gain map may have more pixels than its image.
        let map = decode.gainMap(of: source).map { $0.map.header.size.reduced(by: $0.plan.level).area } ?? 0
        return timeCost(
            of: decoded.shape.reduced(by: decode.level), frames: decode.frames(of: source),
            hasProfile: decoded.profileByteCount > 0 || decoded.colors.encoding != nil || gamut != .srgb)
            + TimeCost.duration(Double(map) * TimeCost.mapRead)
    }

    /// Returns the time of the steps without the encoding; limits long chains of cheap steps.
    func stepsTime(frames: Int) -> Duration {
        steps.costs(on: source).reduce(.zero) { sum, cost in
            sum + TimeCost.duration(cost.perFrame * Double(frames) + cost.once)
        }
    }

    package func timeCost(ofPlain color: Color) -> Duration {
        timeCost(of: FrameShape(size: source.size, hasAlpha: color.alpha < 255), frames: 1, hasProfile: false)
    }

    private func timeCost(of frame: FrameShape, frames: Int, hasProfile: Bool) -> Duration {
        let result = steps.shape(after: frame)
        let costs = steps.costs(on: frame)
        // The choice of a gamut composes the visible pixels a second time.
        let times = gamut == .auto ? 2.0 : 1
        let composing = times * costs.reduce(0) { $0 + $1.perFrame }
        // Colors are converted after the first step.
        let colored = steps.work(on: frame).first?.pixelsComputed ?? result.size.area
        let coloring = hasProfile ? times * Double(colored) * TimeCost.profile : 0
        let encoding =
            (isLossless ? format.writing?.losslessTime : nil)
            ?? format.writing?.time.cost(
                isFine: quality.highest >= 90 || decode.keepsGainMap, hasAlpha: result.hasAlpha && format.supportsAlpha,
                isAnimated: isAnimated, choosesPalette: choosesPalette)
            ?? 0
        let fixed = format.writing?.time.fixedCost(isAnimated: isAnimated, choosesPalette: choosesPalette) ?? 0
        let judging =
            if case .similar = quality {
                Double(result.size.area * SimilarityGoal.maximumTries)
                    * (format.reading.time.pixel + TimeCost.similarity)
            } else { 0.0 }
        // The result is decoded and possibly converted, and its gain map is encoded.
        let mapping =
            decode.keepsGainMap
            ? Double(frame.size.area) * TimeCost.gains + Double(result.size.area)
                * (format.reading.time.pixel + (hasProfile ? TimeCost.profile : 0)
                    + encoding * Double(quality.maximumMapEncodes))
            : 0
        let framing = isAnimated ? TimeCost.frame.encode : 0
        return TimeCost.duration(
            (composing + coloring + mapping + (Double(result.size.area) * encoding + fixed + framing)
                * Double(quality.maximumEncodes)
                + judging) * Double(frames)
                + costs.reduce(0) { $0 + $1.once })
    }
}

extension Duration {
    package var isExpensive: Bool { self >= TimeCost.expensive }
}
