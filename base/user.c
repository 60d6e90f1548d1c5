/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The one place where privileges are dropped. Called by daemon.c between
 * open() and start(), on the only thread there is.
 */
#include "base/user.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"
#include "base/reason.h"

static int
look_up(const char *name, struct passwd *entry, char *text, size_t size,
    struct reason *reason)
{
	struct passwd *found = NULL;
	int error = getpwnam_r(name, entry, text, size, &found);

	if (found != NULL)
		return 0;
	errno = error;
	return error != 0 ? reason_set_errno(reason, "user %s", name)
			  : reason_set(reason, "user %s does not exist", name);
}

enum groups { GROUPS_ALL, GROUPS_PRIMARY };

/* CAP_SETUID and CAP_SETGID, both in the first word. */
#define CHANGE (1u << CAP_SETUID | 1u << CAP_SETGID)

bool
user_may_change(void)
{
	struct __user_cap_header_struct header = {
	    .version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {{0}};

	if (geteuid() == 0)
		return true;
	return syscall(SYS_capget, &header, data) == 0 &&
	       (data[0].effective & CHANGE) == CHANGE;
}

/* Those of threads to come, too: there are none yet. */
static int
drop_capabilities(struct reason *reason)
{
	struct __user_cap_header_struct header = {
	    .version = _LINUX_CAPABILITY_VERSION_3};
	const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {
	    {0}};

	if (syscall(SYS_capset, &header, none) != 0)
		return reason_set_errno(reason, "capabilities");
	return 0;
}

static int
drop_to(const struct passwd *entry, const char *name, enum groups groups,
    struct reason *reason)
{
	int result = groups == GROUPS_ALL ? initgroups(name, entry->pw_gid)
					  : setgroups(1, &entry->pw_gid);

	if (result < 0 ||
	    setresgid(entry->pw_gid, entry->pw_gid, entry->pw_gid) < 0 ||
	    setresuid(entry->pw_uid, entry->pw_uid, entry->pw_uid) < 0)
		return reason_set_errno(reason, "cannot become user %s", name);
	if (entry->pw_uid == 0)
		return 0;
	if (drop_capabilities(reason) != 0)
		return -1;
	/* Of this thread, as the capabilities were. setuid(3) asks all threads,
	 * and ends the process when not all may do the same: a sanitizer has
	 * one of its own. */
	if (syscall(SYS_setuid, 0) == 0)
		return reason_set(
		    reason, "user %s can become root again", name);
	return 0;
}

static int
stay(struct reason *reason)
{
	return geteuid() == 0 ? 0 : drop_capabilities(reason);
}

static int
become(const char *name, enum groups groups, struct reason *reason)
{
	struct passwd entry;
	char text[4096];

	if (user_may_change()) {
		if (look_up(name, &entry, text, sizeof(text), reason) < 0)
			return -1;
		if (geteuid() == 0 || entry.pw_uid != geteuid())
			return drop_to(&entry, name, groups, reason);
	} else if (look_up(name, &entry, text, sizeof(text), NULL) < 0 ||
		   entry.pw_uid != geteuid()) {
		log_warn("user=%s uid=%ld reason=not started by root, the user "
			 "stays",
		    name, (long)geteuid());
	}
	return stay(reason);
}

int
user_become(const char *name, struct reason *reason)
{
	return *name != '\0' ? become(name, GROUPS_ALL, reason) : stay(reason);
}

int
user_become_alone(const char *name, struct reason *reason)
{
	return become(name, GROUPS_PRIMARY, reason);
}
