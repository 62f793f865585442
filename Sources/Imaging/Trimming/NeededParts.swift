import Memory

extension SharedBytes {
    /// The file without what its decoder would only waste time and memory on; these same bytes where there is nothing of it.
    ///
    /// - Parameter walk: Lends the parts to keep, in their order, each time the same ones.
    func keeping(
        _ walk: (_ file: RawSpan, _ keep: (Range<Int>) -> Void) -> Void
    ) -> SharedBytes {
        // Counted first: a file of a million small parts must not cost a list of a million ranges.
        let kept = withBytes { file in
            var sum = 0
            walk(file) { sum += $0.count }
            return sum
        }
        guard kept < count else { return self }
        var result = ByteAccumulator(reservingCapacity: kept)
        unsafe withUnsafeBytes { bytes in
            walk(unsafe bytes.bytes) { unsafe result.append(UnsafeRawBufferPointer(rebasing: bytes[$0])) }
        }
        return result.finish()
    }
}
