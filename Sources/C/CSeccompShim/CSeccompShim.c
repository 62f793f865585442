#define _GNU_SOURCE
#include "CSeccompShim.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

// madvise's advice of Linux 6.13, with which newer C libraries guard stacks.
enum { guard_install = 102,
    guard_remove = 103 };

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

// System calls that are harmless with any arguments.
static const char *const allowed[] = {
    // Memory. Rules below reject executable memory.
    "brk",
    "munmap",
    "mremap",
    // Waiting of threads. Rules below decide about new threads.
    "futex",
    "futex_time64",
    "set_robust_list",
    "rseq",
    "sched_yield",
    "gettid",
    "getpid",
    "exit",
    "exit_group",
    // Time.
    "clock_gettime",
    "clock_gettime64",
    "clock_getres",
    "clock_nanosleep",
    "nanosleep",
    "gettimeofday",
    "restart_syscall",
    // The process's own signals.
    "rt_sigaction",
    "rt_sigprocmask",
    "rt_sigreturn",
    "sigaltstack",
    // Shared memory, whose size is final, and random numbers.
    "pwrite64",
    "close",
    "getrandom",
};

// System calls that libraries make but do not require: they fail without ending the process. AV1's decoder starts no
// threads if it cannot learn the number of processors. GLib checks whether standard error is a journal before it
// writes.
static const char *const refused[] = {
    "sched_getaffinity",
    "getpeername",
    "getsockname",
    "fcntl",
    "lseek",
    "writev",
    "open",
    "openat",
    "openat2",
    "access",
    "faccessat",
    "faccessat2",
    "stat",
    "lstat",
    "fstat",
    "newfstatat",
    "statx",
    "readlink",
    "readlinkat",
    "getcwd",
    "uname",
    "sysinfo",
    "getrlimit",
    "prlimit64",
    "ioctl",
    "sched_getattr",
    "sched_setattr",
};

// Allocators' and threads' advice about their own memory. MADV_REMOVE is missing: it would remove pages from memory
// that the server has mapped. The kernel uses 32 bits of the argument and a filter sees 64, so a filter cannot reject a
// single number; it must list the others.
static const int advice[] = {
    MADV_NORMAL,
    MADV_RANDOM,
    MADV_SEQUENTIAL,
    MADV_WILLNEED,
    MADV_DONTNEED,
    MADV_FREE,
    MADV_HUGEPAGE,
    MADV_NOHUGEPAGE,
    MADV_DONTDUMP,
    MADV_DODUMP,
    guard_install,
    guard_remove,
};

static int add(scmp_filter_ctx filter, uint32_t action, const char *name, unsigned count, const struct scmp_arg_cmp *conditions)
{
    int number = seccomp_syscall_resolve_name(name);
    // Some processors lack some calls.
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
    const struct scmp_arg_cmp on_standard_output[] = {{0, SCMP_CMP_EQ, STDOUT_FILENO, 0}};
    const struct scmp_arg_cmp on_standard_error[] = {{0, SCMP_CMP_EQ, STDERR_FILENO, 0}};
    const struct scmp_arg_cmp own_process[] = {{0, SCMP_CMP_EQ, (scmp_datum_t) getpid(), 0}};
    const struct scmp_arg_cmp not_executable[] = {{2, SCMP_CMP_MASKED_EQ, PROT_EXEC, 0}};
    // A worker woken on one processor may continue on any.
    const struct scmp_arg_cmp own_thread[] = {{0, SCMP_CMP_EQ, 0, 0}};
    const struct scmp_arg_cmp set_name[] = {{0, SCMP_CMP_EQ, PR_SET_NAME, 0}};
    int error = 0;
    error = error ? error : add(filter, SCMP_ACT_ALLOW, "write", 1, on_socket);
    // A library's warning about an image is not an error, but is not written either.
    error = error ? error : add(filter, SCMP_ACT_ERRNO(EACCES), "write", 1, on_standard_output);
    error = error ? error : add(filter, SCMP_ACT_ERRNO(EACCES), "write", 1, on_standard_error);
    error = error ? error : add(filter, SCMP_ACT_ALLOW, "recvmsg", 1, on_socket);
    // Libraries end a process with a broken state by this call.
    error = error ? error : add(filter, SCMP_ACT_ALLOW, "tgkill", 1, own_process);
    error = error ? error : add(filter, SCMP_ACT_ALLOW, "mmap", 1, not_executable);
    error = error ? error : add(filter, SCMP_ACT_ALLOW, "mprotect", 1, not_executable);
    error = error ? error : add_advice(filter);
    // A filter cannot see the arguments of clone3; after this error the C library calls clone.
    error = error ? error : add(filter, SCMP_ACT_ERRNO(ENOSYS), "clone3", 0, NULL);
    error = error ? error : add(filter, SCMP_ACT_ALLOW, "sched_setaffinity", 1, own_thread);
    error = error ? error : add(filter, SCMP_ACT_ALLOW, "prctl", 1, set_name);
    return error;
}

