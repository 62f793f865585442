import Telemetry

/// A dialect among the public listener's routes.
///
/// An object, because every exchange and every remembered target holds one.
final class ImageRoute: Sendable {
    /// Reads the route's targets.
    let dialect: any Dialect
    /// Counts answers with 200, looked up once because that happens most.
    let successes: Counter

    /// The route of `dialect`.
    init(_ dialect: any Dialect, metrics: APIMetrics) {
        self.dialect = dialect
        successes = metrics.requests.counter(dialect.name, "200")
    }
}
