#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

// Debian 12's kernel header has only the second version of this interface, so the newer parts are defined here.

#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_restrict_self 446
#endif

/// `struct landlock_ruleset_attr` of version 6.
struct rules {
    uint64_t handled_access_fs;
    uint64_t handled_access_net;
    uint64_t scoped;
};

enum { create_ruleset_version = 1 };

// The number of file accesses in each version: the second adds moving between folders, the third truncation, the fifth
// ioctl on devices.
enum { accesses_of_1 = 13,
    accesses_of_2 = 14,
    accesses_of_3 = 15,
    accesses_of_5 = 16 };

// Binding and connecting TCP sockets; abstract sockets and signals of processes outside.
enum { all_tcp = 3,
    all_scopes = 3 };

int CLinux_landlock_version(void)
{
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, create_ruleset_version);
    return version > 0 ? (int) version : 0;
}

static uint64_t files(int version)
{
    int count = version >= 5 ? accesses_of_5 : (version >= 3 ? accesses_of_3 : (version == 2 ? accesses_of_2 : accesses_of_1));
    return ((uint64_t) 1 << count) - 1;
}

int CLinux_landlock_deny_all(void)
{
    int version = CLinux_landlock_version();
    struct rules rules = {.handled_access_fs = files(version)};
    size_t size = offsetof(struct rules, handled_access_net);
    int ruleset, error = 0;
    if (version < 1)
        return ENOSYS;
    if (version >= 4) {
        rules.handled_access_net = all_tcp;
        size = offsetof(struct rules, scoped);
    }
    if (version >= 6) {
        rules.scoped = all_scopes;
        size = sizeof rules;
    }
    ruleset = (int) syscall(SYS_landlock_create_ruleset, &rules, size, 0);
    if (ruleset < 0)
        return errno;
    // No rule allows anything.
    if (syscall(SYS_landlock_restrict_self, ruleset, 0) != 0)
        error = errno;
    close(ruleset);
    return error;
}
