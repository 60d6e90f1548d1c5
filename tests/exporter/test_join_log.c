/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Postfix's log in the join: what facts 8.1 lists, as events and lines, each
 * read in every way.
 */
#include "tests/exporter/log_dump.h"

#define INTERLEAVINGS 40

/* Lines of a usual message before its delivery. */
#define IN(qid)                                                                \
	"L smtpd 7 " qid ": client=c.test[192.0.2.1]\n"                        \
	"L cleanup 8 " qid ": message-id=<1@c.test>\n"
#define ACTIVE_FOR(qid, count)                                                 \
	"L qmgr 9 " qid ": from=<sender@example.net>, size=500, nrcpt=" count  \
	" (queue active)\n"
#define ACTIVE(qid) ACTIVE_FOR(qid, "1")
/* A gap in the log. */
#define LOST                                                                   \
	"L: rsyslogd 5 imuxsock lost 7 messages from pid 9 due to"             \
	" rate-limiting\n"
#define TO(agent, qid, to, more)                                               \
	"L " agent " 10 " qid ": to=<" to "@example.test>, " more "\n"
#define SENT(agent, qid, to, text)                                             \
	TO(agent, qid, to,                                                     \
	    "relay=r[192.0.2.9]:24, delay=1, delays=0/0/0/1, dsn=2.0.0,"       \
	    " status=sent (" text ")")
#define DEFERRED(qid, to)                                                      \
	TO("lmtp", qid, to,                                                    \
	    "relay=none, delay=1, delays=0/0/0/1, dsn=4.4.1,"                  \
	    " status=deferred (x)")
#define BOUNCED(qid, to)                                                       \
	TO("lmtp", qid, to,                                                    \
	    "relay=r, delay=1, delays=0/0/0/1, dsn=5.1.1,"                     \
	    " status=bounced (x)")
#define DISCARD(qid)                                                           \
	"L cleanup 8 " qid ": discard: header Subject: x from"                 \
	" c.test[192.0.2.1]; from=<sender@example.net>"                        \
	" to=<u1@example.test> proto=ESMTP helo=<c>: y\n"
#define REFUSED(where, text)                                                   \
	"L smtpd 7 NOQUEUE: reject: " where " from c.test[192.0.2.1]: " text   \
	"; from=<a@a.test> to=<u1@example.test> proto=ESMTP helo=<c>\n"
/* Time passes, and something else is logged. */
#define TICK "S 10\nL anvil 14 statistics: nothing\n"
#define REMOVED(qid) "L qmgr 9 " qid ": removed\n"

struct scenario {
	const char *name;
	const char *script;
	const char *lines; /* that the dump must contain */
};

