import Coordination
import Downloading
import Settings
import SharedCaching
import Telemetry

/// The store where results stay, on a named origin.
struct ResultStore: Sendable {
    let store: ObjectStore
    private let objects: OriginObjects
    private let timekeeper: any Timekeeper

    /// The store that the settings name; nil if they name none.
    ///
    /// - Parameters:
    ///   - settings: The origin, and how the store is used.
    ///   - web: Sends requests to an origin that is no folder.
    ///   - logger: Takes its log lines.
    ///   - time: The clock for waits.
    init?(_ settings: Settings, web: any DataLoading, logger: Logger, time: any Timekeeper) {
        guard let origin = settings.downloads.origins[settings.resultStore.origin],
            let objects = OriginObjects(origin, web: web, maximumReads: ObjectStore.mostReads)
        else { return nil }
        self.objects = objects
        timekeeper = time
        store = ObjectStore(objects, settings.resultStoreConfiguration, logger: logger, timekeeper: time)
    }

    /// Waits for the writes that it has, and ends.
    func stop(timeLimit: Duration) async {
        await store.stop(timeLimit: timeLimit)
        // A disk that hangs keeps its threads, and must not keep the process.
        let answer = FirstAnswer<Bool>()
        let ending = try? WorkThread(named: "store end") { [objects] in
            objects.shutDown()
            answer.give(true)
        }
        guard let ending else { return }
        ending.detach()
        _ = await answer.value(within: timeLimit, by: timekeeper, or: false)
    }
}

extension OriginObjects: ObjectPlace {}
