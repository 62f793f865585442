#define _GNU_SOURCE
#include "CLinux.h"

#include <malloc.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

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

/// jemalloc's functions for memory from the kernel, one of which is watched.
struct extents {
    void *(*take)(struct extents *, void *, size_t, size_t, bool *, bool *, unsigned);
    void (*others[8])(void);
};

static struct extents *usual, watched;
static volatile sig_atomic_t is_short;

static void *take(struct extents *extents, void *place, size_t size, size_t alignment, bool *zero, bool *commit, unsigned arena)
{
    void *memory = usual->take(usual, place, size, alignment, zero, commit, arena);
    (void) extents;
    if (!memory && !place)
        is_short = 1;
    return memory;
}

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

/// Libraries that run out of memory trap, abort or use a null pointer.
static void end(int signal)
{
    if (is_short)
        _exit(CLinux_status_of_shortage);
    raise(signal);
}

void CLinux_watch_for_shortage(void)
{
    static const int signals[] = {SIGILL, SIGABRT, SIGSEGV, SIGBUS, SIGTRAP};
    struct sigaction action = {0};
    unsigned arenas = 0, arena;
    size_t index, size = sizeof arenas;
    char name[48];
    // The arena of large blocks can be watched once it has had one.
    free(malloc(16 << 20));
    if (!mallctl || mallctl("arenas.narenas", &arenas, &size, NULL, 0))
        return;
    for (arena = 0; arena < arenas; arena++) {
        struct extents *next = &watched;
        snprintf(name, sizeof name, "arena.%u.extent_hooks", arena);
        size = sizeof usual;
        if (!arena && mallctl(name, &usual, &size, NULL, 0))
            return;
        watched = *usual;
        watched.take = take;
        mallctl(name, NULL, NULL, &next, sizeof next);
    }
    action.sa_handler = end;
    action.sa_flags = (int) (SA_RESETHAND | SA_NODEFER);
    for (index = 0; index < sizeof signals / sizeof *signals; index++)
        sigaction(signals[index], &action, NULL);
}

void CLinux_forget_shortage(void)
{
    is_short = 0;
}

int CLinux_is_short_of_memory(void)
{
    return is_short;
}