static int add_all_rules(scmp_filter_ctx filter, int socket)
{
    int error = add_all(filter, SCMP_ACT_ALLOW, allowed, COUNT(allowed));
    error = error ? error : add_all(filter, SCMP_ACT_ERRNO(EACCES), refused, COUNT(refused));
    return error ? error : add_conditional(filter, socket);
}

/// A filter in the kernel's format.
typedef struct {
    struct sock_filter *steps;
    size_t size;
} Program;

/// Translates a filter and releases it. Returns 0, or the error number.
static int translate(scmp_filter_ctx filter, Program *program)
{
    int file = memfd_create("alula filter", MFD_CLOEXEC), error = EIO;
    off_t size;
    if (file >= 0 && seccomp_export_bpf(filter, file) == 0 && (size = lseek(file, 0, SEEK_END)) > 0) {
        program->size = (size_t) size;
        program->steps = malloc(program->size);
        if (program->steps && pread(file, program->steps, program->size, 0) == size)
            error = 0;
    }
    if (file >= 0)
        close(file);
    seccomp_release(filter);
    return error;
}

/// Creates the filter of a supervised process: the supervisor decides about all calls without a rule. The process can
/// still send the supervisor's descriptor.
static int make_supervised(int socket, Program *program)
{
    const struct scmp_arg_cmp on_socket[] = {{0, SCMP_CMP_EQ, (scmp_datum_t) socket, 0}};
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_NOTIFY);
    int error = filter ? add_all_rules(filter, socket) : -ENOMEM;
    error = error ? error : add(filter, SCMP_ACT_ALLOW, "sendmsg", 1, on_socket);
    error = error ? error : add(filter, SCMP_ACT_ALLOW, "seccomp", 0, NULL);
    if (!error)
        return translate(filter, program);
    seccomp_release(filter);
    return -error;
}

/// Creates the filter that then forbids sending descriptors.
static int make_last(Program *program)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    int error = filter ? add(filter, SCMP_ACT_KILL_PROCESS, "sendmsg", 0, NULL) : -ENOMEM;
    error = error ? error : add(filter, SCMP_ACT_KILL_PROCESS, "seccomp", 0, NULL);
    if (!error)
        return translate(filter, program);
    seccomp_release(filter);
    return -error;
}

/// Creates the filter of a process without a supervisor: it may start threads, and all calls without a rule end it.
static int make_unsupervised(int socket, Program *program)
{
    const struct scmp_arg_cmp a_thread[] = {{0, SCMP_CMP_MASKED_EQ, CLONE_THREAD | CLONE_VM, CLONE_THREAD | CLONE_VM}};
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_KILL_PROCESS);
    int error = filter ? add_all_rules(filter, socket) : -ENOMEM;
    error = error ? error : add(filter, SCMP_ACT_ALLOW, "clone", 1, a_thread);
    if (!error)
        return translate(filter, program);
    seccomp_release(filter);
    return -error;
}

/// Activates a filter for all threads. Returns 0 or a descriptor, or -1 with errno.
static int load(const Program *program, unsigned long flags)
{
    struct sock_fprog raw = {(unsigned short) (program->size / sizeof *program->steps), program->steps};
    return (int) syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags | SECCOMP_FILTER_FLAG_TSYNC, &raw);
}

int CSeccompShim_is_available(void)
{
    uint32_t action = SECCOMP_RET_KILL_PROCESS;
    return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
}

int CSeccompShim_confine_supervised(int socket, int (*hand_over)(int socket, int listener))
{
    Program supervised = {NULL, 0}, last = {NULL, 0};
    int error = make_supervised(socket, &supervised), listener;
    error = error ? error : make_last(&last);
    if (!error) {
        // The kernel allows one supervisor, and a container may already have one.
        listener = load(&supervised, SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_TSYNC_ESRCH);
        if (listener < 0) {
            error = errno;
        } else if (hand_over(socket, listener) != 0 || close(listener) != 0 || load(&last, 0) != 0) {
            // The process is half confined and has no supervisor.
            _exit(70);
        }
    }
    free(supervised.steps);
    free(last.steps);
    return error;
}

int CSeccompShim_confine_alone(int socket)
{
    Program alone = {NULL, 0};
    int error = make_unsupervised(socket, &alone);
    if (!error && load(&alone, 0) != 0)
        error = errno;
    free(alone.steps);
    return error;
}