/* clang-format off */
static const struct scenario scenarios[] = {
    {"a stamped message is delivered",
	"M a A00001 u1\n" IN("A00001") ACTIVE("A00001")
	"D a A00001 u1=250\n" SENT("lmtp", "A00001", "u1", "250 Saved")
	REMOVED("A00001"),
	"known 1\ndelivered 1\n"
	"A00001: accepted u1=delivered/1 stamped +1\n"},
    {"case 1: deferred twice, then delivered",
	"M a A00001 u1\n" IN("A00001") ACTIVE("A00001")
	"D a A00001 u1=451\n" DEFERRED("A00001", "u1") ACTIVE("A00001")
	"D a A00001 u1=451\n" DEFERRED("A00001", "u1") ACTIVE("A00001")
	"D a A00001 u1=250\n" SENT("lmtp", "A00001", "u1", "250 Saved")
	REMOVED("A00001"),
	"delivered 1\n"
	"A00001: accepted u1=delivered/3 stamped stamped stamped +3\n"},
    {"it is deferred until then",
	"M a A00001 u1\n" IN("A00001") ACTIVE("A00001")
	DEFERRED("A00001", "u1"),
	"open 1\nA00001: accepted u1=deferred/0 +1\n"},
    {"bounced, with a notification of its own",
	"M a A00001 u1\n" IN("A00001") ACTIVE("A00001")
	BOUNCED("A00001", "u1")
	"L cleanup 8 B00001: message-id=<2@mx.test>\n"
	"L qmgr 9 B00001: from=<>, size=900, nrcpt=1 (queue active)\n"
	"L bounce 11 A00001: sender non-delivery notification: B00001\n"
	REMOVED("A00001")
	SENT("smtp", "B00001", "sender", "250 Ok") REMOVED("B00001"),
	"bounced 1\nrelayed 1\n"
	"A00001: accepted u1=bounced/0 +1\n"
	"B00001: logged sender=relayed/0 +1 previous\n"},
    {"a bounce that bounces is dropped",
	"L cleanup 8 B00001: message-id=<2@mx.test>\n"
	"L qmgr 9 B00001: from=<>, size=900, nrcpt=1 (queue active)\n"
	BOUNCED("B00001", "sender") REMOVED("B00001"),
	"bounced 1\nB00001: logged sender=bounced/0 +1\n"},
    {"expired",
	"M a A00001 u1 u2\n" IN("A00001") ACTIVE("A00001")
	SENT("smtp", "A00001", "u1", "250 Ok") DEFERRED("A00001", "u2")
	ACTIVE("A00001")
	"L qmgr 9 A00001: from=<sender@example.net>, status=expired,"
	" returned to sender\n"
	REMOVED("A00001"),
	"relayed 1\nexpired 1\n"
	"A00001: accepted u1=relayed/0 u2=expired/0 +2\n"},
    {"expired by postsuper -e",
	"M a A00001 u1\n" IN("A00001") ACTIVE("A00001")
	DEFERRED("A00001", "u1") "L postsuper 12 A00001: expired\n"
	ACTIVE("A00001")
	"L qmgr 9 A00001: from=<sender@example.net>, status=force-expired,"
	" returned to sender\n"
	REMOVED("A00001"),
	"expired 1\nA00001: accepted u1=expired/0 +1\n"},
    {"held and released by postsuper",
	"M a A00001 u1\n" IN("A00001") ACTIVE("A00001")
	DEFERRED("A00001", "u1") "L postsuper 12 A00001: placed on hold\n"
	"L postsuper 13 A00001: released from hold\n" ACTIVE("A00001")
	"D a A00001 u1=250\n" SENT("lmtp", "A00001", "u1", "250 Saved")
	REMOVED("A00001"),
	"delivered 1\nopen 0\n"
	"A00001: accepted u1=delivered/1 stamped +2\n"},
    {"held by postsuper",
	"M a A00001 u1\n" IN("A00001") ACTIVE("A00001")
	DEFERRED("A00001", "u1") "L postsuper 12 A00001: placed on hold\n",
	"open 1\nA00001: accepted u1=held/0 +1\n"},
    {"HOLD of a restriction, which has no queue id",
	"M a A00001 u1\n"
	"L smtpd 7 NOQUEUE: hold: RCPT from c.test[192.0.2.1]:"
	" <u1@example.test>: Recipient address held; from=<sender@example.net>"
	" to=<u1@example.test> proto=ESMTP helo=<c>\n" IN("A00001") TICK,
	"open 1\nA00001: accepted u1=held/0 +0\n"},
    {"HOLD of a header check, then released",
	"M a A00001 u1\n" IN("A00001")
	"L cleanup 8 A00001: hold: header Subject: x from c.test[192.0.2.1];"
	" from=<sender@example.net> to=<u1@example.test> proto=ESMTP"
	" helo=<c>: y\n" TICK
	"L postsuper 13 A00001: released from hold\n" ACTIVE("A00001")
	SENT("virtual", "A00001", "u1", "delivered to maildir")
	REMOVED("A00001"),
	"delivered 1\nA00001: accepted u1=delivered/0 +1\n"},
    {"HOLD by a milter",
	"M a A00001 u1\n" IN("A00001")
	"L cleanup 8 A00001: milter-hold: END-OF-MESSAGE from"
	" c.test[192.0.2.1]: milter triggers HOLD action;"
	" from=<sender@example.net> to=<u1@example.test> proto=ESMTP"
	" helo=<c>\n" TICK,
	"open 1\nA00001: accepted u1=held/0 +0\n"},
    {"DISCARD of a restriction: the milter saw an abort",
	"M!5 a A00001 u1 u2\n"
	"L smtpd 7 NOQUEUE: discard: RCPT from c.test[192.0.2.1]:"
	" <u1@example.test>: x; from=<sender@example.net>"
	" to=<u1@example.test> proto=ESMTP helo=<c>\n"
	"L smtpd 7 A00001: client=c.test[192.0.2.1]\n" TICK,
	"discarded 2\n"
	"A00001: aborted u1=discarded/0 u2=discarded/0 +0\n"},
    {"DISCARD of a header check: the milter saw an abort",
	"M!6 a A00001 u1\n" IN("A00001")
	DISCARD("A00001") TICK,
	"discarded 1\nA00001: aborted u1=discarded/0 +0\n"},
    {"DISCARD by a later milter: we let it pass",
	"M a A00001 u1\n" IN("A00001")
	"L cleanup 8 A00001: milter-discard: END-OF-MESSAGE from"
	" c.test[192.0.2.1]: milter triggers DISCARD action;"
	" from=<sender@example.net> to=<u1@example.test> proto=ESMTP"
	" helo=<c>\n" TICK,
	"discarded 1\nA00001: accepted u1=discarded/0 +0\n"},
    {"REJECT by a later milter: a ghost",
	"M a A00001 u1\n" IN("A00001")
	"L cleanup 8 A00001: milter-reject: END-OF-MESSAGE from"
	" c.test[192.0.2.1]: 5.7.1 no; from=<sender@example.net>"
	" to=<u1@example.test> proto=ESMTP helo=<c>\n" TICK,
	"ghost 1\nA00001: accepted u1=ghost(refused)/0 +0\n"},
    {"a rejected recipient is not a rejected message",
	"M a A00001 u1 !u2\n" IN("A00001")
	"L smtpd 7 A00001: reject: RCPT from c.test[192.0.2.1]: 550 5.1.1"
	" <u2@example.test>: x; from=<sender@example.net>"
	" to=<u2@example.test> proto=ESMTP helo=<c>\n" ACTIVE("A00001")
	"D a A00001 u1=250\n" SENT("lmtp", "A00001", "u1", "250 Saved")
	REMOVED("A00001"),
	"delivered 1\nrefused at rcpt 5: 1\n"
	"A00001: accepted u1=delivered/1 u2=rejected/0 stamped +1\n"},
    {"cases 20 and 40: refused by stage, each once, whoever saw it",
	REFUSED("CONNECT", "554 5.7.1 go") REFUSED("EHLO", "504 5.5.2 x")
	REFUSED("HELO", "450 4.7.1 later") REFUSED("MAIL", "552 5.3.4 big")
	REFUSED("MAIL", "452 4.3.1 full") "M!3 a - !u1 !u2\n"
	REFUSED("RCPT", "550 5.7.1 no") REFUSED("RCPT", "550 5.1.1 who")
	REFUSED("DATA", "554 5.5.1 none") REFUSED("BDAT", "554 5.7.1 no")
	REFUSED("END-OF-MESSAGE", "554 5.7.1 spam")
	REFUSED("ETRN", "554 5.7.1 no") TICK,
	"refused at connect 5: 1\nrefused at helo 4: 1\n"
	"refused at helo 5: 1\nrefused at mail 4: 1\n"
	"refused at mail 5: 1\nrefused at rcpt 5: 2\n"
	"refused at data 5: 2\nrefused at eom 5: 1\n"
	"refused at other 5: 1\nknown 0\nlost 0\n"},
    {"case 40: refused for its content or at its end: not accepted, a ghost",
	"M!6 a A00001 u1\n" IN("A00001")
	"L cleanup 8 A00001: reject: header Subject: x; from=<a>: 4.0.0 from"
	" c.test[192.0.2.1]; from=<sender@example.net> to=<u1@example.test>"
	" proto=ESMTP helo=<c>: 5.7.1 y\n"
	"M b A00002 u1\n" IN("A00002")
	"L cleanup 8 A00002: milter-reject: END-OF-MESSAGE from"
	" c.test[192.0.2.1]: 4.7.1 no; from=<sender@example.net>"
	" to=<u1@example.test> proto=ESMTP helo=<c>\n"
	"M c A00003 u1\n" IN("A00003")
	"L smtpd 7 warning: A00003: queue file size limit exceeded\n"
	"L cleanup 8 warning: A00003: queue file size limit exceeded\n" TICK,
	"refused at content 5: 1\nrefused at eom 4: 1\n"
	"refused at eom 5: 1\nghost 2\nlost 0\n"},
    {"no refusal: warnings, other decisions, mail that did not come by SMTP",
	"L smtpd 7 NOQUEUE: reject_warning: RCPT from c.test[192.0.2.1]: 450"
	" 4.7.1 x; from=<a@a.test> to=<u1@example.test> proto=ESMTP"
	" helo=<c>\n"
	"L smtpd 7 NOQUEUE: filter: RCPT from c.test[192.0.2.1]: <x>: y;"
	" from=<a@a.test> to=<u1@example.test> proto=ESMTP helo=<c>\n"
	"L pickup 5 A00001: uid=0 from=<root>\n"
	"L cleanup 8 A00001: message-id=<1@c.test>\n"
	"L cleanup 8 A00001: reject: body x from local; from=<root>"
	" to=<u1@example.test>: 5.7.1 no\n"
	"L cleanup 8 warning: A00001: queue file size limit exceeded\n" TICK,
	"ghost 0\n"},
    {"case 19: from outside or submitted, to a mailbox or another host",
	"M a A00001 u1\n" IN("A00001") ACTIVE("A00001")
	"D a A00001 u1=250\n" SENT("lmtp", "A00001", "u1", "250 Saved")
	REMOVED("A00001")
	"M@ b A00002 u2 far\n" IN("A00002") ACTIVE("A00002")
	"D b A00002 u2=250\n" SENT("lmtp", "A00002", "u2", "250 Saved")
	SENT("smtp", "A00002", "far", "250 Ok") REMOVED("A00002")
	"M c A00003 far\n" IN("A00003") ACTIVE("A00003")
	DEFERRED("A00003", "far") SENT("smtp", "A00003", "far", "250 Ok")
	REMOVED("A00003")
	"M<b d A00004 u3\n" IN("A00004") ACTIVE("A00004")
	"D d A00004 u3=250\n" SENT("lmtp", "A00004", "u3", "250 Saved")
	REMOVED("A00004"),
	"delivered 3\nrelayed 2\ninbound 1\ninternal 2\n"},
    {"case 37: the discard transport, an alias to /dev/null",
	"M a A00001 u1 u2\n" IN("A00001") ACTIVE("A00001")
	TO("discard", "A00001", "u1", "relay=none, delay=0, dsn=2.0.0,"
	    " status=sent (x)")
	TO("local", "A00001", "u2", "relay=local, delay=0, dsn=2.0.0,"
	    " status=sent (delivered to file: /dev/null)")
	REMOVED("A00001"),
	"discarded 2\n"
	"A00001: accepted u1=discarded/0 u2=discarded/0 +2\n"},
    {"case 22: each agent's delivery is what it is",
	"M a A00001 u1 u2 u3 u4 u5\n" IN("A00001") ACTIVE("A00001")
	SENT("virtual", "A00001", "u1", "delivered to maildir")
	SENT("pipe", "A00001", "u2", "delivered via x service")
	SENT("local", "A00001", "u3", "delivered to mailbox")
	SENT("local", "A00001", "u4", "delivered to command: x")
	SENT("smtp", "A00001", "u5", "250 2.0.0 Ok: queued as ABC123")
	REMOVED("A00001"),
	"delivered 2\nrelayed 1\nhanded_off 2\n"
	"A00001: accepted u1=delivered/0 u2=handed_off/0 u3=delivered/0"
	" u4=handed_off/0 u5=relayed/0 +5\n"},
    {"REDIRECT: one recipient is left of all",
	"M!6 a A00001 u1 u2\n" IN("A00001")
	"L cleanup 8 A00001: redirect: header Subject: x from"
	" c.test[192.0.2.1]; from=<sender@example.net> to=<u1@example.test>"
	" proto=ESMTP helo=<c>: boss@example.test\n" ACTIVE("A00001")
	"D - A00001 boss=250\n"
	TO("lmtp", "A00001", "boss", "orig_to=<u1@example.test>, relay=r,"
	    " delay=1, dsn=2.0.0, status=sent (250 Saved)")
	REMOVED("A00001"),
	"known 3\ndelivered 1\nexpanded 1\nmerged 1\n"
	"A00001: aborted boss<u1=delivered/1 u1=expanded/0"
	" u2=merged(redirected)/0 queue_id +1\n"},
    {"an alias is continued by who it names",
	"M a A00001 list\n" IN("A00001") ACTIVE("A00001")
	"D a A00001 u1=250 u2=250\n"
	TO("lmtp", "A00001", "u1", "orig_to=<list@example.test>, relay=r,"
	    " delay=1, dsn=2.0.0, status=sent (250 Saved)")
	TO("lmtp", "A00001", "u2", "orig_to=<list@example.test>, relay=r,"
	    " delay=1, dsn=2.0.0, status=sent (250 Saved)")
	REMOVED("A00001"),
	"known 3\ndelivered 2\nexpanded 1\n"
	"A00001: accepted list=expanded/0 u1<list=delivered/1"
	" u2<list=delivered/1 stamped +2\n"},
    {"two ways to the same mailbox are two recipients",
	"M a A00001 u1 alias\n" IN("A00001") ACTIVE("A00001")
	"D a A00001 u1=250 u1=250\n"
	SENT("lmtp", "A00001", "u1", "250 Saved")
	TO("lmtp", "A00001", "u1", "orig_to=<alias@example.test>, relay=r,"
	    " delay=1, dsn=2.0.0, status=sent (250 Saved)")
	REMOVED("A00001"),
	"known 3\ndelivered 2\nexpanded 1\n"
	"A00001: accepted alias=expanded/0 u1<alias=delivered/1"
	" u1=delivered/1 stamped +2\n"},
    {"a canonical address is another name",
	"M a A00001 old\n" IN("A00001") ACTIVE("A00001")
	"D a A00001 new=250\n"
	TO("lmtp", "A00001", "new", "orig_to=<old@example.test>, relay=r,"
	    " delay=1, dsn=2.0.0, status=sent (250 Saved)")
	REMOVED("A00001"),
	"known 2\ndelivered 1\nexpanded 1\n"
	"A00001: accepted new<old=delivered/1 old=expanded/0 stamped +1\n"},
    {"five RCPTs, two recipients: duplicates are merged",
	"M a A00001 u1 U1 u2 U2 u3\n" IN("A00001") ACTIVE("A00001")
	"D a A00001 u1=250 u2=250\n"
	SENT("lmtp", "A00001", "u1", "250 Saved")
	SENT("lmtp", "A00001", "u2", "250 Saved") REMOVED("A00001"),
	"known 5\ndelivered 2\nmerged 3\n"
	"A00001: accepted U1=merged(duplicate)/0 U2=merged(duplicate)/0"
	" u1=delivered/1 u2=delivered/1 u3=merged(duplicate)/0 stamped +2\n"},
    {"reading begins again within a message, for the sake of another",
	"L smtpd 7 A00001: client=c.test[192.0.2.1]\n"
	"L smtpd 6 B00001: client=d.test[192.0.2.2]\n"
	"L cleanup 8 A00001: message-id=<1@c.test>\n" ACTIVE("A00001")
	SENT("smtp", "A00001", "u1", "250 ok") REMOVED("A00001")
	"L cleanup 8 B00001: message-id=<2@d.test>\n" ACTIVE("B00001")
	SENT("smtp", "B00001", "u2", "250 ok") REMOVED("B00001"),
	"known 2\nrelayed 2\nA00001: logged u1=relayed/0 +1\n"
	"B00001: logged u2=relayed/0 +1\n"},
    {"a gap in the log hid none of the recipients that the queue counted",
	"M a A00001 u1 u2 u3\n" IN("A00001") ACTIVE_FOR("A00001", "2") LOST
	SENT("smtp", "A00001", "u1", "250 ok")
	SENT("smtp", "A00001", "u2", "250 ok") REMOVED("A00001"),
	"known 3\nrelayed 2\nmerged 1\n"
	"A00001: accepted u1=relayed/0 u2=relayed/0 u3=merged(duplicate)/0"
	" +2\n"},
    {"it may have hidden one that nobody has told of",
	"M a A00001 u1 u2 u3\n" IN("A00001") ACTIVE_FOR("A00001", "3") LOST
	SENT("smtp", "A00001", "u1", "250 ok")
	SENT("smtp", "A00001", "u2", "250 ok") REMOVED("A00001"),
	"known 3\nrelayed 2\nunknown 1\n"
	"A00001: accepted u1=relayed/0 u2=relayed/0 u3=unknown(log_gap)/0"
	" +2\n"},
    {"until the hook tells of it",
	"M a A00001 u1 u2 u3 u4\n" IN("A00001") ACTIVE_FOR("A00001", "3") LOST
	SENT("smtp", "A00001", "u1", "250 ok")
	SENT("smtp", "A00001", "u2", "250 ok") REMOVED("A00001")
	"D a A00001 u3=250\n",
	"known 4\nrelayed 2\ndelivered 1\nmerged 1\n"
	"A00001: accepted u1=relayed/0 u2=relayed/0 u3=delivered/1"
	" u4=merged(duplicate)/0 stamped +2\n"},
    {"what local(8) made of a recipient is not counted",
	"M a A00001 team u2\n" IN("A00001") ACTIVE_FOR("A00001", "2") LOST
	TO("local", "A00001", "u3", "orig_to=<team@example.test>,"
	    " relay=local, delay=1, dsn=2.0.0, status=sent (delivered to"
	    " mailbox)")
	TO("local", "A00001", "u4", "orig_to=<team@example.test>,"
	    " relay=local, delay=1, dsn=2.0.0, status=sent (delivered to"
	    " mailbox)") REMOVED("A00001"),
	"known 4\ndelivered 2\nexpanded 1\nunknown 1\n"
	"A00001: accepted team=expanded/0 u2=unknown(log_gap)/0"
	" u3<team=delivered/0 u4<team=delivered/0 +2\n"},
    {"always_bcc adds a recipient",
	"M a A00001 u1\n" IN("A00001") ACTIVE("A00001")
	"D a A00001 u1=250 archive=250\n"
	SENT("lmtp", "A00001", "u1", "250 Saved")
	SENT("lmtp", "A00001", "archive", "250 Saved") REMOVED("A00001"),
	"known 2\ndelivered 2\n"
	"A00001: accepted archive=delivered/1 u1=delivered/1 stamped +2\n"},
    {"deleted by an administrator",
	"M a A00001 u1\n" IN("A00001") ACTIVE("A00001")
	DEFERRED("A00001", "u1") "L postsuper 12 A00001: removed\n"
	"L postsuper 12 Deleted: 1 message\n",
	"deleted 1\nA00001: accepted u1=deleted/0 +1\n"},
    {"all deleted by an administrator: nobody is named",
	"M a A00001 u1\n" IN("A00001") ACTIVE("A00001")
	DEFERRED("A00001", "u1") "L postsuper 12 Deleted: 5 messages\n",
	"open 1\nA00001: accepted u1=deferred/0 +1\n"},
    {"requeued: it goes on under another queue id",
	"M a A00001 u1 u2\n" IN("A00001") ACTIVE("A00001")
	"D a A00001 u1=250 u2=451\n"
	SENT("lmtp", "A00001", "u1", "250 Saved") DEFERRED("A00001", "u2")
	"L postsuper 12 A00001: requeued\n"
	"L pickup 13 B00001: uid=0 from=<sender@example.net>"
	" orig_id=A00001\n"
	"L cleanup 8 B00001: message-id=<1@c.test>\n" ACTIVE("B00001")
	"D a B00001 u2=250\n" SENT("lmtp", "B00001", "u2", "250 Saved")
	REMOVED("B00001"),
	"known 2\ndelivered 2\n"
	"A00001: accepted u1=delivered/1 u2=delivered/2 stamped stamped +3"
	" B00001\n"},
    {"case 34: forwarded by local(8), which is another copy",
	"M a A00001 u1\n" IN("A00001") ACTIVE("A00001")
	"L cleanup 8 B00001: message-id=<1@c.test>\n" ACTIVE("B00001")
	TO("local", "A00001", "u1", "relay=local, delay=0, dsn=2.0.0,"
	    " status=sent (forwarded as B00001)")
	REMOVED("A00001")
	TO("smtp", "B00001", "far", "orig_to=<u1@example.test>, relay=r,"
	    " delay=1, dsn=2.0.0, status=sent (250 Ok)")
	REMOVED("B00001"),
	"known 2\nrelayed 1\nexpanded 1\n"
	"A00001: accepted far<u1=relayed/0 u1=expanded/0 +2 B00001\n"},
    {"case 26: a content filter without a milter behind it",
	"M a A00001 u1\n" IN("A00001") ACTIVE("A00001")
	"L smtpd 7 B00001: client=localhost[127.0.0.1],"
	" orig_queue_id=A00001, orig_client=c.test[192.0.2.1]\n"
	"L cleanup 8 B00001: message-id=<1@c.test>\n" ACTIVE("B00001")
	TO("smtp", "A00001", "u1", "relay=127.0.0.1[127.0.0.1]:10025,"
	    " delay=1, dsn=2.0.0,"
	    " status=sent (250 2.0.0 Ok: queued as B00001)")
	REMOVED("A00001")
	"D a B00001 u1=250\n" SENT("lmtp", "B00001", "u1", "250 Saved")
	REMOVED("B00001"),
	"known 1\ndelivered 1\n"
	"A00001: accepted u1=delivered/1 stamped +2 B00001\n"},
    {"the same without XFORWARD",
	"M a A00001 u1\n" IN("A00001") ACTIVE("A00001")
	"L smtpd 7 B00001: client=localhost[127.0.0.1]\n"
	"L cleanup 8 B00001: message-id=<1@c.test>\n" ACTIVE("B00001")
	TO("smtp", "A00001", "u1", "relay=127.0.0.1[127.0.0.1]:10025,"
	    " delay=1, dsn=2.0.0,"
	    " status=sent (250 2.0.0 Ok: queued as B00001)")
	REMOVED("A00001")
	"D a B00001 u1=250\n" SENT("lmtp", "B00001", "u1", "250 Saved")
	REMOVED("B00001"),
	"known 1\ndelivered 1\n"
	"A00001: accepted u1=delivered/1 stamped +2 B00001\n"},
    {"a content filter with the milter behind it: two messages",
	"M a A00001 u1\n" IN("A00001") ACTIVE("A00001") "M<a b B00001 u1\n"
	"L smtpd 7 B00001: client=localhost[127.0.0.1],"
	" orig_queue_id=A00001, orig_client=c.test[192.0.2.1]\n"
	"L cleanup 8 B00001: message-id=<1@c.test>\n" ACTIVE("B00001")
	TO("smtp", "A00001", "u1", "relay=127.0.0.1[127.0.0.1]:10025,"
	    " delay=1, dsn=2.0.0,"
	    " status=sent (250 2.0.0 Ok: queued as B00001)")
	REMOVED("A00001")
	"D b B00001 u1=250\n" SENT("lmtp", "B00001", "u1", "250 Saved")
	REMOVED("B00001"),
	"known 2\ndelivered 1\nhanded_off 1\n"
	"A00001: accepted u1=handed_off/0 +1\n"
	"B00001: accepted u1=delivered/1 stamped +1 previous\n"},
    {"relayed by another instance with the same log",
	"M a A00001 u1\n" IN("A00001") ACTIVE("A00001")
	"L:out smtpd 7 B00001: client=localhost[127.0.0.1]\n"
	"L:out qmgr 9 B00001: from=<x@y.test>, size=500, nrcpt=1"
	" (queue active)\n"
	TO("smtp", "A00001", "u1", "relay=127.0.0.1[127.0.0.1]:25,"
	    " delay=1, dsn=2.0.0,"
	    " status=sent (250 2.0.0 Ok: queued as B00001)")
	REMOVED("A00001")
	"L:out discard 9 B00001: to=<u1@example.test>, relay=none, delay=1,"
	" dsn=2.0.0, status=sent (x)\n"
	"L:out qmgr 9 B00001: removed\n" TICK,
	"known 2\nrelayed 1\ndiscarded 1\n"
	"A00001: accepted u1=relayed/0 +1\n"
	"B00001: logged u1=discarded/0 +1\n"},
    {"case 41: a queue id used again after removed",
	"M a A00001 u1\n" IN("A00001") ACTIVE("A00001")
	"D a A00001 u1=250\n" SENT("lmtp", "A00001", "u1", "250 Saved")
	REMOVED("A00001") "S 60\n"
	"M b A00001 u2\n" IN("A00001") ACTIVE("A00001")
	BOUNCED("A00001", "u2") REMOVED("A00001"),
	"known 2\ndelivered 1\nbounced 1\n"
	"A00001: accepted u2=bounced/0 +1\n"
	"A00001: accepted u1=delivered/1 stamped +1\n"},
    {"the same, the first one without a milter",
	IN("A00001") ACTIVE("A00001")
	SENT("smtp", "A00001", "u1", "250 Ok") REMOVED("A00001") "S 60\n"
	"M b A00001 u2\n" IN("A00001") ACTIVE("A00001")
	BOUNCED("A00001", "u2") REMOVED("A00001"),
	"known 2\nbounced 1\nrelayed 1\n"
	"A00001: accepted u2=bounced/0 +1\n"
	"A00001: logged u1=relayed/0 +1\n"},
    {"case 41: a queue id used again after DISCARD",
	"M!6 a A00001 u1\n" IN("A00001") DISCARD("A00001") "S 60\n"
	"M b A00001 u2\n" IN("A00001") ACTIVE("A00001")
	BOUNCED("A00001", "u2") REMOVED("A00001"),
	"known 2\nbounced 1\ndiscarded 1\n"
	"A00001: accepted u2=bounced/0 +1\n"
	"A00001: aborted u1=discarded/0 +0\n"},
    {"the same, the first one without a milter",
	"L smtpd 7 A00001: client=c.test[192.0.2.1]\n"
	"L smtpd 7 A00001: discard: RCPT from c.test[192.0.2.1]:"
	" <u1@example.test>: x; from=<sender@example.net>"
	" to=<u1@example.test> proto=ESMTP helo=<c>\n" "S 60\n"
	"M b A00001 u2\n" IN("A00001") ACTIVE("A00001")
	BOUNCED("A00001", "u2") REMOVED("A00001"),
	"known 2\nbounced 1\ndiscarded 1\n"
	"A00001: accepted u2=bounced/0 +1\n"
	"A00001: logged u1=discarded/0 +0\n"},
    {"case 41: a queue id used again after an abort",
	"M!5 a A00001 u1\n" IN("A00001") "S 60\n"
	"M b A00001 u2\n" IN("A00001") ACTIVE("A00001")
	BOUNCED("A00001", "u2") REMOVED("A00001"),
	"known 1\nbounced 1\nopen 0\n"
	"A00001: accepted u2=bounced/0 +1\n"
	"A00001: aborted u1=aborted/0 +0\n"},
    {"case 41: a queue id used again for REDIRECT, removed unheard",
	"M a A00001 u1\n" IN("A00001") ACTIVE("A00001")
	SENT("lmtp", "A00001", "u1", "250 Saved") "S 60\n"
	IN("A00001")
	"L cleanup 8 A00001: redirect: header Subject: x from"
	" c.test[192.0.2.1]; from=<sender@example.net> to=<u2@example.test>"
	" proto=ESMTP helo=<c>: other@example.test\n"
	"M!6 b A00001 u2\n" ACTIVE("A00001")
	SENT("lmtp", "A00001", "other", "250 Saved") REMOVED("A00001"),
	"known 3\ndelivered 2\nmerged 1\n"
	"A00001: aborted other=delivered/0 u2=merged(redirected)/0 +1\n"
	"A00001: accepted u1=delivered/0 +1\n"},
    {"case 13: two instances with the same queue id",
	"M a A00001 u1\n" IN("A00001") ACTIVE("A00001")
	"L:out smtpd 7 A00001: client=c.test[192.0.2.1]\n"
	"L:out qmgr 9 A00001: from=<x@y.test>, size=500, nrcpt=1"
	" (queue active)\n"
	"L:out smtp 9 A00001: to=<z@z.test>, relay=r[192.0.2.9]:25, delay=1,"
	" dsn=2.0.0, status=sent (250 Ok)\n"
	BOUNCED("A00001", "u1") REMOVED("A00001")
	"L:out qmgr 9 A00001: removed\n",
	"bounced 1\nrelayed 1\n"
	"A00001: accepted u1=bounced/0 +1\n"
	"A00001: logged z=relayed/0 +1\n"},
    {"mail that the milter did not see",
	IN("A00001") ACTIVE("A00001") "D - A00001 u1=250 u2=451\n"
	SENT("lmtp", "A00001", "u1", "250 Saved") DEFERRED("A00001", "u2"),
	"known 2\ndelivered 1\nopen 1\n"
	"A00001: logged u1=delivered/1 u2=deferred/1 queue_id +2\n"},
    {"the same, read again because of somebody who takes his time",
	"L smtpd 6 C00001: client=slow.test[192.0.2.2]\n"
	IN("A00001") ACTIVE("A00001") "D - A00001 u1=250\n"
	SENT("lmtp", "A00001", "u1", "250 Saved") REMOVED("A00001")
	IN("B00001") ACTIVE("B00001") "S 20\nD - B00001 u2=250\n"
	SENT("lmtp", "B00001", "u2", "250 Saved") REMOVED("B00001"),
	"known 2\ndelivered 2\n"
	"A00001: logged u1=delivered/1 queue_id +1\n"
	"B00001: logged u2=delivered/1 queue_id +1\n"},
    {"mail of sendmail(1) that the milter did not see",
	"L pickup 13 A00001: uid=0 from=<root>\n"
	"L cleanup 8 A00001: message-id=<1@mx.test>\n" ACTIVE("A00001")
	SENT("lmtp", "A00001", "u1", "250 Saved") REMOVED("A00001"),
	"known 1\ndelivered 1\nA00001: logged u1=delivered/0 +1\n"},
    {"a probe is no mail",
	"L cleanup 8 A00001: message-id=<1@mx.test>\n" ACTIVE("A00001")
	TO("smtp", "A00001", "u1", "relay=r, delay=1, dsn=2.1.5,"
	    " status=deliverable (250 Ok)")
	REMOVED("A00001"),
	"known 0\nopen 0\n"},
    {"a probe that the milter saw as mail ends as nothing",
	"M a A00001 u1\n"
	"L pickup 13 A00001: uid=0 from=<root>\n"
	"L cleanup 8 A00001: message-id=<1@mx.test>\n" ACTIVE("A00001")
	TO("lmtp", "A00001", "u1", "relay=r, delay=1, dsn=2.1.5,"
	    " status=deliverable (250 Ok)")
	REMOVED("A00001"),
	"known 1\ndiscarded 1\nA00001: accepted u1=discarded/0 +1\n"},
    {"what seemed aborted is delivered",
	"M!6 a A00001 u1\n" IN("A00001") ACTIVE("A00001")
	"D - A00001 u1=250\n" SENT("lmtp", "A00001", "u1", "250 Saved")
	REMOVED("A00001"),
	"known 1\ndelivered 1\n"
	"A00001: aborted u1=delivered/1 queue_id +1\n"},
    {"a corrupt queue file",
	"M a A00001 u1\n" IN("A00001") ACTIVE("A00001")
	"L qmgr 9 warning: saving corrupt file \"A00001\" from queue"
	" \"active\" to queue \"corrupt\"\n",
	"lost 1\nA00001: accepted u1=lost(corrupt)/0 +0\n"},
    {"a log that begins in the middle",
	SENT("lmtp", "A00001", "u1", "250 Saved") REMOVED("A00001")
	REMOVED("B00001") TICK,
	"known 1\ndelivered 1\nA00001: logged u1=delivered/0 +1\n"},
    {"the log says delivered, the hook was not asked",
	"M a A00001 u1\n" IN("A00001") ACTIVE("A00001")
	SENT("lmtp", "A00001", "u1", "250 Saved") REMOVED("A00001"),
	"delivered 1\nA00001: accepted u1=delivered/0 +1\n"},
};
/* clang-format on */

