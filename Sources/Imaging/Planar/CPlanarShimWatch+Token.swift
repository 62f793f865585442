import CPlanarShim
import Coordination

extension CPlanarShimWatch {
    /// A watch that asks `token`, which must outlive the work.
    @unsafe
    init(_ token: WorkToken) {
        unsafe self.init(should_stop: shouldStop, context: Unmanaged.passUnretained(token).toOpaque())
    }
}
