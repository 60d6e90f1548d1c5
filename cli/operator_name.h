/* SPDX-License-Identifier: BSD-2-Clause */
/* operator_name: who gives a command. */
#ifndef CLI_OPERATOR_NAME_H
#define CLI_OPERATOR_NAME_H

/* The login name: for root, of whoever became root, where that is known. To be
 * freed. */
char *operator_name(void);

#endif
