import Coordination

/// The callback by which C libraries check for cancellation; returns 1 to stop.
///
/// The context is a ``WorkToken``, which the caller of the library keeps alive.
func shouldStop(_ context: UnsafeMutableRawPointer?) -> Int32 {
    guard let context = unsafe context else { return 1 }
    return unsafe Unmanaged<WorkToken>.fromOpaque(context).takeUnretainedValue().shouldStop ? 1 : 0
}
