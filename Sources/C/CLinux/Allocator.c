#include "CLinux.h"

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
