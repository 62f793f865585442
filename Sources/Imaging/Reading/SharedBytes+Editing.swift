import Memory

extension SharedBytes {
    func joined(_ ranges: some Collection<Range<Int>>) -> SharedBytes {
        var result = ByteAccumulator(reservingCapacity: ranges.reduce(0) { $0 + $1.count })
        unsafe withUnsafeBytes { bytes in
            for range in ranges { unsafe result.append(UnsafeRawBufferPointer(rebasing: bytes[range])) }
        }
        return result.finish()
    }

    func replacing(_ range: Range<Int>, with bytes: SharedBytes) -> SharedBytes {
        var result = ByteAccumulator(reservingCapacity: count - range.count + bytes.count)
        unsafe withUnsafeBytes { unsafe result.append(UnsafeRawBufferPointer(rebasing: $0[..<range.lowerBound])) }
        result.append(bytes)
        unsafe withUnsafeBytes { unsafe result.append(UnsafeRawBufferPointer(rebasing: $0[range.upperBound...])) }
        return result.finish()
    }

    /// - Parameter walk: Calls `remove` with the ranges to remove, in order; must be repeatable.
    func removing(_ walk: (_ file: RawSpan, _ remove: (Range<Int>) -> Void) -> Void) -> SharedBytes {
        // Count the bytes first instead of making a list: a file may have a million small ranges.
        var removed = 0
        withBytes { file in walk(file) { removed += $0.clamped(to: 0..<count).count } }
        guard removed > 0 else { return self }
        var result = ByteAccumulator(reservingCapacity: count - removed)
        unsafe withUnsafeBytes { bytes in
            var start = 0
            walk(unsafe bytes.bytes) { range in
                unsafe result.append(UnsafeRawBufferPointer(rebasing: bytes[start..<range.lowerBound]))
                start = range.upperBound
            }
            if start < count { unsafe result.append(UnsafeRawBufferPointer(rebasing: bytes[start...])) }
        }
        return result.finish()
    }
}