static void
assert_lines(const struct scenario *scenario, const char *dump)
{
	char *lines = strdup(scenario->lines), *rest = NULL;

	for (char *line = strtok_r(lines, "\n", &rest); line != NULL;
	     line = strtok_r(NULL, "\n", &rest))
		if (strstr(dump, line) == NULL)
			fail_msg(
			    "%s: no \"%s\" in\n%s", scenario->name, line, dump);
	free(lines);
}

static void
read_scenario(struct script *script, const struct scenario *scenario)
{
	struct buffer text = {.data = NULL};

	buffer_append_format(&text, "I 50\n%s", scenario->script);
	buffer_append(&text, "", 1);
	script_read(script, (const char *)text.data);
	buffer_free(&text);
}

/* Small, and the same everywhere. */
static uint32_t
random_below(uint32_t *state, uint32_t limit)
{
	*state = *state * 1664525 + 1013904223;
	return (*state >> 8) % limit;
}

/* The next step of a source; NULL: none is left. */
static const struct step *
next_step(const struct world *world, const struct script *script, int journal)
{
	for (size_t i = 0; i < script->count; i++)
		if (script->steps[i].journal == journal &&
		    !world_is_past(world, &script->steps[i]))
			return &script->steps[i];
	return NULL;
}

/* Sources lag: as long as others have something, that one may have none. */
static const struct step *
choose_step(const struct world *world, const struct script *script, int lagging,
    uint32_t *seed)
{
	int first = (int)random_below(seed, JOURNALS);
	const struct step *step = NULL;

	for (int i = 0; i < JOURNALS && step == NULL; i++)
		if ((first + i) % JOURNALS != lagging)
			step = next_step(world, script, (first + i) % JOURNALS);
	if (step == NULL && lagging < JOURNALS)
		step = next_step(world, script, lagging);
	return step;
}

