#define _GNU_SOURCE
#include "CSeccompShim.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

// Of Linux 6.13: how newer C libraries fence stacks.
enum { guard_install = 102, guard_remove = 103 };

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

// What is harmless whatever its arguments are.
static const char *const allowed[] = {
    // Memory; what makes it executable is refused below.
    "brk", "munmap", "mremap",
    // Threads and their waiting; they are made below.
    "futex", "futex_time64", "set_robust_list", "rseq", "sched_yield", "sched_getaffinity", "gettid", "getpid", "exit", "exit_group",
    // Time.
    "clock_gettime", "clock_gettime64", "clock_getres", "clock_nanosleep", "nanosleep", "gettimeofday", "restart_syscall",
    // Signals that a process has to do with itself.
    "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigaltstack",
    // The memory that was handed over, and random numbers.
    "ftruncate", "pwrite64", "close", "getrandom",
};

// What libraries try and can do without: no reason to end, but they get nothing.
static const char *const refused[] = {
    "open", "openat", "openat2", "access", "faccessat", "faccessat2", "stat", "lstat", "fstat", "newfstatat", "statx", "readlink",
    "readlinkat", "getcwd", "uname", "sysinfo", "getrlimit", "prlimit64", "ioctl", "sched_getattr", "sched_setattr",
};

// What allocators and threads say of their own memory. Taking pages out of memory that the server has mapped (MADV_REMOVE) is none of it;
// a list, because a filter sees 64 bits of what the kernel takes 32 of, and so cannot rule a single number out.
static const int advice[] = {
    MADV_NORMAL, MADV_RANDOM, MADV_SEQUENTIAL, MADV_WILLNEED, MADV_DONTNEED, MADV_FREE, MADV_HUGEPAGE, MADV_NOHUGEPAGE, MADV_DONTDUMP,
    MADV_DODUMP, guard_install, guard_remove,
};

static int add(scmp_filter_ctx filter, uint32_t action, const char *name, unsigned count, const struct scmp_arg_cmp *conditions)
{
    int number = seccomp_syscall_resolve_name(name);
    // Not every processor has every call.
    if (number == __NR_SCMP_ERROR || number < 0)
        return 0;
    return seccomp_rule_add_array(filter, action, number, count, conditions);
}

static int add_all(scmp_filter_ctx filter, uint32_t action, const char *const *names, size_t count)
{
    size_t index;
    int error = 0;
    for (index = 0; index < count && !error; index++)
        error = add(filter, action, names[index], 0, NULL);
    return error;
}

static int add_advice(scmp_filter_ctx filter)
{
    size_t index;
    int error = 0;
    for (index = 0; index < COUNT(advice) && !error; index++) {
        const struct scmp_arg_cmp is_this[] = {{2, SCMP_CMP_EQ, (scmp_datum_t) advice[index], 0}};
        error = add(filter, SCMP_ACT_ALLOW, "madvise", 1, is_this);
    }
    return error;
}

static int add_conditional(scmp_filter_ctx filter, int socket)
{
    const struct scmp_arg_cmp on_socket[] = {{0, SCMP_CMP_EQ, (scmp_datum_t) socket, 0}};
    const struct scmp_arg_cmp own_process[] = {{0, SCMP_CMP_EQ, (scmp_datum_t) getpid(), 0}};
    const struct scmp_arg_cmp not_executable[] = {{2, SCMP_CMP_MASKED_EQ, PROT_EXEC, 0}};
    const struct scmp_arg_cmp a_thread[] = {{0, SCMP_CMP_MASKED_EQ, CLONE_THREAD | CLONE_VM, CLONE_THREAD | CLONE_VM}};
    // To be woken on one processor and to go on anywhere.
    const struct scmp_arg_cmp own_thread[] = {{0, SCMP_CMP_EQ, 0, 0}};
    const struct scmp_arg_cmp set_name[] = {{0, SCMP_CMP_EQ, PR_SET_NAME, 0}};
    int error = 0;
    error = error ? error : add(filter, SCMP_ACT_ALLOW, "write", 1, on_socket);
    error = error ? error : add(filter, SCMP_ACT_ALLOW, "recvmsg", 1, on_socket);
    // How a library ends a process that it finds broken.
    error = error ? error : add(filter, SCMP_ACT_ALLOW, "tgkill", 1, own_process);
    error = error ? error : add(filter, SCMP_ACT_ALLOW, "mmap", 1, not_executable);
    error = error ? error : add(filter, SCMP_ACT_ALLOW, "mprotect", 1, not_executable);
    error = error ? error : add_advice(filter);
    error = error ? error : add(filter, SCMP_ACT_ALLOW, "clone", 1, a_thread);
    // A filter cannot see its arguments; the C library goes on with clone.
    error = error ? error : add(filter, SCMP_ACT_ERRNO(ENOSYS), "clone3", 0, NULL);
    error = error ? error : add(filter, SCMP_ACT_ALLOW, "sched_setaffinity", 1, own_thread);
    error = error ? error : add(filter, SCMP_ACT_ALLOW, "prctl", 1, set_name);
    return error;
}

int CSeccompShim_is_available(void)
{
    uint32_t action = SECCOMP_RET_KILL_PROCESS;
    return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

int CSeccompShim_confine(int socket)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_KILL_PROCESS);
    int error;
    if (!filter)
        return ENOMEM;
    error = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
    error = error ? error : add_all(filter, SCMP_ACT_ALLOW, allowed, COUNT(allowed));
    error = error ? error : add_all(filter, SCMP_ACT_ERRNO(EACCES), refused, COUNT(refused));
    error = error ? error : add_conditional(filter, socket);
    error = error ? error : seccomp_load(filter);
    seccomp_release(filter);
    return -error;
}
