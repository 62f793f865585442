#include "CLinux.h"

#include <dlfcn.h>

void *CLinux_load_library(const char *name, const CLinuxFunction *functions, size_t count)
{
    void *library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    size_t index;
    for (index = 0; library && index < count; index++) {
        *functions[index].address = dlsym(library, functions[index].name);
        if (!*functions[index].address)
            return NULL;
    }
    return library;
}
