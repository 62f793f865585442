import Memory

/// Finds the bytes of a source that its reader needs, so that only these are fetched.
package struct SourceScan: Sendable, Hashable {
    /// The purpose of a scan; requests with the same one share a fetch.
    package enum Extent: Sendable, CaseIterable {
        case whole
        /// The facts in the file's header.
        case header
        /// The facts and the preview of a RAW photograph.
        case preview
    }

    package enum Need: Sendable {
        case complete
        /// Missing ranges in order.
        ///
        /// The first is needed; its bytes may make later ones unnecessary. The limit counts all bytes, including known
        /// ones.
        case ranges([Range<Int>], atMost: Int)
        /// One range that is needed completely.
        case block(Range<Int>)
        case whole
    }

    let extent: Extent
    package let need: @Sendable (PartialSource) -> Need

    package init(_ extent: Extent, need: @escaping @Sendable (PartialSource) -> Need) {
        self.extent = extent
        self.need = need
    }

    package static func == (left: SourceScan, right: SourceScan) -> Bool { left.extent == right.extent }

    package func hash(into hasher: inout Hasher) { hasher.combine(extent) }
}
