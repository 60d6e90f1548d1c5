/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of metrics. Read by metrics.c only. */
#include "exporter/metrics/metric_table.h"

#include "exporter/maillog/log_gap.h"
#include "exporter/maillog/log_limit.h"
#include "exporter/metrics/metric_words.h"
#include "exporter/metrics/revision.h"
#include "exporter/queue/queue_find.h"
#include "proto/event.h"
#include "proto/phase.h"
#include "store/record.h"
#include "store/route.h"

/* clang-format off */
#define SOURCE {"source", SOURCES, metric_source_word}

const struct metric_family metric_families[METRICS] = {
[METRIC_MESSAGES_ACCEPTED] = {
	"postlag_messages_accepted_total", METRIC_STORED_COUNTER,
	METRIC_PLAIN, FROM_MILTER,
	{{.name = NULL}},
	"Messages that the milter let pass at end of message.", false},
[METRIC_RECIPIENTS_ACCEPTED] = {
	"postlag_recipients_accepted_total", METRIC_STORED_COUNTER,
	METRIC_PLAIN, FROM_MILTER,
	{{.name = NULL}},
	"Recipients of those messages whose RCPT TO was accepted; an address "
	"named twice is one recipient.", false},
[METRIC_RECIPIENTS_ADDED] = {
	"postlag_recipients_added_total", METRIC_STORED_COUNTER, METRIC_PLAIN,
	FROM_HOOK | FROM_LOG,
	{{"reason", ADDITIONS, metric_added_word}},
	"Recipients that no accepted RCPT TO named: expanded from an alias, of "
	"a transaction that seemed aborted, of mail that the milter did not "
	"see (unstamped), or, once delivered or bounced, of mail whose "
	"message is not known (unjoined). The balance: accepted + added + "
	"revisions but those from aborted = outcomes + recognized + "
	"recipients now in flight, deferred and held.", false},
[METRIC_RECIPIENTS_RECOGNIZED] = {
	"postlag_recipients_recognized_total", METRIC_STORED_COUNTER,
	METRIC_PLAIN, FROM_MILTER | FROM_HOOK | FROM_LOG,
	{{"reason", ADDITIONS, metric_added_word}},
	"Added recipients that were taken back, by the reason for which they "
	"had been added: what told whose they are was read later (a journal "
	"that lags), and they are known since as that message's. What was in "
	"a final state left it for in_flight before.", false},
[METRIC_RECIPIENT_OUTCOMES] = {
	"postlag_recipient_outcomes_total", METRIC_STORED_COUNTER,
	METRIC_PLAIN, FROM_ANY,
	{{"outcome", OUTCOMES, metric_outcome_word}},
	"Entries of recipients into a final state: delivered to a mailbox, "
	"bounced (or rejected by Sieve), relayed to another host, handed off "
	"to a command or filter (or redirected by Sieve), discarded (by "
	"Postfix or by Sieve), ..., expanded (others continue it: an alias), "
	"merged (Postfix was done with it without a delivery of its own: a "
	"duplicate, REDIRECT).",
	false},
[METRIC_OUTCOME_REVISIONS] = {
	"postlag_outcome_revisions_total", METRIC_STORED_COUNTER,
	METRIC_PLAIN, FROM_ANY,
	{{"from", REVISIONS, metric_revised_from_word},
	    {"to", REVISIONS, metric_revised_to_word}},
	"Recipients that left a final state, which turned out not to be the "
	"last one.", true},
[METRIC_FILINGS] = {
	"postlag_filings_total", METRIC_STORED_COUNTER, METRIC_PLAIN,
	FROM_DOVECOT,
	{{"action", FILING_ACTIONS, metric_filing_word}},
	"What Dovecot's log says was done with recipients' mail, by the LMTP "
	"session: stored in a mailbox, or by Sieve forwarded (redirect), "
	"answered (vacation), rejected or discarded (unless it was stored, "
	"too). 0 where no log of Dovecot's is read.", false},
[METRIC_RECIPIENTS] = {
	"postlag_recipients", METRIC_GAUGE, METRIC_PLAIN, FROM_ANY,
	{{"state", OPEN_STATES + OUTCOMES, metric_state_word}},
	"Recipients that are in this state now: in the queue (of messages that "
	"may be there still by the configured queue lifetime), or finally. "
	"Accepted and added less recognized are always the sum of all.",
	false},
[METRIC_RECIPIENTS_LOST] = {
	"postlag_recipients_lost_total", METRIC_STORED_COUNTER, METRIC_PLAIN,
	FROM_LOG | FROM_QUEUE,
	{{.name = NULL}},
	"Recipients found lost: their queue file is gone, and a complete log "
	"does not say why.", false},
[METRIC_RECIPIENTS_RECOVERED] = {
	"postlag_recipients_recovered_total", METRIC_STORED_COUNTER,
	METRIC_PLAIN, FROM_MILTER | FROM_HOOK | FROM_LOG | FROM_QUEUE,
	{{.name = NULL}},
	"Recipients found lost of which something was seen again.", false},
[METRIC_MESSAGES_GHOST] = {
	"postlag_messages_ghost_total", METRIC_STORED_COUNTER, METRIC_PLAIN,
	FROM_LOG | FROM_QUEUE,
	{{.name = NULL}},
	"Messages that the milter let pass and Postfix never queued.", false},
[METRIC_LOSS_DETECTION] = {
	"postlag_loss_detection", METRIC_GAUGE, METRIC_PLAIN,
	FROM_LOG | FROM_QUEUE | FROM_EXPORTER,
	{{"state", LOSS_DETECTIONS, metric_detection_word}},
	"1 for the state that losses are looked for in: off (no log is read or "
	"nobody may look into the queue), blind (the log does not tell "
	"everything now), or on.", false},
[METRIC_QUEUE_LOOKUPS] = {
	"postlag_queue_lookups_total", METRIC_LIVE_COUNTER, METRIC_PLAIN,
	FROM_QUEUE,
	{{"answer", QUEUE_PLACES, metric_place_word}},
	"Looks for a message's queue file since start, by the queue directory "
	"that it was found in; unknown: the look failed.", false},
[METRIC_MESSAGES_IN_FLIGHT] = {
	"postlag_messages_in_flight", METRIC_GAUGE, METRIC_PLAIN, FROM_ANY,
	{{.name = NULL}},
	"Messages with at least one recipient in flight.", false},
[METRIC_OLDEST_IN_FLIGHT] = {
	"postlag_oldest_in_flight_timestamp_seconds", METRIC_GAUGE,
	METRIC_SECONDS, FROM_ANY,
	{{.name = NULL}},
	"MAIL FROM of the oldest message in flight; 0 when there is none.",
	false},
[METRIC_DELIVERY_LATENCY] = {
	"postlag_delivery_latency_seconds", METRIC_STORED_HISTOGRAM,
	METRIC_SECONDS, FROM_MILTER | FROM_HOOK | FROM_LOG,
	{{"route", ROUTES, metric_route_word}},
	"From MAIL FROM to where the recipient's mail went, once a recipient, "
	"whatever the retries. To a mailbox (inbound: from outside, internal: "
	"submitted): until the LMTP server's 2xx. To another host (outbound: "
	"submitted, transit: from outside): until the log's line, if its date "
	"has fractions of a second. Submitted: by an authenticated client, by "
	"sendmail or from a loopback address.",
	false},
[METRIC_PHASE] = {
	"postlag_phase_seconds", METRIC_STORED_HISTOGRAM, METRIC_SECONDS,
	FROM_MILTER | FROM_HOOK,
	{{"phase", PHASES, metric_phase_word}},
	"Intervals between the arrivals of commands: up to end of message once "
	"an accepted message, from the queue on once a delivered recipient.",
	false},
[METRIC_DELIVERY_ATTEMPTS] = {
	"postlag_delivery_attempts_total", METRIC_STORED_COUNTER,
	METRIC_PLAIN, FROM_HOOK,
	{{"result", RESULTS, metric_result_word}},
	"Recipients of LMTP transactions, by the LMTP server's last word.",
	false},
[METRIC_DEFERRALS] = {
	"postlag_deferrals_total", METRIC_STORED_COUNTER, METRIC_PLAIN,
	FROM_HOOK | FROM_LOG,
	{{"reason", DEFERRALS, metric_deferral_word}},
	"Times that a recipient was deferred, once an attempt, by the second "
	"number of the enhanced status code: 4.2.2 is mailbox, 4.4.1 network. "
	"By Postfix's log, whoever the next hop is; where no log is read, the "
	"LMTP server's 4xx only.",
	false},
[METRIC_DUPLICATES] = {
	"postlag_duplicates_total", METRIC_STORED_COUNTER, METRIC_PLAIN,
	FROM_HOOK,
	{{.name = NULL}},
	"Deliveries of recipients that were delivered before.", false},
[METRIC_SMTP_REJECTS] = {
	"postlag_smtp_rejects_total", METRIC_STORED_COUNTER, METRIC_PLAIN,
	FROM_MILTER | FROM_LOG,
	{{"phase", REJECT_PHASES, metric_reject_phase_word},
	    {"class", REJECTS, metric_class_word}},
	"What Postfix refused, by where and by the first digit of its reply: "
	"a command, content (for what stands in its header or body), or a "
	"whole message at its end. With smtpd_delay_reject, the default, "
	"clients, HELO names and senders are refused at rcpt. Without a log "
	"only what the milter sees refused at rcpt.",
	false},
[METRIC_SMTP_ABORTS] = {
	"postlag_smtp_aborts_total", METRIC_STORED_COUNTER, METRIC_PLAIN,
	FROM_MILTER,
	{{"phase", MESSAGE_PHASES - MESSAGE_PHASE_CONNECT, metric_abort_word}},
	"SMTP transactions that ended before end of message, by how far they "
	"came.", false},
[METRIC_RECIPIENTS_OMITTED] = {
	"postlag_recipients_omitted_total", METRIC_STORED_COUNTER,
	METRIC_PLAIN, FROM_MILTER,
	{{.name = NULL}},
	"Recipients that the milter had no room to record.", false},
[METRIC_UNSTAMPED] = {
	"postlag_unstamped_total", METRIC_STORED_COUNTER, METRIC_PLAIN,
	FROM_HOOK | FROM_LOG,
	{{"reason", UNSTAMPED_REASONS, metric_unstamped_word}},
	"Mail without a stamp of its own. Once an LMTP transaction: its "
	"message is known by its queue id (no_stamp), or the stamp is another "
	"mail's (foreign). Once a message, or without a log an LMTP "
	"transaction: the milter did not see it (no_message), or Postfix made "
	"it itself (internal).", false},
[METRIC_MILTER_UNSTAMPED] = {
	"postlag_milter_unstamped_total", METRIC_STORED_COUNTER, METRIC_PLAIN,
	FROM_MILTER,
	{{"reason", MILTER_UNSTAMPED_REASONS, metric_milter_unstamped_word}},
	"Mail that the milter knows to have passed on without a stamp: it was "
	"stopped, its event could not be recorded, or the header was refused.",
	false},
[METRIC_FORGED_STAMPS] = {
	"postlag_forged_stamps_total", METRIC_STORED_COUNTER, METRIC_PLAIN,
	FROM_MILTER | FROM_HOOK,
	{{.name = NULL}},
	"Stamps that were not believed: removed by the milter, or seen at "
	"delivery in mail that they do not belong to.", false},
[METRIC_DELIVERIES_WAITING] = {
	"postlag_deliveries_waiting", METRIC_GAUGE, METRIC_PLAIN, FROM_HOOK,
	{{.name = NULL}},
	"Deliveries whose stamp names a message that is not known yet.", false},
[METRIC_FILINGS_WAITING] = {
	"postlag_filings_waiting", METRIC_GAUGE, METRIC_PLAIN, FROM_DOVECOT,
	{{.name = NULL}},
	"LMTP sessions in Dovecot's log whose reply is not known yet.", false},
[METRIC_CLOCK_SKEW] = {
	"postlag_clock_skew_total", METRIC_STORED_COUNTER, METRIC_PLAIN,
	FROM_MILTER | FROM_HOOK | FROM_LOG,
	{{.name = NULL}},
	"Durations that came out negative and were not observed.", false},
[METRIC_ODD_MESSAGES] = {
	"postlag_odd_messages_total", METRIC_STORED_COUNTER, METRIC_PLAIN,
	FROM_MILTER,
	{{.name = NULL}},
	"Accepted messages whose id names a day too far in the past or future: "
	"a clock was wrong.", false},
[METRIC_SESSIONS] = {
	"postlag_sessions_total", METRIC_STORED_COUNTER, METRIC_PLAIN,
	FROM_MILTER | FROM_HOOK,
	{SOURCE},
	"SMTP sessions that the milter saw, connections to the LMTP hook.",
	false},
[METRIC_JOURNAL_EVENTS_APPENDED] = {
	"postlag_journal_events_appended_total", METRIC_STORED_COUNTER,
	METRIC_PLAIN, FROM_MILTER | FROM_HOOK,
	{SOURCE},
	"Events written to the journal, by their writer's count.", false},
[METRIC_JOURNAL_EVENTS_DROPPED] = {
	"postlag_journal_events_dropped_total", METRIC_STORED_COUNTER,
	METRIC_PLAIN, FROM_MILTER | FROM_HOOK,
	{SOURCE, {"reason", DROPPED_REASONS, metric_dropped_word}},
	"Events that are lost because the journal had reached its limit, the "
	"disk refused them, or memory was short.", false},
[METRIC_JOURNAL_BYTES_APPENDED] = {
	"postlag_journal_appended_bytes_total", METRIC_STORED_COUNTER,
	METRIC_BYTES, FROM_MILTER | FROM_HOOK,
	{SOURCE},
	"Bytes written to the journal.", false},
[METRIC_JOURNAL_DAMAGED_RECORDS] = {
	"postlag_journal_damaged_records_total", METRIC_STORED_COUNTER,
	METRIC_PLAIN, FROM_MILTER | FROM_HOOK | FROM_OPERATOR,
	{SOURCE},
	"Places in the journal where at least one record was unreadable.",
	false},
[METRIC_JOURNAL_DAMAGED_BYTES] = {
	"postlag_journal_damaged_bytes_total", METRIC_STORED_COUNTER,
	METRIC_BYTES, FROM_MILTER | FROM_HOOK | FROM_OPERATOR,
	{SOURCE},
	"Bytes of the journal that were stepped over.", false},
[METRIC_JOURNAL_TORN_RECORDS] = {
	"postlag_journal_torn_records_total", METRIC_STORED_COUNTER,
	METRIC_PLAIN, FROM_MILTER | FROM_HOOK | FROM_OPERATOR,
	{SOURCE},
	"Incomplete records at the end of a journal file.", false},
[METRIC_JOURNAL_UNREADABLE_SEGMENTS] = {
	"postlag_journal_unreadable_segments_total", METRIC_STORED_COUNTER,
	METRIC_PLAIN, FROM_MILTER | FROM_HOOK | FROM_OPERATOR,
	{SOURCE},
	"Journal files that could not be read at all.", false},
[METRIC_JOURNAL_BEHIND_BYTES] = {
	"postlag_journal_behind_bytes", METRIC_GAUGE, METRIC_BYTES,
	FROM_MILTER | FROM_HOOK | FROM_OPERATOR,
	{SOURCE},
	"Bytes of the journal that are not read yet.", false},
[METRIC_LOG_LINES] = {
	"postlag_log_lines_total", METRIC_LIVE_COUNTER, METRIC_PLAIN,
	FROM_LOG,
	{{"kind", LOG_LINE_KINDS, metric_log_line_word}},
	"Lines of Postfix's log read since start: of Postfix and understood "
	"(known), of Postfix and without meaning for us (unknown), or of "
	"others (foreign).", false},
[METRIC_LOG_GAPS] = {
	"postlag_log_gaps_total", METRIC_STORED_COUNTER, METRIC_PLAIN,
	FROM_LOG,
	{{"reason", LOG_GAPS - 1, metric_log_gap_word}},
	"Places in Postfix's log where lines may be missing.", false},
[METRIC_LOG_RATE_LIMIT_USED] = {
	"postlag_log_rate_limit_used_ratio", METRIC_GAUGE, METRIC_RATIO,
	FROM_LOG,
	{{"limit", LOG_LIMITS, metric_log_limit_word}},
	"The largest share of a logger's rate limit that Postfix's lines used "
	"within the log's last hour; 0 where no such limit is known. From 1 on "
	"lines may be dropped; journald lets more pass the more room its disk "
	"has.", false},
[METRIC_LOG_BEHIND_BYTES] = {
	"postlag_log_behind_bytes", METRIC_GAUGE, METRIC_BYTES, FROM_LOG,
	{{.name = NULL}},
	"Bytes of Postfix's log that are not read yet.", false},
[METRIC_SOURCE_LAST_EVENT] = {
	"postlag_source_last_event_timestamp_seconds", METRIC_GAUGE,
	METRIC_SECONDS, FROM_MILTER | FROM_HOOK | FROM_OPERATOR | FROM_LOG,
	{SOURCE},
	"When the last event read was made, heartbeats included; 0 before the "
	"first since start.", false},
[METRIC_SOURCE_EVENTS] = {
	"postlag_source_events_total", METRIC_LIVE_COUNTER, METRIC_PLAIN,
	FROM_MILTER | FROM_HOOK | FROM_OPERATOR | FROM_LOG,
	{SOURCE},
	"Events, heartbeats included, and lines of the log read since start.",
	false},
[METRIC_BEHIND_EVENTS] = {
	"postlag_behind_events", METRIC_GAUGE, METRIC_PLAIN,
	FROM_MILTER | FROM_HOOK | FROM_OPERATOR | FROM_LOG,
	{SOURCE},
	"Events and lines that are not read yet, estimated from their size.",
	false},
[METRIC_READ_RATE] = {
	"postlag_read_events_per_second", METRIC_GAUGE, METRIC_PLAIN,
	FROM_MILTER | FROM_HOOK | FROM_OPERATOR | FROM_LOG,
	{{.name = NULL}},
	"Events and lines read a second, in the last ten seconds.", false},
[METRIC_CATCH_UP] = {
	"postlag_catch_up_seconds", METRIC_GAUGE, METRIC_SECONDS,
	FROM_MILTER | FROM_HOOK | FROM_OPERATOR | FROM_LOG,
	{{.name = NULL}},
	"Estimated time until everything is read, at the pace of the last ten "
	"seconds; 0 while it keeps up, -1 when that cannot be told.", false},
[METRIC_DISK_AVAILABLE_BYTES] = {
	"postlag_disk_available_bytes", METRIC_GAUGE, METRIC_BYTES,
	FROM_EXPORTER,
	{{"directory", DISKS, metric_disk_word}},
	"Bytes that may still be written to the file system of this directory; "
	"-1 when that cannot be told. Both may be on the same one.",
	false},
[METRIC_STORE_FILES] = {
	"postlag_store_files", METRIC_GAUGE, METRIC_PLAIN, FROM_EXPORTER,
	{{.name = NULL}},
	"Day files in the store.", false},
[METRIC_STORE_BYTES] = {
	"postlag_store_bytes", METRIC_GAUGE, METRIC_BYTES, FROM_EXPORTER,
	{{.name = NULL}},
	"Size of all files in the store.", false},
[METRIC_STORE_OLDEST_DAY] = {
	"postlag_store_oldest_day_timestamp_seconds", METRIC_GAUGE,
	METRIC_SECONDS, FROM_EXPORTER,
	{{.name = NULL}},
	"When the oldest day began that messages can be looked up of; 0 "
	"without any.", false},
[METRIC_STORE_PURGES] = {
	"postlag_store_purges_total", METRIC_LIVE_COUNTER, METRIC_PLAIN,
	FROM_EXPORTER,
	{{.name = NULL}},
	"Days removed since start, by age or size; what was counted of them "
	"stays.", false},
[METRIC_STORE_DAMAGED_FILES] = {
	"postlag_store_damaged_files", METRIC_GAUGE, METRIC_PLAIN,
	FROM_EXPORTER,
	{{.name = NULL}},
	"Files of the store that could not be read and were set aside since "
	"start.", false},
[METRIC_STORE_REPLACED_FILES] = {
	"postlag_store_replaced_files", METRIC_GAUGE, METRIC_PLAIN,
	FROM_EXPORTER,
	{{.name = NULL}},
	"Times since start that somebody else removed, replaced or cut short a "
	"file of the store.", false},
[METRIC_STORE_COMMITS] = {
	"postlag_store_commits_total", METRIC_LIVE_COUNTER, METRIC_PLAIN,
	FROM_EXPORTER,
	{{.name = NULL}},
	"Commits to the store since start.", false},
[METRIC_STORE_ERRORS] = {
	"postlag_store_errors_total", METRIC_LIVE_COUNTER, METRIC_PLAIN,
	FROM_EXPORTER,
	{{.name = NULL}},
	"What could not be stored since start and was tried again: a batch, a "
	"purge, an address to be forgotten.", false},
[METRIC_STORE_LONGEST_COMMIT] = {
	"postlag_store_longest_commit_seconds", METRIC_GAUGE, METRIC_SECONDS,
	FROM_EXPORTER,
	{{.name = NULL}},
	"The longest commit since start.", false},
[METRIC_STORE_LONGEST_PAUSE] = {
	"postlag_store_longest_pause_seconds", METRIC_GAUGE, METRIC_SECONDS,
	FROM_EXPORTER,
	{{.name = NULL}},
	"The longest time since start that ingest waited between two commits "
	"for the disk, to open a day's file or begin a write-ahead log.",
	false},
[METRIC_BUILD_INFO] = {
	"postlag_build_info", METRIC_GAUGE, METRIC_PLAIN, FROM_EXPORTER,
	{{"version", 1, metric_version_word}},
	"Always 1; the version is in its label.", false},
};
/* clang-format on */
