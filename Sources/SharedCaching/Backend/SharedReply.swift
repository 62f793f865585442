package import Memory

package struct SharedLookup: Sendable {
    package var value: CacheValue?
    /// The result for statistics; nil if the store was not queried.
    package var result: SharedStoreStatistics.Result?
    /// The generations, one per source; nil if unknown.
    package var generations: [SharedGenerations]?
}

package struct SharedReply: Sendable {
    /// The generation of everything, the generations of the sources, and the value.
    let result: StoreReadResult
    let key: SharedKey
    let sourceCount: Int

    package var byteCount: Int {
        if case .values(let values) = result { values.last.flatMap { $0?.count } ?? 0 } else { 0 }
    }

    /// Verifies that an instance with this key wrote the value under the current generations.
    func verified(by signer: SharedSigner) -> SharedLookup {
        let values: [SharedBytes?]
        switch result {
        case .values(let received): values = received
        case .timeout: return SharedLookup(result: .timeout)
        case .failed: return SharedLookup(result: .error)
        }
        guard values.count == sourceCount + 2 else { return SharedLookup(result: .rejected) }
        let generations = values.dropLast().map { bytes in
            bytes.flatMap { $0.count == Generation.length ? Generation($0.array) : nil }
        }
        let current = generations.compactMap(\.self)
        guard current.count == generations.count else { return SharedLookup(result: .miss) }
        let pairs = current.dropFirst().map { SharedGenerations(everything: current[0], source: $0) }
        guard let bytes = values.last.flatMap(\.self) else { return SharedLookup(result: .miss, generations: pairs) }
        switch CacheValue.read(bytes, under: key, generations: current, signer: signer) {
        case .value(let value): return SharedLookup(value: value, result: .hit, generations: pairs)
        case .outdated: return SharedLookup(result: .miss, generations: pairs)
        case .damaged: return SharedLookup(result: .rejected, generations: pairs)
        }
    }
}
