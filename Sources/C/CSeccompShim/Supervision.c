#define _GNU_SOURCE
#include "CSeccompShim.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

enum { thread = CLONE_THREAD | CLONE_VM };

int CSeccompShim_next_call(int listener, CSeccompShimCall *call)
{
    struct seccomp_notif question;
    int result;
    memset(&question, 0, sizeof question);
    do result = ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &question);
    while (result != 0 && errno == EINTR);
    if (result != 0)
        return -1;
    call->id = question.id;
    call->number = question.data.nr;
    call->architecture = question.data.arch;
    call->is_thread = question.data.nr == SYS_clone && (question.data.args[0] & thread) == thread;
    return 0;
}

int CSeccompShim_answer(int listener, const CSeccompShimCall *call, int is_allowed)
{
    struct seccomp_notif_resp answer;
    memset(&answer, 0, sizeof answer);
    answer.id = call->id;
    if (is_allowed)
        answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    else
        answer.error = -EAGAIN;
    return ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
}

void CSeccompShim_name(const CSeccompShimCall *call, char text[CSeccompShim_name_size])
{
    char *name = seccomp_syscall_resolve_num_arch(call->architecture, call->number);
    if (name)
        snprintf(text, CSeccompShim_name_size, "%s", name);
    else
        snprintf(text, CSeccompShim_name_size, "number %d", call->number);
    free(name);
}
