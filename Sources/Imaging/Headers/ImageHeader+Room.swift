extension ImageHeader {
    /// Bytes that the pixels of a decode by `plan` take at most, whatever their bands and however they lie, as known before it starts.
    package func mostPixelBytes(of plan: DecodePlan) -> Int {
        func reduced(_ side: Int) -> Int { (min(side, 1 << 32) + plan.level - 1) / plan.level }
        let (width, height) = (reduced(size.width), reduced(size.height))
        let row = max(4 * width, 3 * ((width + Plane.alignment - 1) / Plane.alignment * Plane.alignment))
        let (frame, isLong) = row.multipliedReportingOverflow(by: height)
        let (all, isLonger) = frame.multipliedReportingOverflow(by: plan.frames(of: self))
        // No machine has as many.
        return isLong || isLonger ? 1 << 46 : min(all, 1 << 46)
    }
}
