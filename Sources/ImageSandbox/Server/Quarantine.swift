/// Contents that ended workers lately, or kept them busy too long; they are refused for a while, whatever their URL.
struct Quarantine<Offender: Hashable> {
    /// How long a content is refused.
    let duration: Duration
    /// Largest number of contents; when it is full, the oldest leaves first.
    let capacity: Int
    private var ends: [Offender: Duration] = [:]

    /// An empty quarantine.
    init(duration: Duration = .seconds(600), capacity: Int = 4_096) {
        self.duration = duration
        self.capacity = capacity
    }

    /// Whether nothing is refused now.
    ///
    /// Then no content needs to be hashed.
    mutating func isEmpty(at now: Duration) -> Bool {
        if !ends.isEmpty { ends = ends.filter { $0.value > now } }
        return ends.isEmpty
    }

    /// Number of contents, including those whose time is over.
    var count: Int { ends.count }

    func contains(_ offender: Offender, at now: Duration) -> Bool {
        ends[offender].map { $0 > now } ?? false
    }

    mutating func insert(_ offender: Offender, at now: Duration) {
        if ends.count >= capacity, ends[offender] == nil, let oldest = ends.min(by: { $0.value < $1.value })?.key {
            ends[oldest] = nil
        }
        ends[offender] = now + duration
    }
}
