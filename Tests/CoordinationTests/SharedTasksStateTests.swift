import Testing

@testable import Coordination

struct SharedTasksStateTests {
    private typealias State = SharedTasksState<String, Int, String>

    @Test func `waiters are answered in order of arrival, each exactly once`() {
        var state = State()
        let tickets = (0..<5).map { _ in enter(&state) }
        for (number, ticket) in tickets.enumerated().reversed() {
            let early = state.wait(for: ticket, continuation: "waiter \(number)")
            #expect(early == nil)
        }
        let departure = state.leave(tickets[2])
        #expect(departure.continuation == "waiter 2")
        let answered = state.finish("a", serial: tickets[0].serial, with: .success(1))
        #expect(answered == ["waiter 0", "waiter 1", "waiter 3", "waiter 4"])
        let again = state.finish("a", serial: tickets[0].serial, with: .success(1))
        #expect(again.isEmpty)
        let late = state.leave(tickets[0])
        #expect(late.continuation == nil)
    }

    @Test func `a result that precedes the continuation waits for it`() throws {
        var state = State()
        let ticket = enter(&state)
        let answered = state.finish("a", serial: ticket.serial, with: .success(3))
        #expect(answered.isEmpty)
        let value = try state.wait(for: ticket, continuation: "late")?.get()
        #expect(value == 3)
    }

    @Test func `a cancellation that precedes the continuation is not lost`() {
        var state = State()
        let ticket = enter(&state)
        let departure = state.leave(ticket)
        #expect(departure.abandoned != nil)
        let result = state.wait(for: ticket, continuation: "late")
        #expect(throws: CancellationError.self) { try result?.get() }
    }

    @Test func `a late end of abandoned work does not affect its successor`() {
        var state = State()
        let first = enter(&state)
        _ = state.leave(first)
        let second = enter(&state)
        let early = state.wait(for: second, continuation: "second")
        #expect(early == nil)
        let late = state.finish("a", serial: first.serial, with: .success(1))
        #expect(late.isEmpty)
        let departure = state.leave(first)
        #expect(departure.abandoned == nil)
        let answered = state.finish("a", serial: second.serial, with: .success(2))
        #expect(answered == ["second"])
    }

    private func enter(_ state: inout State) -> State.Ticket {
        switch state.enter("a", cached: { nil }, start: { _ in Task {} }) {
        case .started(let ticket), .joined(let ticket): ticket
        case .cached: preconditionFailure("nothing is cached here")
        }
    }
}
