/// The work that waits in a queue.
package struct Backlog: Sendable, Equatable {
    package var count: Int
    package var delay: Duration
    package var age: Duration

    package init(count: Int, delay: Duration, age: Duration) {
        self.count = count
        self.delay = delay
        self.age = age
    }
}
