#define _GNU_SOURCE
#include "CLinux.h"

#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

// glibc's tcp_info in netinet/tcp.h ends before the byte counters, so the kernel's header is used.
#include <linux/tcp.h>

void CLinux_set_thread_name(const char *name)
{
    char kept[16];
    strncpy(kept, name, sizeof kept - 1);
    kept[sizeof kept - 1] = 0;
    pthread_setname_np(pthread_self(), kept);
}

int CLinux_available_processors(void)
{
    cpu_set_t mask;
    CPU_ZERO(&mask);
    if (sched_getaffinity(0, sizeof mask, &mask) != 0) return 1;
    int count = CPU_COUNT(&mask);
    return count > 0 ? count : 1;
}

int CLinux_epoll_create(void)
{
    return epoll_create1(EPOLL_CLOEXEC);
}

static int watch(int epoll, int descriptor, uint64_t token, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.u64 = token};
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event) == 0) return 0;
    return epoll_ctl(epoll, EPOLL_CTL_MOD, descriptor, &event);
}

int CLinux_epoll_watch_hangup(int epoll, int descriptor, uint64_t token)
{
    return watch(epoll, descriptor, token, EPOLLRDHUP | EPOLLHUP | EPOLLERR | EPOLLONESHOT);
}

int CLinux_epoll_watch_readable(int epoll, int descriptor, uint64_t token)
{
    return watch(epoll, descriptor, token, EPOLLIN);
}

int CLinux_epoll_forget(int epoll, int descriptor)
{
    return epoll_ctl(epoll, EPOLL_CTL_DEL, descriptor, 0);
}

int CLinux_epoll_wait(int epoll, uint64_t *tokens, int capacity, int milliseconds)
{
    struct epoll_event events[64];
    int count = epoll_wait(epoll, events, capacity < 64 ? capacity : 64, milliseconds);
    for (int i = 0; i < count; i++) tokens[i] = events[i].data.u64;
    return count;
}

int64_t CLinux_tcp_received_bytes(int descriptor)
{
    struct tcp_info info;
    socklen_t length = sizeof info;
    if (getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return -1;
    if (length < offsetof(struct tcp_info, tcpi_bytes_received) + sizeof info.tcpi_bytes_received) return -1;
    return (int64_t) info.tcpi_bytes_received;
}

int CLinux_tcp_limit_stall(int descriptor, unsigned milliseconds)
{
    return setsockopt(descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT, &milliseconds, sizeof milliseconds);
}
