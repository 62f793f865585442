import Coordination

/// What C libraries call while they work: 1 to stop.
///
/// The context is a ``WorkToken`` that the caller of the job keeps alive.
func shouldStop(_ context: UnsafeMutableRawPointer?) -> Int32 {
    guard let context = unsafe context else { return 1 }
    return unsafe Unmanaged<WorkToken>.fromOpaque(context).takeUnretainedValue().shouldStop ? 1 : 0
}
