#ifndef CLINUX_H
#define CLINUX_H

// Linux calls that Swift's Glibc module does not show: they hide behind _GNU_SOURCE or are macros.

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

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

/// The descriptor under which a worker process finds its socket.
enum { CLinux_worker_socket = 3 };

/// Starts the executable at `path` with `socket` as ``CLinux_worker_socket``, the null device as standard streams and no other
/// descriptor, in a process group of its own. 0, or the number of the error.
int CLinux_spawn_worker(
    const char *path, char *const *arguments, char *const *environment, int socket, pid_t *process);

/// Has this process killed when the thread that started it ends. 0, or -1 with errno.
int CLinux_die_with_parent(void);

/// Makes sure that no program that this thread starts has more rights than it. 0, or -1 with errno.
int CLinux_set_no_new_privileges(void);

/// Bytes of address space that a process has, or -1 with errno.
int64_t CLinux_address_space(pid_t process);

/// Lets a process have so many bytes of address space from now on, and no more than its hard limit. 0, or -1 with errno.
int CLinux_limit_address_space(pid_t process, int64_t bytes);

/// User and system time of a process so far, or -1 with errno.
int64_t CLinux_processor_nanoseconds(pid_t process);

/// How many threads a process has; -1 where there is none such.
int CLinux_thread_count(pid_t process);

/// Has a process that sleeps woken on the calling thread's processor, which it may not leave until it calls ``CLinux_free_processor``.
///
/// For whoever is about to wake it and sleep: the kernel would often have it wait behind others for a processor that it ran on
/// before, while this one idles. Does nothing where it is not allowed.
void CLinux_bind_to_this_processor(pid_t process);

/// Notes on which processors this process may run; before it is bound for the first time.
void CLinux_note_processors(void);

/// Lets the calling thread run on all noted processors again.
void CLinux_free_processor(void);

/// What a confined process must not be able to do.
typedef enum {
    CLinuxOpenFile,
    CLinuxOpenSocket,
    CLinuxExecute,
    CLinuxTrace,
    CLinuxSignal,
    CLinuxFork,
    CLinuxExecutableMemory,
    CLinuxRemovePages,
    CLinuxStartThreads,
    CLinuxSendDescriptor,
} CLinuxDeed;

/// Tries it: 0 where it worked, else the number of the error.
int CLinux_try(CLinuxDeed deed);

/// The version of Landlock that the kernel offers, 0 for none.
int CLinux_landlock_version(void);

/// Denies this thread, and those that it will make, all files, TCP, and signals to processes outside, as far as the kernel can.
///
/// 0, or the number of the error.
int CLinux_landlock_deny_all(void);

/// Most descriptors that travel with one message.
enum { CLinux_most_descriptors = 3 };

/// Memory behind a close-on-exec descriptor, empty and not yet sealed; or -1 with errno.
int CLinux_shared_memory(const char *name);

/// Makes sure that nobody changes such memory any more; fails while anybody can write to it. 0, or -1 with errno.
int CLinux_seal(int descriptor);

/// Makes sure that such memory never becomes shorter, nor longer. 0, or -1 with errno.
int CLinux_seal_size(int descriptor);

/// Sends one message with descriptors, without waiting. 0, or -1 with errno.
int CLinux_send(int socket, const void *bytes, size_t count, const int *descriptors, int descriptor_count);

/// Waits for one message and its descriptors, which are close-on-exec and the caller's to close, whatever comes back.
///
/// Bytes of the message, 0 when the other end is closed, or -1 also for a message that is too long.
ssize_t CLinux_receive(int socket, void *bytes, size_t capacity, int *descriptors, int *descriptor_count);

#endif
