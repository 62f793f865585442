#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

// Since Linux 6.3: the memory can never be executed as a file.
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8U
#endif

int CLinux_shared_memory(const char *name)
{
    int descriptor = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);
    return descriptor >= 0 || errno != EINVAL ? descriptor : memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
}

int CLinux_seal_size(int descriptor)
{
    return fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);
}

int CLinux_seal(int descriptor)
{
    return fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
}

int CLinux_release_pages(int descriptor, size_t count)
{
    return fallocate(descriptor, FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE, 0, (off_t) count);
}

union ancillary {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(CLinux_max_descriptors * sizeof(int))];
};

int CLinux_send(int socket, const void *bytes, size_t count, const int *descriptors, int descriptor_count)
{
    union ancillary ancillary;
    struct iovec part = {(void *) bytes, count};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    ssize_t sent;
    if (descriptor_count > CLinux_max_descriptors)
        return -1;
    if (descriptor_count > 0) {
        size_t size = (size_t) descriptor_count * sizeof(int);
        struct cmsghdr *header = &ancillary.header;
        memset(&ancillary, 0, sizeof ancillary);
        message.msg_control = &ancillary;
        message.msg_controllen = CMSG_SPACE(size);
        *header = (struct cmsghdr) {.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(size)};
        memcpy(CMSG_DATA(header), descriptors, size);
    }
    do sent = sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (sent < 0 && errno == EINTR);
    return sent == (ssize_t) count ? 0 : -1;
}

ssize_t CLinux_receive(int socket, void *bytes, size_t capacity, int *descriptors, int *descriptor_count)
{
    union ancillary ancillary;
    struct iovec part = {bytes, capacity};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &ancillary, .msg_controllen = sizeof ancillary};
    struct cmsghdr *header;
    ssize_t count;
    *descriptor_count = 0;
    do count = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    while (count < 0 && errno == EINTR);
    if (count < 0)
        return -1;
    for (header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS)
            continue;
        *descriptor_count = (int) ((header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        memcpy(descriptors, CMSG_DATA(header), (size_t) *descriptor_count * sizeof(int));
    }
    return message.msg_flags & (MSG_TRUNC | MSG_CTRUNC) ? -1 : count;
}
