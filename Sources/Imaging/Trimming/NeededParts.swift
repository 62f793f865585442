import Memory

extension SharedBytes {
    /// The parts of the file that are to be kept; the same bytes if that is all of it.
    ///
    /// - Parameter walk: Calls `keep` with the parts to keep, in order; the same parts at every call.
    func keeping(
        _ walk: (_ file: RawSpan, _ keep: (Range<Int>) -> Void) -> Void
    ) -> SharedBytes {
        // The bytes are counted first, because a list of ranges could be long: a file may have a million small parts.
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