/* Reads on in random turns. Returns false when it was killed. */
static bool
read_on(struct world *world, const struct script *script, int lagging,
    uint32_t *seed)
{
	const struct step *step;

	while ((step = choose_step(world, script, lagging, seed)) != NULL) {
		world_apply(world, step);
		if (random_below(seed, 4) == 0)
			world_commit(world);
		if (random_below(seed, 15) == 0)
			return false;
	}
	return true;
}

static void
read_again(struct world *world)
{
	store_rollback(world->store);
	world_close(world);
	world_open(world);
}

static char *
dump_interleaved(const struct script *script, uint32_t seed)
{
	int lagging = (int)(seed % (JOURNALS + 1));
	struct world world;
	char *dump;

	world_begin_reading(&world, true);
	while (!read_on(&world, script, lagging, &seed))
		read_again(&world);
	world_expire(&world);
	world_commit(&world);
	dump = log_dump(&world, script);
	world_end(&world);
	return dump;
}

static char *
dump_in_order(const struct script *script, int64_t precision_ns)
{
	struct world world;
	char *dump;

	world_begin_reading(&world, true);
	world.precision_ns = precision_ns;
	for (size_t i = 0; i < script->count; i++)
		world_apply(&world, &script->steps[i]);
	world_expire(&world);
	world_commit(&world);
	dump = log_dump(&world, script);
	world_end(&world);
	return dump;
}

static void
each_scenario_comes_out_as_it_should(void **state)
{
	static struct script script;

	for (size_t i = 0; i < COUNT(scenarios); i++) {
		char *dump;

		read_scenario(&script, &scenarios[i]);
		dump = dump_in_order(&script, 0);
		assert_lines(&scenarios[i], dump);
		free(dump);
		dump = dump_in_order(&script, SECOND_NS);
		assert_lines(&scenarios[i], dump);
		free(dump);
		script_free(&script);
	}
}

static void
however_it_is_read_the_end_is_the_same(void **state)
{
	static struct script script;

	for (size_t i = 0; i < COUNT(scenarios); i++) {
		char *wanted;

		read_scenario(&script, &scenarios[i]);
		wanted = dump_in_order(&script, 0);
		for (uint32_t seed = 0; seed < INTERLEAVINGS; seed++) {
			char *got = dump_interleaved(&script, seed);

			if (strcmp(got, wanted) != 0)
				fail_msg("%s, %u:\n%s\ninstead of\n%s",
				    scenarios[i].name, seed, got, wanted);
			free(got);
		}
		free(wanted);
		script_free(&script);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_scenario_comes_out_as_it_should),
	    cmocka_unit_test(however_it_is_read_the_end_is_the_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
