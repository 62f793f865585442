#include "CLinux.h"

#include <netinet/in.h>
#include <stddef.h>
#include <sys/socket.h>

// The kernel's header instead of netinet/tcp.h: glibc's tcp_info ends before the byte counters.
#include <linux/tcp.h>

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
