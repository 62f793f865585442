#ifndef CSECCOMPSHIM_H
#define CSECCOMPSHIM_H

#include <stdint.h>

/// Whether the kernel can end a process over a system call that a filter does not allow.
int CSeccompShim_is_available(void);

/// Allows all threads of this process what decoding and encoding pictures takes, for good: computing, memory that is not executable,
/// and messages over the descriptor `socket`. Opening files fails with EACCES. Anything else, new threads too, waits until whoever listens has judged it;
/// `hand_over` must send them the descriptor that they listen at, with sendmsg.
///
/// 0, or the number of the error; nothing is in force then.
int CSeccompShim_confine_supervised(int socket, int (*hand_over)(int socket, int listener));

/// The same where nobody listens: threads are allowed, anything else ends the process with SIGSYS.
///
/// 0, or the number of the error; nothing is in force then.
int CSeccompShim_confine_alone(int socket);

/// A system call that a process waits in.
typedef struct {
    uint64_t id;
    int number;
    uint32_t architecture;
    /// Whether it is a new thread, and no new process.
    int is_thread;
} CSeccompShimCall;

/// The next call that waits, of those that `listener` can be read for. 0, or -1 where it is gone.
int CSeccompShim_next_call(int listener, CSeccompShimCall *call);

/// Lets a call happen, or fail for want of room. 0, or -1 where it is gone.
int CSeccompShim_answer(int listener, const CSeccompShimCall *call, int is_allowed);

enum { CSeccompShim_name_size = 32 };

/// The name of a call, for people.
void CSeccompShim_name(const CSeccompShimCall *call, char text[CSeccompShim_name_size]);

#endif
