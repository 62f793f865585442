#define _GNU_SOURCE
#include "CLinux.h"

#include <link.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

/// Returns whether the dynamic linker changed code while it loaded the file. Such pages cannot be read again.
static bool has_changed_code(const struct dl_phdr_info *file)
{
    const ElfW(Dyn) *entry = NULL;
    int index;
    for (index = 0; index < file->dlpi_phnum; index++)
        if (file->dlpi_phdr[index].p_type == PT_DYNAMIC)
            entry = (const ElfW(Dyn) *) (file->dlpi_addr + file->dlpi_phdr[index].p_vaddr);
    for (; entry && entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_TEXTREL || (entry->d_tag == DT_FLAGS && entry->d_un.d_val & DF_TEXTREL))
            return true;
    return false;
}

static int release(struct dl_phdr_info *file, size_t size, void *nothing)
{
    const uintptr_t page = (uintptr_t) sysconf(_SC_PAGESIZE);
    int index;
    (void) size, (void) nothing;
    if (has_changed_code(file))
        return 0;
    for (index = 0; index < file->dlpi_phnum; index++) {
        const ElfW(Phdr) *part = &file->dlpi_phdr[index];
        uintptr_t start = (file->dlpi_addr + part->p_vaddr) & ~(page - 1);
        uintptr_t end = (file->dlpi_addr + part->p_vaddr + part->p_filesz + page - 1) & ~(page - 1);
        // Writable parts contain changes, even if they are read-only after relocation.
        if (part->p_type == PT_LOAD && !(part->p_flags & PF_W))
            madvise((void *) start, end - start, MADV_DONTNEED);
    }
    return 0;
}

void CLinux_release_program_pages(void)
{
    dl_iterate_phdr(release, NULL);
}
