import Testing

@testable import Downloading

/// Each origin has its own health, and their number is limited.
struct OriginHealthTableTests {
    private func origin(_ number: Int) -> OriginKey { OriginKey(scheme: "https", host: "h\(number)", port: 443) }

    private func suspend(_ origin: OriginKey, in book: inout OriginHealthTable) {
        for number in 0..<5 { book.transfer(origin, .noResponse, "/\(number)") }
    }

    @Test func `another scheme, host or port is another origin`() {
        var book = OriginHealthTable()
        suspend(OriginKey(scheme: "http", host: "h", port: 80), in: &book)
        for other in [
            OriginKey(scheme: "https", host: "h", port: 80), OriginKey(scheme: "http", host: "i", port: 80),
            OriginKey(scheme: "http", host: "h", port: 81),
        ] {
            guard case .granted = book.admit(other, progress: TransferProgress(), at: .zero) else {
                Issue.record("\(other) is refused")
                continue
            }
        }
        let admission = book.admit(
            OriginKey(scheme: "http", host: "h", port: 80), progress: TransferProgress(), at: .zero)
        #expect(admission == .rejected(.seconds(5)))
        #expect(book.summary(at: .zero).suspensions == 1)
    }

    @Test func `a full table evicts the least recently used origin, suspended ones last`() {
        var book = OriginHealthTable(capacity: 3)
        suspend(origin(0), in: &book)
        for number in 1...3 { book.transfer(origin(number), .response) }
        #expect(book.summary(at: .zero).origins.map(\.origin) == [0, 2, 3].map(origin))
        for number in 4..<1_000 { suspend(origin(number), in: &book) }
        #expect(book.summary(at: .zero).origins.map(\.origin) == [997, 998, 999].map(origin))
    }

    @Test func `origins invented by a client do not evict proven ones`() {
        var book = OriginHealthTable(capacity: 3)
        book.transfer(origin(0), .success)
        for number in 1..<1_000 { book.transfer(origin(number), .noResponse) }
        #expect(book.summary(at: .zero).origins.map(\.origin) == [0, 998, 999].map(origin))
    }

    @Test func `origins without results are not stored, and of unproven ones only a few`() {
        var book = OriginHealthTable()
        book.transfer(origin(0), .success)
        for number in 1...5_000 { book.transfer(origin(number), .inconclusive) }
        #expect(book.summary(at: .zero).origins.map(\.origin) == [origin(0)])
        for number in 1...5_000 { suspend(origin(number), in: &book) }
        let origins = book.summary(at: .zero).origins
        #expect(origins.count == 257 && origins.count(where: \.isProven) == 1)
        for number in 10_000..<11_000 { book.transfer(origin(number), .success) }
        #expect(book.summary(at: .zero).origins.count == 1_256)
    }

    @Test func `only new states of an origin are reported`() {
        var book = OriginHealthTable()
        book.transfer(origin(1), .success)
        book.transfer(origin(1), .response)
        #expect(book.takeChanges().map(\.isReachable) == [true])
        #expect(book.takeChanges().isEmpty)
        suspend(origin(1), in: &book)
        suspend(origin(2), in: &book)
        let changes = book.takeChanges()
        #expect(changes.map(\.origin) == [origin(1), origin(2), origin(2)])
        #expect(changes.map(\.isReachable) == [false, false, false])
        #expect(changes.map(\.isSuspended) == [false, false, true])
    }

    @Test func `operators see the origins' states and how long requests are rejected`() {
        var book = OriginHealthTable()
        _ = book.admit(origin(1), progress: TransferProgress(), at: .zero)
        book.transfer(origin(2), .response)
        book.transfer(origin(3), .serverError)
        suspend(origin(4), in: &book)
        let origins = book.summary(at: .seconds(2)).origins
        #expect(origins.map(\.origin.description) == (1...4).map { "https://h\($0):443" })
        #expect(origins.map(\.isReachable) == [nil, true, false, false])
        #expect(origins.map(\.isSuspended) == [false, false, false, true])
        #expect(origins.map(\.retryAfter) == [nil, nil, nil, .seconds(3)])
    }

    @Test func `retries are a tenth of the requests once the savings are spent`() {
        var budget = RetryBudget()
        var retries = 0
        while budget.withdraw() { retries += 1 }
        #expect(retries == 10)
        for _ in 0..<1_000 {
            budget.deposit()
            if budget.withdraw() { retries += 1 }
        }
        #expect(retries == 110)
        for _ in 0..<1_000 { budget.deposit() }
        while budget.withdraw() { retries += 1 }
        #expect(retries == 120)
    }
}

extension OriginHealthTable {
    /// Runs a transfer that ends at once, if it may start.
    fileprivate mutating func transfer(_ origin: OriginKey, _ report: OriginReport, _ path: String = "/a") {
        guard case .granted(let permit) = admit(origin, progress: TransferProgress(), at: .zero) else { return }
        _ = end(OriginRequest(origin: origin, source: .path(path), permit: permit), report: report, at: .zero)
    }
}
