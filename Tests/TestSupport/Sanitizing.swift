package import Testing

extension Trait where Self == ConditionTrait {
    /// Skips a test if `scripts/sanitize` built it, because the sanitizer makes calls that the test forbids.
    package static func unlessSanitized(_ reason: Comment) -> ConditionTrait {
        #if SANITIZING
        .disabled(reason)
        #else
        .enabled(if: true)
        #endif
    }

    /// Leaves a test out under ThreadSanitizer, which has a thread of its own, so that no process can be copied.
    package static func unlessThreadSanitized(_ reason: Comment) -> ConditionTrait {
        #if TSAN
        .disabled(reason)
        #else
        .enabled(if: true)
        #endif
    }
}
