#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
// It watches mappings itself.
#define SANITIZED
#endif
#endif

// A background thread of jemalloc returns free memory to the kernel a quarter of a second after its last use, even
// without further allocations. One arena per processor instead of four: memory freed by one thread is reused more often
// by another. Each thread caches up to 20 free blocks of each size, so only of small sizes.
const char *malloc_conf = "background_thread:true,dirty_decay_ms:250,narenas_ratio:1,tcache_max:8192";

// jemalloc's; missing where a sanitizer replaces the allocator.
__attribute__((weak)) extern int mallctl(const char *name, void *old, size_t *old_size, void *new, size_t new_size);

void CLinux_return_free_memory(void)
{
    if (!mallctl)
        return;
    mallctl("thread.tcache.flush", NULL, NULL, NULL, 0);
    // 4096 stands for all arenas.
    mallctl("arena.4096.purge", NULL, NULL, NULL, 0);
}

size_t CLinux_block_size(const void *block)
{
    return malloc_usable_size((void *) block);
}

void CLinux_keep_free_memory(long milliseconds)
{
    unsigned count = 0, arena;
    size_t size = sizeof count;
    ssize_t time = milliseconds;
    char name[48];
    if (!mallctl || mallctl("arenas.narenas", &count, &size, NULL, 0))
        return;
    // For arenas to come, then for those in use; others return an error.
    mallctl("arenas.dirty_decay_ms", NULL, NULL, &time, sizeof time);
    for (arena = 0; arena < count; arena++) {
        snprintf(name, sizeof name, "arena.%u.dirty_decay_ms", arena);
        mallctl(name, NULL, NULL, &time, sizeof time);
    }
}

int64_t CLinux_allocated_bytes(void)
{
    uint64_t epoch = 1;
    size_t count = 0, size = sizeof count;
    if (!mallctl)
        return -1;
    // Without a new epoch, the figures are those of the last one.
    mallctl("epoch", NULL, NULL, &epoch, sizeof epoch);
    return mallctl("stats.allocated", &count, &size, NULL, 0) ? -1 : (int64_t) count;
}

static volatile sig_atomic_t is_short;

#ifndef SANITIZED
/// Replaces the C library's function for all libraries: the allocator calls it for blocks and for its own tables.
void *mmap(void *place, size_t size, int protection, int flags, int file, off_t offset)
{
    void *mapping = (void *) syscall(SYS_mmap, place, size, protection, flags, file, offset);
    // The allocator tries a place first, and then any.
    if (mapping == MAP_FAILED && errno == ENOMEM && !place)
        is_short = 1;
    return mapping;
}
#endif

void *CLinux_resize_mapping(void *base, size_t size, size_t new_size)
{
    void *mapping = base ? mremap(base, size, new_size, MREMAP_MAYMOVE)
                         : mmap(NULL, new_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping == MAP_FAILED) {
        is_short = 1;
        return NULL;
    }
    // A large page takes one fault instead of 512; without the kernel's support, nothing changes.
    madvise(mapping, new_size, MADV_HUGEPAGE);
    return mapping;
}

/// Returns whether there is too little memory for the stack of a thread, which the C library maps itself, or for the
/// growth of the first thread's stack.
static int lacks_memory(void)
{
    const size_t size = 10 << 20;
    void *mapping = (void *) syscall(SYS_mmap, NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping == MAP_FAILED)
        return 1;
    munmap(mapping, size);
    return 0;
}

/// Libraries that run out of memory trap, abort or use a null pointer, perhaps on several threads at once.
static void end(int signal)
{
    struct sigaction action = {0};
    if (is_short || lacks_memory())
        _exit(CLinux_status_of_shortage);
    action.sa_handler = SIG_DFL;
    sigaction(signal, &action, NULL);
    raise(signal);
}

static void end_at_exit(void)
{
    if (is_short)
        _exit(CLinux_status_of_shortage);
}

void CLinux_watch_for_shortage(void)
{
    static const int signals[] = {SIGILL, SIGABRT, SIGSEGV, SIGBUS, SIGTRAP};
    // This thread's own stack may be what cannot grow.
    static char memory[64 << 10];
    stack_t stack = {0};
    struct sigaction action = {0};
    size_t index;
    stack.ss_sp = memory;
    stack.ss_size = sizeof memory;
    sigaltstack(&stack, NULL);
    action.sa_handler = end;
    action.sa_flags = (int) (SA_NODEFER | SA_ONSTACK);
    for (index = 0; index < sizeof signals / sizeof *signals; index++)
        sigaction(signals[index], &action, NULL);
    atexit(end_at_exit);
}

void CLinux_forget_shortage(void)
{
    is_short = 0;
}

int CLinux_is_short_of_memory(void)
{
    return is_short;
}
