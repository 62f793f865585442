/// One value per source: first the main source, then the additional sources in the request's order.
///
/// A single value is stored inline, without an array.
package struct PerSource<Value> {
    package var main: Value
    package var additional: [Value]

    package init(_ main: Value, additional: [Value] = []) {
        self.main = main
        self.additional = additional
    }

    package func mapValues<New, Failure: Error>(
        _ transform: (Value) throws(Failure) -> New
    ) throws(Failure) -> PerSource<New> {
        let main = try transform(main)
        guard !additional.isEmpty else { return PerSource<New>(main) }
        return PerSource<New>(main, additional: try additional.map(transform))
    }

    func mapWithIndex<New>(_ transform: (_ index: Int, _ value: Value) -> New) -> PerSource<New> {
        PerSource<New>(transform(0, main), additional: additional.enumerated().map { transform($0 + 1, $1) })
    }

    /// Returns the values; nil if one is missing.
    package func unwrapped<Wrapped>() -> PerSource<Wrapped>? where Value == Wrapped? {
        guard let main, !additional.contains(where: { $0 == nil }) else { return nil }
        return PerSource<Wrapped>(main, additional: additional.compactMap(\.self))
    }
}

extension PerSource: RandomAccessCollection {
    package var startIndex: Int { 0 }
    package var endIndex: Int { additional.count + 1 }
    package subscript(position: Int) -> Value {
        get { position == 0 ? main : additional[position - 1] }
        set { if position == 0 { main = newValue } else { additional[position - 1] = newValue } }
    }
}

extension PerSource where Value: Sendable {
    /// Transforms all values concurrently; the first error cancels the rest.
    ///
    /// A single value is transformed in the calling task.
    func concurrentMap<New: Sendable>(
        _ transform: @escaping @Sendable (_ index: Int, _ value: Value) async throws -> New
    ) async throws -> PerSource<New> {
        guard !additional.isEmpty else { return PerSource<New>(try await transform(0, main)) }
        return try await withThrowingTaskGroup(of: (Int, New).self) { group in
            for (index, value) in enumerated() {
                group.addTask { (index, try await transform(index, value)) }
            }
            var results = [New?](repeating: nil, count: count)
            for try await (index, value) in group { results[index] = value }
            let complete = results.compactMap(\.self)
            return PerSource<New>(complete[0], additional: Array(complete.dropFirst()))
        }
    }
}

extension PerSource: Sendable where Value: Sendable {}
extension PerSource: Equatable where Value: Equatable {}
