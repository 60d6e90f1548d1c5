/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * nothing_milter SOCKET: the least a filter can do that has the milter's task:
 * the same flags and macros, one constant header at the end of the message.
 * What postlag-milter costs is measured against it.
 */
#include <stdbool.h>
#include <stdio.h>

#include <libmilter/mfapi.h>

#define ACTIONS (SMFIF_ADDHDRS | SMFIF_CHGHDRS | SMFIF_SETSYMLIST)
#define STEPS                                                                  \
	(SMFIP_NOBODY | SMFIP_NOUNKNOWN | SMFIP_RCPT_REJ | SMFIP_NR_HDR |      \
	    SMFIP_NR_EOH)

static struct {
	int stage;
	char list[40];
} macros[] = {
    {SMFIM_CONNECT, "{daemon_name}"},
    {SMFIM_HELO, "{tls_version} {cipher}"},
    {SMFIM_ENVFROM, "j i {auth_type} {auth_authen}"},
    {SMFIM_ENVRCPT, "i {rcpt_mailer} {rcpt_host} {rcpt_addr}"},
    {SMFIM_DATA, "i"},
    {SMFIM_EOM, "i"},
};

static sfsistat
on_negotiate(SMFICTX *context, unsigned long actions, unsigned long steps,
    unsigned long unused_2, unsigned long unused_3, unsigned long *actions_r,
    unsigned long *steps_r, unsigned long *unused_2_r,
    unsigned long *unused_3_r)
{
	*actions_r = ACTIONS;
	*steps_r = STEPS;
	*unused_2_r = *unused_3_r = 0;
	for (size_t i = 0; i < sizeof(macros) / sizeof(macros[0]); i++)
		smfi_setsymlist(context, macros[i].stage, macros[i].list);
	return SMFIS_CONTINUE;
}

static sfsistat
on_connect(SMFICTX *context, char *name, _SOCK_ADDR *address)
{
	return SMFIS_CONTINUE;
}

static sfsistat
on_text(SMFICTX *context, char *text)
{
	return SMFIS_CONTINUE;
}

static sfsistat
on_arguments(SMFICTX *context, char **arguments)
{
	return SMFIS_CONTINUE;
}

static sfsistat
on_header(SMFICTX *context, char *name, char *value)
{
	return SMFIS_NOREPLY;
}

static sfsistat
on_eoh(SMFICTX *context)
{
	return SMFIS_NOREPLY;
}

static sfsistat
on_nothing(SMFICTX *context)
{
	return SMFIS_CONTINUE;
}

static sfsistat
on_eom(SMFICTX *context)
{
	static char name[] = "X-Perf-Sent";
	static char value[] =
	    "2026-11-30T07:47:42.123456Z;\n"
	    "\tid=0193a4c8-6f00-7abc-8def-0123456789ab; q=4F5E3A1C00";

	smfi_insheader(context, 0, name, value);
	return SMFIS_CONTINUE;
}

int
main(int argc, char **argv)
{
	static char program[] = "nothing_milter";
	struct smfiDesc description = {
	    .xxfi_name = program,
	    .xxfi_version = SMFI_VERSION,
	    .xxfi_flags = ACTIONS,
	    .xxfi_connect = on_connect,
	    .xxfi_helo = on_text,
	    .xxfi_envfrom = on_arguments,
	    .xxfi_envrcpt = on_arguments,
	    .xxfi_header = on_header,
	    .xxfi_eoh = on_eoh,
	    .xxfi_eom = on_eom,
	    .xxfi_abort = on_nothing,
	    .xxfi_close = on_nothing,
	    .xxfi_data = on_nothing,
	    .xxfi_negotiate = on_negotiate,
	};

	if (argc != 2 || smfi_setconn(argv[1]) != MI_SUCCESS ||
	    smfi_register(description) != MI_SUCCESS ||
	    smfi_opensocket(true) != MI_SUCCESS)
		return 1;
	return smfi_main() == MI_SUCCESS ? 0 : 1;
}
