#ifndef CSECCOMPSHIM_H
#define CSECCOMPSHIM_H

#include <stdint.h>

/// Returns whether the kernel can end a process for a system call that its filter does not allow.
int CSeccompShim_is_available(void);

/// Permanently confines all threads of this process to what decoding and encoding images needs: computation,
/// non-executable memory, and messages over the descriptor `socket`. Opening files fails with EACCES. All other calls,
/// including new threads, wait for the supervisor's decision. `hand_over` must send the descriptor `listener` to the
/// supervisor, with sendmsg.
///
/// Returns 0, or the error number if the process is not confined.
int CSeccompShim_confine_supervised(int socket, int (*hand_over)(int socket, int listener));

/// The same without a supervisor: threads are allowed, and all other calls end the process with SIGSYS.
///
/// Returns 0, or the error number if the process is not confined.
int CSeccompShim_confine_alone(int socket);

/// A system call that waits for a decision.
typedef struct {
    uint64_t id;
    int number;
    uint32_t architecture;
    /// Whether the call starts a thread rather than a process.
    int is_thread;
} CSeccompShimCall;

/// Returns the next waiting call. 0, or -1 if it is gone.
int CSeccompShim_next_call(int listener, CSeccompShimCall *call);

/// Lets a call proceed, or fail with EAGAIN. 0, or -1 if it is gone.
int CSeccompShim_answer(int listener, const CSeccompShimCall *call, int is_allowed);

enum { CSeccompShim_name_size = 32 };

/// Writes the name of a call, or its number.
void CSeccompShim_name(const CSeccompShimCall *call, char text[CSeccompShim_name_size]);

#endif
