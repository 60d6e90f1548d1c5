/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * event_fields: the members of events, listed once.
 *
 * The codec and whoever prints events expand these lists into tables, so that a
 * member that is added here is written, read and shown. Each entry is a kind
 * and the member's name, which is the same in event.h and event.proto:
 *
 *     TEXT    const char *   bytes
 *     WORD    const char *   string: ASCII that we checked or made
 *     ADDRESS const char *   bytes, the empty one (null sender) written "<>"
 *     UUID, STAMP, REPLY     the structs of these names
 *     BOOL, U32, U64         numbers
 *     NS      int64_t        a wall clock time
 *     ENUM    an enum: (ENUM, member, number of enumerators, naming function)
 *
 * `recipients` and a heartbeat's `increases` are arrays and not listed. The
 * order is the one for people; it has no meaning on disk.
 */
#ifndef PROTO_EVENT_FIELDS_H
#define PROTO_EVENT_FIELDS_H

/* clang-format off */
#define MESSAGE_EVENT_FIELDS(X, ENUM)                                          \
	X(UUID, id)                                                            \
	X(WORD, queue_id)                                                      \
	ENUM(ending, MESSAGE_ENDINGS, message_ending_name)                     \
	ENUM(phase, MESSAGE_PHASES, message_phase_name)                        \
	X(ADDRESS, sender)                                                     \
	X(TEXT, message_id)                                                    \
	X(TEXT, run)                                                           \
	X(UUID, previous)                                                      \
	X(U64, session)                                                        \
	X(U32, sequence)                                                       \
	X(U32, forged_stamps)                                                  \
	X(U64, declared_bytes)                                                 \
	X(TEXT, client_name)                                                   \
	X(TEXT, client_address)                                                \
	X(U32, client_port)                                                    \
	X(TEXT, helo)                                                          \
	X(TEXT, daemon_name)                                                   \
	X(TEXT, tls_version)                                                   \
	X(TEXT, tls_cipher)                                                    \
	X(TEXT, sasl_method)                                                   \
	X(TEXT, sasl_user)                                                     \
	X(STAMP, connect_at)                                                   \
	X(STAMP, helo_at)                                                      \
	X(STAMP, mail_at)                                                      \
	X(STAMP, data_at)                                                      \
	X(STAMP, content_at)                                                   \
	X(STAMP, eom_at)                                                       \
	X(STAMP, end_at)                                                       \
	X(U32, recipients_omitted)

#define MESSAGE_RECIPIENT_FIELDS(X, ENUM)                                      \
	X(ADDRESS, address)                                                    \
	X(STAMP, rcpt_at)                                                      \
	X(BOOL, rejected)                                                      \
	X(TEXT, reject_dsn)                                                    \
	X(TEXT, reject_text)

#define DELIVERY_EVENT_FIELDS(X, ENUM)                                         \
	X(UUID, id)                                                            \
	X(U32, part)                                                           \
	X(WORD, queue_id)                                                      \
	ENUM(ending, DELIVERY_ENDINGS, delivery_ending_name)                   \
	ENUM(phase, DELIVERY_PHASES, delivery_phase_name)                      \
	X(ADDRESS, sender)                                                     \
	X(TEXT, ident)                                                         \
	X(TEXT, message_id)                                                    \
	X(TEXT, run)                                                           \
	X(U64, session)                                                        \
	X(U32, sequence)                                                       \
	X(U64, content_bytes)                                                  \
	X(TEXT, backend)                                                       \
	X(U32, stamps_seen)                                                    \
	X(UUID, stamp_id)                                                      \
	X(WORD, stamp_queue_id)                                                \
	X(NS, stamp_mail_wall_ns)                                              \
	X(STAMP, connect_at)                                                   \
	X(STAMP, mail_at)                                                      \
	X(STAMP, data_at)                                                      \
	X(STAMP, content_end_at)                                               \
	X(STAMP, end_at)

#define DELIVERY_RECIPIENT_FIELDS(X, ENUM)                                     \
	X(ADDRESS, address)                                                    \
	X(U32, position)                                                       \
	X(STAMP, rcpt_at)                                                      \
	X(REPLY, envelope)                                                     \
	X(REPLY, final)

#define DELIVERY_REPLY_FIELDS(X, ENUM)                                         \
	X(U32, code)                                                           \
	X(WORD, enhanced)                                                      \
	X(TEXT, text)                                                          \
	X(STAMP, at)

#define HEARTBEAT_EVENT_FIELDS(X, ENUM)                                        \
	X(STAMP, at)                                                           \
	X(BOOL, start)

#define OPERATION_EVENT_FIELDS(X, ENUM)                                        \
	ENUM(kind, OPERATION_KINDS, operation_kind_name)                       \
	X(STAMP, at)                                                           \
	X(UUID, message)                                                       \
	X(TEXT, who)                                                           \
	X(TEXT, comment)                                                       \
	X(TEXT, address)
/* clang-format on */

#endif
