#include "CLinux.h"

#include <malloc.h>

// A thread of jemalloc returns free memory to the kernel a quarter of a second after its last use, even if nothing is allocated then. One
// arena a processor instead of four: what one thread freed is more often what another one needs. Each thread keeps up to 20 free blocks of
// each size, so only of small sizes.
const char *malloc_conf = "background_thread:true,dirty_decay_ms:250,narenas_ratio:1,tcache_max:8192";

// jemalloc's; missing where a sanitizer brings an allocator of its own.
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
    // Without a new epoch the figures are those of the last one.
    mallctl("epoch", NULL, NULL, &epoch, sizeof epoch);
    return mallctl("stats.allocated", &count, &size, NULL, 0) ? -1 : (int64_t) count;
}
