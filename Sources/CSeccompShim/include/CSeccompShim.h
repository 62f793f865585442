#ifndef CSECCOMPSHIM_H
#define CSECCOMPSHIM_H

/// Whether the kernel can end a process over a system call that a filter does not allow.
int CSeccompShim_is_available(void);

/// Allows all threads of this process what decoding and encoding pictures takes, for good: computing, memory that is not executable,
/// threads and their processors, and messages over the descriptor `socket`. Opening files fails with EACCES, anything else ends the process with SIGSYS.
///
/// 0, or the number of the error.
int CSeccompShim_confine(int socket);

#endif
