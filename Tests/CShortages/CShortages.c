#include "CShortages.h"
#include "CLinux.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/// Leaves this much address space.
static void leave(int64_t bytes)
{
    struct rlimit limit;
    getrlimit(RLIMIT_AS, &limit);
    limit.rlim_cur = (rlim_t) (CLinux_address_space(getpid()) + bytes);
    setrlimit(RLIMIT_AS, &limit);
}

static void *crash(void *barrier)
{
    volatile char *volatile nothing = NULL;
    if (barrier)
        pthread_barrier_wait(barrier);
    *nothing = 1;
    return NULL;
}

static void crash_on_two_threads(void)
{
    pthread_barrier_t barrier;
    pthread_t thread;
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&thread, NULL, crash, &barrier);
    crash(&barrier);
}

/// The allocator maps the descriptions of blocks in megabytes.
static void take_blocks(void)
{
    int count;
    for (count = 0; count < 100000; count++) {
        volatile char *block;
        if (count % 16 == 0)
            leave(1 << 20);
        block = malloc(16 << 10);
        if (!block)
            crash(NULL);
    }
}

static void *wait_forever(void *nothing)
{
    pause();
    return nothing;
}

static int deepen(int depth)
{
    volatile char room[4096];
    room[0] = (char) depth;
    return depth ? deepen(depth - 1) + room[0] : 0;
}

static int run(CShortages_End end)
{
    pthread_t thread;
    if (end == CShortages_refused_crash || end == CShortages_refused_exit)
        CLinux_resize_mapping(NULL, 0, (size_t) 1 << 46);
    switch (end) {
    case CShortages_crash: crash(NULL); break;
    case CShortages_refused_crash: crash_on_two_threads(); break;
    case CShortages_blocks: take_blocks(); break;
    case CShortages_thread:
        leave(1 << 20);
        if (pthread_create(&thread, NULL, wait_forever, NULL))
            abort();
        break;
    case CShortages_stack:
        leave(1 << 20);
        return deepen(1 << 30);
    default: break;
    }
    exit(1);
}

/// Runs in a program that `CShortages_status` has started.
__attribute__((constructor)) static void start(void)
{
    const char *end = getenv("CSHORTAGES_END");
    if (!end)
        return;
    CLinux_watch_for_shortage();
    _exit(run((CShortages_End) atoi(end)));
}

int CShortages_status(CShortages_End end)
{
    char number[32], path[4096];
    char *arguments[] = {"shortage", NULL};
    // Use the allocator of workers.
    char *environment[] = {"MALLOC_CONF=narenas:1,retain:false,background_thread:false", number, path, NULL};
    const char *libraries = getenv("LD_LIBRARY_PATH");
    int status = 0;
    pid_t process;
    snprintf(number, sizeof number, "CSHORTAGES_END=%d", end);
    snprintf(path, sizeof path, "LD_LIBRARY_PATH=%s", libraries ? libraries : "");
    if (CLinux_spawn_worker("/proc/self/exe", arguments, environment, STDERR_FILENO, &process) != 0
        || waitpid(process, &status, 0) != process)
        return -1;
    return status;
}
