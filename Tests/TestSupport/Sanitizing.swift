package import Testing

extension Trait where Self == ConditionTrait {
    /// Skips a test in builds of `scripts/sanitize`, whose sanitizer makes calls that the test forbids.
    package static func unlessSanitized(_ reason: Comment) -> ConditionTrait {
        #if SANITIZING
        .disabled(reason)
        #else
        .enabled(if: true)
        #endif
    }

    /// Skips a test under ThreadSanitizer, whose own thread prevents forking a process.
    package static func unlessThreadSanitized(_ reason: Comment) -> ConditionTrait {
        #if TSAN
        .disabled(reason)
        #else
        .enabled(if: true)
        #endif
    }
}
