import Glibc

/// Some bytes of a file at their offsets, and the file's size.
///
/// A reader of whole files also reads parts: unknown bytes are zeros, on pages that have no memory until they are read,
/// and the kernel knows which pages have some (`mincore`). A result is certain if only known pages were read.
package struct FileParts: Sendable {
    package struct Reading<Value> {
        package let value: Value
        /// In order, by pages: the reader has touched unknown bytes there, and has taken them for zeros.
        package let missing: [Range<Int>]
    }

    package let count: Int
    private var parts: [(offset: Int, bytes: SharedBytes)] = []

    /// No address space is reserved for a larger file, whose zeros also take time to read.
    package static let maximumCount = 1 << 28
    /// In bytes: parts should begin and end at its multiples, because the rest of a page counts as unknown.
    package static let page = max(1, sysconf(CInt(_SC_PAGESIZE)))

    /// Nil if the system cannot tell what was read, as in some sandboxes, or if the file is too large.
    package init?(count: Int) {
        guard Self.isSupported, 1...Self.maximumCount ~= count else { return nil }
        self.count = count
    }

    private init(testing count: Int) { self.count = count }

    /// Ignores bytes beyond the end of the file.
    package mutating func add(_ bytes: SharedBytes, at offset: Int) { parts.append((offset, bytes)) }

    package var knownCount: Int { parts.reduce(0) { $0 + $1.bytes.count } }

    /// Nil without memory.
    package func read<Value>(_ body: (RawSpan) throws -> Value) rethrows -> Reading<Value>? {
        let pages = (count + Self.page - 1) / Self.page
        guard let start = unsafe mmap(nil, count, PROT_READ | PROT_WRITE, Self.flags, -1, 0), unsafe start != MAP_FAILED
        else { return nil }
        defer { unsafe munmap(start, count) }
        // A huge page would be touched as a whole. Kernels without them return an error.
        _ = unsafe madvise(start, count, MADV_NOHUGEPAGE)
        var isKnown = [Bool](repeating: false, count: pages)
        for part in parts {
            for page in wholePages(of: part) {
                let place = page * Self.page
                let length = min(Self.page, count - place)
                unsafe part.bytes.withUnsafeBytes { bytes in
                    guard let bytes = bytes.baseAddress else { return }
                    unsafe memcpy(start + place, bytes + place - part.offset, length)
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

    /// The bytes to fetch until all of the range is known, by pages; nil if it is.
    package func unknown(in range: Range<Int>) -> Range<Int>? {
        let known = parts.map { wholePages(of: $0) }
        let unknown = (range.lowerBound / Self.page..<(range.upperBound + Self.page - 1) / Self.page).filter { page in
            !known.contains { $0.contains(page) }
        }
        guard let first = unknown.first, let last = unknown.last else { return nil }
        return first * Self.page..<min((last + 1) * Self.page, count)
    }

    /// Nil if some are unknown.
    package func bytes(in range: Range<Int>) -> SharedBytes? {
        guard 0..<count ~= range.lowerBound, range.upperBound <= count, unknown(in: range) == nil else { return nil }
        for part in parts where part.offset <= range.lowerBound && range.upperBound <= part.offset + part.bytes.count {
            return SharedBytes(range.lowerBound - part.offset..<range.upperBound - part.offset, of: part.bytes)
        }
        let reading = read { file in SharedBytes(unsafe file.extracting(range).withUnsafeBytes { unsafe Array($0) }) }
        return reading?.value
    }

    private func wholePages(of part: (offset: Int, bytes: SharedBytes)) -> Range<Int> {
        let end = min(part.offset + part.bytes.count, count)
        let first = (part.offset + Self.page - 1) / Self.page
        return first..<max(first, end == count ? (end + Self.page - 1) / Self.page : end / Self.page)
    }

    private static let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE

    /// A sandbox may report every page as touched, or none.
    private static let isSupported: Bool = {
        let place = page..<2 * page
        let reading = FileParts(testing: 3 * page).read { file in
            unsafe file.unsafeLoad(fromByteOffset: place.lowerBound, as: UInt8.self)
        }
        return reading?.value == 0 && reading?.missing == [place]
    }()
}
