#ifndef CLINUX_H
#define CLINUX_H

// Linux calls that Swift's Glibc module does not show: they hide behind _GNU_SOURCE or are macros.

#include <stdint.h>

/// Names the calling thread for `top -H` and `perf`; the kernel keeps 15 bytes.
void CLinux_set_thread_name(const char *name);

/// Number of processors this process may run on (affinity mask), at least 1.
int CLinux_available_processors(void);

/// A close-on-exec epoll descriptor, or -1 with errno.
int CLinux_epoll_create(void);

/// Watches `descriptor` once for the peer's half close, close or error; `token` comes back from the wait. 0, or -1 with errno.
int CLinux_epoll_watch_hangup(int epoll, int descriptor, uint64_t token);

/// Watches `descriptor` for readability, level triggered. 0, or -1 with errno.
int CLinux_epoll_watch_readable(int epoll, int descriptor, uint64_t token);

/// Stops watching. 0, or -1 with errno.
int CLinux_epoll_forget(int epoll, int descriptor);

/// Waits up to `milliseconds` (-1: for ever) and writes the tokens of ready descriptors. Their number, or -1 with errno.
int CLinux_epoll_wait(int epoll, uint64_t *tokens, int capacity, int milliseconds);

/// Bytes received on a TCP connection since it began, read or not; -1 with errno.
int64_t CLinux_tcp_received_bytes(int descriptor);

/// Ends a TCP connection whose peer has acknowledged nothing, or kept its window shut, for so long. 0, or -1 with errno.
int CLinux_tcp_limit_stall(int descriptor, unsigned milliseconds);

#endif
