/// A bound on memory: so many bytes, or a share of what the system gives.
enum MemoryShare: Equatable, Sendable {
    case bytes(Int)
    case percent(Int)

    /// Less than this serves nobody.
    static let smallest = 16 << 20

    /// Reads `512MiB` or `60%`.
    init(_ text: String) throws(InvalidValue) {
        let number = text.hasSuffix("%") ? Int(text.dropLast().trimmingSpaces) : nil
        if let number, 1...100 ~= number {
            self = .percent(number)
        } else if let bytes = try? SettingValues.byteSize(text), bytes >= Self.smallest {
            self = .bytes(bytes)
        } else {
            throw InvalidValue(allowed: "at least 16MiB, or a share of the memory such as 60%")
        }
    }

    /// The bound in bytes, where the system gives `total`.
    func byteCount(of total: Int) -> Int {
        switch self {
        case .bytes(let count): count
        case .percent(let percent): max(Self.smallest, total / 100 * percent)
        }
    }
}
