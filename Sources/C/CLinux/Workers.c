#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int prepare(posix_spawnattr_t *attributes)
{
    sigset_t blocked, defaults;
    sigemptyset(&blocked);
    // A signal that ends the service must not end its workers first: they finish their work, and end with the service.
    sigaddset(&blocked, SIGTERM);
    sigaddset(&blocked, SIGINT);
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    posix_spawnattr_setsigmask(attributes, &blocked);
    posix_spawnattr_setsigdefault(attributes, &defaults);
    posix_spawnattr_setpgroup(attributes, 0);
    return posix_spawnattr_setflags(
        attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
}

int CLinux_spawn_worker(
    const char *path, char *const *arguments, char *const *environment, int socket, pid_t *process)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int error;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    error = prepare(&attributes);
    error = error ? error : posix_spawn_file_actions_adddup2(&actions, socket, CLinux_worker_socket);
    error = error ? error : posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDWR, 0);
    error = error ? error : posix_spawn_file_actions_adddup2(&actions, STDIN_FILENO, STDOUT_FILENO);
    error = error ? error : posix_spawn_file_actions_adddup2(&actions, STDIN_FILENO, STDERR_FILENO);
    error = error ? error : posix_spawn_file_actions_addclosefrom_np(&actions, CLinux_worker_socket + 1);
    error = error ? error : posix_spawn(process, path, &actions, &attributes, arguments, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

pid_t CLinux_copy_process(int socket)
{
    const long flags = CLONE_PARENT | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD;
    const pid_t parent = getppid();
    int *number;
    long process;
    // The C library stores its thread ID where the kernel clears it at the end. As after fork, the copy must find its
    // own ID there.
    if (prctl(PR_GET_TID_ADDRESS, &number, 0, 0, 0) != 0)
        return -1;
    // Which of the last two arguments is that address depends on the processor; the kernel ignores the other.
    process = syscall(SYS_clone, flags, NULL, NULL, number, number);
    if (process != 0)
        return (pid_t) process;
    // If the parent ended before this call, no signal comes.
    if (CLinux_die_with_parent() != 0 || getppid() != parent || setpgid(0, 0) != 0 || dup2(socket, CLinux_worker_socket) < 0)
        _exit(71);
    close(socket);
    return 0;
}

pid_t CLinux_fork_worker(int socket)
{
    const pid_t parent = getpid();
    const pid_t process = fork();
    sigset_t blocked;
    int empty;
    if (process != 0)
        return process;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGTERM);
    sigaddset(&blocked, SIGINT);
    sigprocmask(SIG_SETMASK, &blocked, NULL);
    for (char **variable = environ; variable && *variable; variable++)
        explicit_bzero(*variable, strlen(*variable));
    clearenv();
    empty = open("/dev/null", O_RDWR | O_CLOEXEC);
    // `socket` is the highest descriptor in use: the process has opened nothing before it.
    if (empty < 0 || CLinux_die_with_parent() != 0 || getppid() != parent || setpgid(0, 0) != 0
        || dup2(empty, STDIN_FILENO) < 0 || dup2(empty, STDOUT_FILENO) < 0 || dup2(empty, STDERR_FILENO) < 0
        || dup2(socket, CLinux_worker_socket) < 0 || close_range(CLinux_worker_socket + 1, ~0U, 0) != 0)
        _exit(71);
    return 0;
}

int CLinux_die_with_parent(void)
{
    return prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
}

int CLinux_set_no_new_privileges(void)
{
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

int64_t CLinux_address_space(pid_t process)
{
    char path[64], line[256];
    ssize_t count;
    int file;
    snprintf(path, sizeof path, "/proc/%d/statm", (int) process);
    file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return -1;
    count = read(file, line, sizeof line - 1);
    close(file);
    if (count <= 0)
        return -1;
    line[count] = 0;
    return (int64_t) strtoll(line, NULL, 10) * sysconf(_SC_PAGESIZE);
}

int CLinux_thread_count(pid_t process)
{
    char path[64];
    struct stat status;
    snprintf(path, sizeof path, "/proc/%d/task", (int) process);
    // A folder has a link for each subfolder, plus two.
    return stat(path, &status) == 0 ? (int) status.st_nlink - 2 : -1;
}

int CLinux_limit_address_space(pid_t process, int64_t bytes)
{
    struct rlimit limit;
    if (prlimit(process, RLIMIT_AS, NULL, &limit) != 0)
        return -1;
    limit.rlim_cur = (rlim_t) bytes < limit.rlim_max ? (rlim_t) bytes : limit.rlim_max;
    return prlimit(process, RLIMIT_AS, &limit, NULL);
}

int64_t CLinux_processor_nanoseconds(pid_t process)
{
    clockid_t clock;
    struct timespec time;
    if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &time) != 0)
        return -1;
    return (int64_t) time.tv_sec * 1000000000 + time.tv_nsec;
}

static cpu_set_t noted;

void CLinux_note_processors(void)
{
    if (sched_getaffinity(0, sizeof noted, &noted) != 0)
        CPU_ZERO(&noted);
}

void CLinux_free_processor(void)
{
    if (CPU_COUNT(&noted) > 1)
        sched_setaffinity(0, sizeof noted, &noted);
}

void CLinux_bind_to_this_processor(pid_t process)
{
    int processor = sched_getcpu();
    cpu_set_t only;
    // If the set is too small for all processors of the machine, the process cannot record them and so could not free
    // itself.
    if (processor < 0 || processor >= CPU_SETSIZE || sched_getaffinity(0, sizeof only, &only) != 0 || CPU_COUNT(&only) < 2)
        return;
    CPU_ZERO(&only);
    CPU_SET(processor, &only);
    sched_setaffinity(process, sizeof only, &only);
}

static void *sleep_forever(void *nothing)
{
    for (;;)
        sleep(1000);
    return nothing;
}

/// Starts more threads than the supervisor allows. Returns 0, or the error number.
static int start_threads(void)
{
    pthread_attr_t attributes;
    pthread_t thread;
    int count, error = 0;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 64 << 10);
    for (count = 0; count < 1000 && !error; count++)
        error = pthread_create(&thread, &attributes, sleep_forever, NULL);
    pthread_attr_destroy(&attributes);
    return error;
}

static int outcome(long result)
{
    return result < 0 ? errno : 0;
}

int CLinux_try_forbidden(CLinuxForbiddenAction action)
{
    char *const arguments[] = {"true", NULL};
    void *shared;
    switch (action) {
    case CLinuxOpenFile: return outcome(open("/etc/passwd", O_RDONLY | O_CLOEXEC));
    case CLinuxOpenSocket: return outcome(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    case CLinuxExecute: return outcome(execv("/bin/true", arguments));
    case CLinuxTrace: return outcome(ptrace(PTRACE_TRACEME, 0, NULL, NULL));
    case CLinuxSignal: return outcome(kill(1, 0));
    case CLinuxFork: return outcome(fork());
    case CLinuxExecutableMemory:
        return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? errno : 0;
    case CLinuxRemovePages:
        shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        // The kernel takes only the lower 32 bits of the advice; a filter sees 64.
        return shared == MAP_FAILED ? errno : outcome(syscall(SYS_madvise, shared, 4096L, (1L << 32) + MADV_REMOVE));
    case CLinuxStartThreads: return start_threads();
    case CLinuxSendDescriptor:
        return CLinux_send(CLinux_worker_socket, "", 1, (int[]) {STDERR_FILENO}, 1) != 0 ? errno : 0;
    }
    return EINVAL;
}
