import Coordination
import Downloading
import SharedCaching

extension OriginObjects: ObjectPlace {}

extension WritableOrigins {
    /// Ends the threads; a disk that hangs keeps its own, and must not keep the process.
    func end(timeLimit: Duration, by timekeeper: any Timekeeper) async {
        let answer = FirstAnswer<Bool>()
        let ending = try? WorkThread(named: "store end") {
            shutDown()
            answer.give(true)
        }
        guard let ending else { return }
        ending.detach()
        _ = await answer.value(within: timeLimit, by: timekeeper, or: false)
    }
}
