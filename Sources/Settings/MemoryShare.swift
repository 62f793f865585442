package enum MemoryShare: Equatable, Sendable {
    case bytes(Int)
    case percent(Int)

    /// The service works with it.
    static let smallest = 16 << 20

    init(_ text: String) throws(InvalidValue) {
        let number = text.hasSuffix("%") ? Int(text.dropLast().trimmingSpaces) : nil
        if let number, 1...100 ~= number {
            self = .percent(number)
        } else if let bytes = try? SettingParser.byteSize.parse(text), bytes >= Self.smallest {
            self = .bytes(bytes)
        } else {
            throw InvalidValue(allowed: "at least 16MiB, or a share of the memory such as 60%")
        }
    }

    package func byteCount(of total: Int) -> Int {
        switch self {
        case .bytes(let count): count
        case .percent(let percent): max(Self.smallest, total / 100 * percent)
        }
    }
}
