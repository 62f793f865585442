#ifndef CLINUX_H
#define CLINUX_H

// Linux calls that Swift's Glibc module lacks, because they need _GNU_SOURCE or are macros.

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

/// Waits up to `milliseconds` (-1: forever) and writes the tokens of ready descriptors. Returns their number, or -1
/// with errno.
int CLinux_epoll_wait(int epoll, uint64_t *tokens, int capacity, int milliseconds);

/// Bytes received on a TCP connection so far, read or not; -1 with errno.
int64_t CLinux_tcp_received_bytes(int descriptor);

/// Ends a TCP connection if its peer acknowledges nothing, or keeps its window closed, for this time. 0, or -1 with
/// errno.
int CLinux_tcp_limit_stall(int descriptor, unsigned milliseconds);

/// The descriptor of a worker process's socket.
enum { CLinux_worker_socket = 3 };

/// Starts the executable at `path` with `socket` as ``CLinux_worker_socket``, the null device as standard streams and
/// no other descriptor, in a new process group. 0, or the error number.
int CLinux_spawn_worker(
    const char *path, char *const *arguments, char *const *environment, int socket, pid_t *process);

/// The name of a function in a library, and where its address goes.
typedef struct {
    const char *name;
    void **address;
} CLinuxFunction;

/// Loads a library and looks up functions in it and its dependencies. Returns its handle, or NULL with the reason in
/// dlerror(); then some addresses may be set.
void *CLinux_load_library(const char *name, const CLinuxFunction *functions, size_t count);

/// Returns memory that the allocator has cached to the kernel, except the caches of other threads.
void CLinux_return_free_memory(void);

/// Sets how long malloc keeps freed memory of this process for further blocks.
void CLinux_keep_free_memory(long milliseconds);

/// Bytes that the allocator reserved for a block of malloc, which may exceed the requested size; 0 for no block.
size_t CLinux_block_size(const void *block);

/// Maps memory, or changes the size of such a mapping without copying its bytes; sizes are multiples of a page. Returns
/// its address, or NULL with errno.
void *CLinux_resize_mapping(void *base, size_t size, size_t new_size);

/// Bytes of all blocks that the process has from the allocator; -1 if unknown.
int64_t CLinux_allocated_bytes(void);

/// From now on, exits with `CLinux_status_of_shortage` if the process crashes or exits after the kernel has refused
/// memory.
///
/// Crashes without a shortage end the process normally. Must be called while there is one thread.
void CLinux_watch_for_shortage(void);

/// Clears the record.
void CLinux_forget_shortage(void);

/// Returns whether the kernel has refused memory since.
int CLinux_is_short_of_memory(void);

/// The exit status of a process that crashed because memory ran out.
enum { CLinux_status_of_shortage = 75 };

/// Unmaps the read-only pages of programs and libraries: code and constants.
///
/// The kernel maps used ones again, from its page cache. Other threads may run meanwhile.
void CLinux_release_program_pages(void);

/// Copies this process, which must have one thread, as another child of its parent, in a new process group.
///
/// The copy ends with the thread that started this process. `socket`, which must not be ``CLinux_worker_socket``,
/// becomes that in the copy. Returns the copy's process ID, 0 in the copy, or -1 with errno.
pid_t CLinux_copy_process(int socket);

/// Forks a worker from this process, which must have one thread, in a new process group.
///
/// The worker ends with the calling thread, and has nothing but `socket`, which becomes ``CLinux_worker_socket``: its
/// standard streams are closed and its environment, which may contain secrets, is overwritten. Returns its process ID, 0
/// in the worker, or -1 with errno.
pid_t CLinux_fork_worker(int socket);

/// Makes the kernel kill this process when the thread that started it ends. 0, or -1 with errno.
int CLinux_die_with_parent(void);

/// Denies new privileges to all programs that this thread starts. 0, or -1 with errno.
int CLinux_set_no_new_privileges(void);

/// Bytes of a process's address space, or -1 with errno.
int64_t CLinux_address_space(pid_t process);

/// Limits the address space of a process, at most to its hard limit. 0, or -1 with errno.
int CLinux_limit_address_space(pid_t process, int64_t bytes);

/// User and system time that a process has used, or -1 with errno.
int64_t CLinux_processor_nanoseconds(pid_t process);

/// Number of threads of a process; -1 if there is no such process.
int CLinux_thread_count(pid_t process);

/// Binds a sleeping process to the calling thread's processor, until the process calls ``CLinux_free_processor``.
///
/// For a thread that is about to wake the process and then sleep. Otherwise the kernel would often let the process wait
/// for the processor that it used before, while this one idles. Does nothing if the system does not allow it.
void CLinux_bind_to_this_processor(pid_t process);

/// Records the processors that this process may use, before it is bound for the first time.
void CLinux_note_processors(void);

/// Lets the calling thread run on all recorded processors again.
void CLinux_free_processor(void);

/// Actions that the kernel must deny a confined process.
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
} CLinuxForbiddenAction;

/// Tries a forbidden action. Returns 0 if it succeeded, otherwise the error number.
int CLinux_try_forbidden(CLinuxForbiddenAction action);

/// Returns the kernel's Landlock version, 0 for none.
int CLinux_landlock_version(void);

/// Denies this thread and its later threads all files, TCP, and signals to other processes, if the kernel supports it.
///
/// 0, or the error number.
int CLinux_landlock_deny_all(void);

/// Maximum number of descriptors in one message.
enum { CLinux_max_descriptors = 3 };

/// Creates empty, unsealed memory and returns its close-on-exec descriptor; or -1 with errno.
int CLinux_shared_memory(const char *name);

/// Makes shared memory permanently read-only. Fails while a process has a writable mapping. 0, or -1 with errno.
int CLinux_seal(int descriptor);

/// Makes the size of shared memory final. 0, or -1 with errno.
int CLinux_seal_size(int descriptor);

/// Returns the pages of the first `count` bytes of shared memory to the kernel. 0, or -1 with errno.
int CLinux_release_pages(int descriptor, size_t count);

/// Sends one message with descriptors, without waiting. 0, or -1 with errno.
int CLinux_send(int socket, const void *bytes, size_t count, const int *descriptors, int descriptor_count);

/// Waits for one message and its descriptors. They are close-on-exec, and the caller must close them in every case.
///
/// Returns the number of bytes, 0 if the other end is closed, or -1, also if the message is too long.
ssize_t CLinux_receive(int socket, void *bytes, size_t capacity, int *descriptors, int *descriptor_count);

#endif
