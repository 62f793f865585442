package struct TransferTimings: Hashable, Sendable {
    package var dns = Duration.zero
    package var connect = Duration.zero
    package var tls = Duration.zero
    package var firstByte = Duration.zero
    package var total = Duration.zero
    package var isReused = false

    package init() {}

    mutating func add(_ later: TransferTimings) {
        dns += later.dns
        connect += later.connect
        tls += later.tls
        firstByte += later.firstByte
        total += later.total
        isReused = later.isReused
    }
}
