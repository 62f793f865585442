#ifndef CSHORTAGES_H
#define CSHORTAGES_H

/// The end of a process after `CLinux_watch_for_shortage`.
typedef enum {
    /// Uses a null pointer.
    CShortages_crash,
    CShortages_exit,
    /// Fails to allocate memory, then uses a null pointer on two threads at once.
    CShortages_refused_crash,
    CShortages_refused_exit,
    /// Takes blocks until the allocator has no memory for the description of another, then uses the null pointer.
    CShortages_blocks,
    /// Fails to allocate memory for a thread, and aborts.
    CShortages_thread,
    /// Fails to extend its stack.
    CShortages_stack,
} CShortages_End;

/// Runs this program again, ends it in this way, and returns the status of `waitpid`.
int CShortages_status(CShortages_End end);

#endif
