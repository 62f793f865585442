import Glibc

/// A file with only some known ranges.
///
/// A reader of whole files can read it: unknown bytes are zeros, on pages that get memory only when they are read, so
/// that the kernel can list the pages that were read (`mincore`). A result is certain if only known pages were read.
package struct PartialFile: Sendable {
    package struct Reading<Value> {
        package let value: Value
        /// The pages in which the reader took unknown bytes for zeros, in order.
        package let missing: [Range<Int>]
    }

    package let count: Int
    private var ranges: [(offset: Int, bytes: SharedBytes)] = []

    /// The maximum size: a larger file would need much address space, and its zeros take time to read.
    package static let maximumCount = 1 << 28
    /// The size of a page in bytes; ranges should begin and end at its multiples, because pages are known as a whole.
    package static let page = max(1, sysconf(CInt(_SC_PAGESIZE)))

    /// Returns nil if the file is too large, or the system cannot list the pages that were read, as in some sandboxes.
    package init?(count: Int) {
        guard Self.isSupported, 1...Self.maximumCount ~= count else { return nil }
        self.count = count
    }

    private init(testing count: Int) { self.count = count }

    /// Adds a known range; ignores bytes beyond the end of the file.
    package mutating func add(_ bytes: SharedBytes, at offset: Int) { ranges.append((offset, bytes)) }

    package var knownCount: Int { ranges.reduce(0) { $0 + $1.bytes.count } }

    /// Calls `body` with the file; returns nil if there is no memory.
    package func read<Value>(_ body: (RawSpan) throws -> Value) rethrows -> Reading<Value>? {
        let pages = (count + Self.page - 1) / Self.page
        guard let start = unsafe mmap(nil, count, PROT_READ | PROT_WRITE, Self.flags, -1, 0), unsafe start != MAP_FAILED
        else { return nil }
        defer { unsafe munmap(start, count) }
        // A huge page would be touched as a whole. Kernels without them return an error.
        _ = unsafe madvise(start, count, MADV_NOHUGEPAGE)
        var isKnown = [Bool](repeating: false, count: pages)
        for range in ranges {
            for page in wholePages(of: range) {
                let offset = page * Self.page
                let length = min(Self.page, count - offset)
                unsafe range.bytes.withUnsafeBytes { bytes in
                    guard let bytes = bytes.baseAddress else { return }
                    unsafe memcpy(start + offset, bytes + offset - range.offset, length)
                }
                isKnown[page] = true
            }
        }
        let value = try body(unsafe UnsafeRawBufferPointer(start: start, count: count).bytes)
        var touched = [UInt8](repeating: 0, count: pages)
        guard unsafe mincore(start, count, &touched) == 0 else { return nil }
        var missing: [Range<Int>] = []
        for page in 0..<pages where touched[page] & 1 == 1 && !isKnown[page] {
            let range = page * Self.page..<min((page + 1) * Self.page, count)
            if let last = missing.last, last.upperBound == range.lowerBound {
                missing[missing.count - 1] = last.lowerBound..<range.upperBound
            } else {
                missing.append(range)
            }
        }
        return Reading(value: value, missing: missing)
    }

    /// Returns the pages to fetch until all of the range is known; nil if it is known.
    package func unknown(in range: Range<Int>) -> Range<Int>? {
        let known = ranges.map { wholePages(of: $0) }
        let unknown = (range.lowerBound / Self.page..<(range.upperBound + Self.page - 1) / Self.page).filter { page in
            !known.contains { $0.contains(page) }
        }
        guard let first = unknown.first, let last = unknown.last else { return nil }
        return first * Self.page..<min((last + 1) * Self.page, count)
    }

    /// Returns the bytes of a range; nil if some are unknown.
    package func bytes(in range: Range<Int>) -> SharedBytes? {
        guard 0..<count ~= range.lowerBound, range.upperBound <= count, unknown(in: range) == nil else { return nil }
        for known in ranges
        where known.offset <= range.lowerBound && range.upperBound <= known.offset + known.bytes.count {
            return SharedBytes(range.lowerBound - known.offset..<range.upperBound - known.offset, of: known.bytes)
        }
        let reading = read { file in SharedBytes(unsafe file.extracting(range).withUnsafeBytes { unsafe Array($0) }) }
        return reading?.value
    }

    private func wholePages(of range: (offset: Int, bytes: SharedBytes)) -> Range<Int> {
        let end = min(range.offset + range.bytes.count, count)
        let first = (range.offset + Self.page - 1) / Self.page
        return first..<max(first, end == count ? (end + Self.page - 1) / Self.page : end / Self.page)
    }

    private static let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE

    /// False in sandboxes that report every page as read, or none.
    private static let isSupported: Bool = {
        let secondPage = page..<2 * page
        let reading = PartialFile(testing: 3 * page).read { file in
            unsafe file.unsafeLoad(fromByteOffset: secondPage.lowerBound, as: UInt8.self)
        }
        return reading?.value == 0 && reading?.missing == [secondPage]
    }()
}
