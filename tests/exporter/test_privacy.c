/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is kept of addresses and of texts that name them (I9), and that what the
 * join compares is as alike or different as it was.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/reason.h"
#include "exporter/join/address.h"
#include "exporter/privacy/privacy_line.h"
#include "exporter/privacy/privacy.h"
#include "store/pseudonym.h"

#include "tests/lib/unit.h"

static struct pseudonym_key *key;
static char directory[] = "/tmp/postlag-privacy-XXXXXX";

static const char *
finish(struct buffer *out)
{
	buffer_append(out, "", 1);
	return (const char *)out->data;
}

/* Only one result at a time is looked at, of two buffers in turn. */
static struct buffer *
next_buffer(void)
{
	static struct buffer buffers[4];
	static unsigned turn;
	struct buffer *out = &buffers[turn++ % 4];

	buffer_clear(out);
	return out;
}

static const char *
address(enum privacy_mode mode, enum privacy_role role, const char *text)
{
	const struct privacy privacy = {mode, key};
	struct buffer *out = next_buffer();

	privacy_address(&privacy, role, maillog_view_of(text), out);
	return finish(out);
}

static const char *
text_of(enum privacy_mode mode, const char *text, const char *name)
{
	const struct privacy privacy = {mode, key};
	const struct privacy_names names = {{maillog_view_of(name)}};
	struct buffer *out = next_buffer();

	privacy_text(&privacy, maillog_view_of(text), &names, out);
	return finish(out);
}

/* `wanted` is what `domain` leaves of others' addresses. */
static const struct {
	const char *text, *wanted;
} addresses[] = {
    {"alice@x.example", "*@x.example"},
    {"", ""},
    {"root", "*"},
    {"\"a b@c\"@x.example", "*@x.example"},
    {"@relay.example:bob@y.example", "*@y.example"},
    {"@x.example", "@x.example"},
    {"bounce+alice=x.example@lists.example", "*@lists.example"},
    {"alice@", "*@"},
    {"gr\303\274n@x.example", "*@x.example"},
};

static void
domain_leaves_the_domain(void **state)
{
	for (size_t i = 0; i < COUNT(addresses); i++) {
		assert_row_string(i,
		    address(PRIVACY_DOMAIN, PRIVACY_OTHERS, addresses[i].text),
		    addresses[i].wanted);
		assert_row_string(i,
		    address(PRIVACY_FULL, PRIVACY_OTHERS, addresses[i].text),
		    addresses[i].text);
	}
}

static void
recipients_of_one_domain_stay_apart(void **state)
{
	const char *alice =
	    address(PRIVACY_DOMAIN, PRIVACY_RECIPIENT, "alice@x.example");
	const char *bob =
	    address(PRIVACY_DOMAIN, PRIVACY_RECIPIENT, "bob@x.example");

	assert_int_equal(alice[0], '*');
	assert_string_not_equal(alice, bob);
	assert_string_equal(strchr(alice, '@'), "@x.example");
	assert_int_equal(strlen(alice), strlen("*abcdefgh@x.example"));
}

static const char *const alike[] = {"alice@x.example", "Alice@x.example",
    "ALICE@X.example", "alice@X.EXAMPLE", "alicf@x.example", "alice@y.example",
    "alice", "Alice", "\"alice\"@x.example", "a@x.example", "b@x.example"};

/* So duplicates are suppressed, lines are matched, and fates are the same. */
static void
addresses_are_as_alike_as_before(void **state)
{
	static const enum privacy_mode modes[] = {PRIVACY_DOMAIN, PRIVACY_HASH};
	char left[64];

	for (size_t m = 0; m < COUNT(modes); m++)
		for (size_t i = 0; i < COUNT(alike); i++)
			for (size_t j = 0; j < COUNT(alike); j++) {
				snprintf(left, sizeof(left), "%s",
				    address(
					modes[m], PRIVACY_RECIPIENT, alike[i]));
				assert_row(i * COUNT(alike) + j,
				    address_likeness(left,
					address(modes[m], PRIVACY_RECIPIENT,
					    alike[j])) ==
					address_likeness(alike[i], alike[j]));
			}
}

/* The option was changed while mail was under way: no recipient is taken for
 * another one, in any direction. */
static void
addresses_are_as_alike_in_different_forms(void **state)
{
	char left[64];

	for (unsigned a = PRIVACY_FULL; a <= PRIVACY_HASH; a++)
		for (unsigned b = PRIVACY_FULL; b <= PRIVACY_HASH; b++)
			for (size_t i = 0; i < COUNT(alike) * COUNT(alike);
			     i++) {
				const char *one = alike[i / COUNT(alike)];
				const char *other = alike[i % COUNT(alike)];

				snprintf(left, sizeof(left), "%s",
				    address((enum privacy_mode)a,
					PRIVACY_RECIPIENT, one));
				address_use_key(key);
				assert_row(
				    i, address_likeness(left,
					   address((enum privacy_mode)b,
					       PRIVACY_RECIPIENT, other)) ==
					   address_likeness(one, other));
				address_use_key(NULL);
			}
}

/* The log may leave out the domain of an original address. */
static void
the_local_part_alone_is_the_beginning_of_the_whole(void **state)
{
	static const enum privacy_mode modes[] = {PRIVACY_DOMAIN, PRIVACY_HASH};

	for (size_t i = 0; i < COUNT(modes); i++) {
		const char *local =
		    address(modes[i], PRIVACY_RECIPIENT, "root");
		const char *whole =
		    address(modes[i], PRIVACY_RECIPIENT, "root@x.example");

		assert_row(i, strncmp(local, whole, strlen(local)) == 0);
		assert_row(i, whole[strlen(local)] == '@');
	}
}

/* Whom a text is about is `alice@x.example`; # stands for her mark. */
static const struct {
	const char *text, *wanted;
} texts[] = {
    {"250 2.0.0 <alice@x.example> KqcXB Saved",
	"250 2.0.0 <#@x.example> KqcXB Saved"},
    {"550 5.1.1 <bob@y.example>: Recipient address rejected: User unknown",
	"550 5.1.1 <*@y.example>: Recipient address rejected: User unknown"},
    {"host mx.y.example[192.0.2.1] said: 550 5.1.1 <ALICE@x.example> no "
     "(in reply to RCPT TO command)",
	"host mx.y.example[192.0.2.1] said: 550 5.1.1 <#@x.example> no "
	"(in reply to RCPT TO command)"},
    {"unknown user: \"alice\"", "unknown user: \"#\""},
    {"User doesn't exist: Alice", "User doesn't exist: #"},
    {"delivered to file: /home/alice/Mailbox",
	"delivered to file: /home/#/Mailbox"},
    {"malice aforethought, alices", "malice aforethought, alices"},
    {"see http://spf.example/why?s=mfrom;id=bob%40y.example;ip=192.0.2.1",
	"see http://spf.example/why?s=mfrom;*%40y.example;ip=192.0.2.1"},
    {"\"bob smith\"@y.example and bob@y.example",
	"*@y.example and *@y.example"},
    {"rfc822;bob@y.example,mailto:bob@z.example",
	"rfc822;*@y.example,mailto:*@z.example"},
    {"@ alone, @y.example, <>, a @ b", "@ alone, @y.example, <>, a @ b"},
    {"a@b@c@", "*@*@*@"},
    {"line\nbob@y.example\nline", "line\n*@y.example\nline"},
    {"250 2.0.0 Ok: queued as 4XyZ", "250 2.0.0 Ok: queued as 4XyZ"},
    {"550 5.1.1 <bob-has-a-long-na", "550 5.1.1 <*"},
    {"<>", "<>"},
    {"<", "<"},
    {"", ""},
};

static void
addresses_in_texts_are_replaced(void **state)
{
	char mark[16];

	snprintf(mark, sizeof(mark), "%s",
	    address(PRIVACY_DOMAIN, PRIVACY_RECIPIENT, "alice"));
	for (size_t i = 0; i < COUNT(texts); i++) {
		char wanted[512] = "";
		const char *from = texts[i].wanted, *hole;

		for (; (hole = strchr(from, '#')) != NULL; from = hole + 1)
			snprintf(wanted + strlen(wanted),
			    sizeof(wanted) - strlen(wanted), "%.*s%s",
			    (int)(hole - from), from, mark);
		snprintf(wanted + strlen(wanted),
		    sizeof(wanted) - strlen(wanted), "%s", from);
		/* A mark has its name's case. */
		assert_row(i, strcasecmp(text_of(PRIVACY_DOMAIN, texts[i].text,
					     "alice@x.example"),
				  wanted) == 0);
		assert_row_string(i,
		    text_of(PRIVACY_FULL, texts[i].text, "alice@x.example"),
		    texts[i].text);
	}
}

/* A mailbox that bears the name of what Postfix says. */
static void
words_that_decide_a_fate_stay(void **state)
{
	static const char *const rows[][2] = {
	    {"forwarded as 4XyZ", "forwarded@x.example"},
	    {"250 2.0.0 Ok: queued as 4XyZ", "queued@x.example"},
	    {"delivered to command: /bin/true", "command@x.example"},
	    {"550 5.1.1 no", "550@x.example"},
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		assert_row_string(i,
		    text_of(PRIVACY_HASH, rows[i][0], rows[i][1]), rows[i][0]);
}

static const char *
line_of(enum privacy_mode mode, const char *tag, const char *text,
    struct log_record *record_r)
{
	const struct privacy privacy = {mode, key};
	struct buffer *out = next_buffer();
	const struct privacy_place place = {&privacy, NULL, out};

	*record_r = (struct log_record){.gap = LOG_GAP_NONE};
	maillog_line_set_tag(&record_r->line, maillog_view_of(tag));
	record_r->line.text = maillog_view_of(text);
	maillog_record_parse(&record_r->line, &record_r->record);
	privacy_line(&place, record_r);
	return finish(out);
}

static void
a_line_reads_as_before_but_for_addresses(void **state)
{
	static const char text[] =
	    "ABCDEF123: to=<alice@x.example>, orig_to=<team>, "
	    "relay=mx.x.example[192.0.2.1]:25, delay=1, delays=0/0/0/1, "
	    "dsn=5.1.1, status=bounced (host mx.x.example[192.0.2.1] said: 550 "
	    "5.1.1 <alice@x.example>: no such user \"team\" (in reply to RCPT "
	    "TO command))";
	struct log_record record;
	const char *written;

	written = line_of(PRIVACY_HASH, "postfix/smtp", text, &record);
	assert_int_equal(record.record.kind, MAILLOG_DELIVERY);
	assert_int_equal(record.record.status, MAILLOG_BOUNCED);
	assert_null(strstr(written, "alice"));
	assert_null(strstr(written, "team"));
	assert_non_null(strstr(written, "@x.example>, orig_to=<~"));
	assert_true(maillog_view_equal(record.record.fields[MAILLOG_RELAY],
	    maillog_view_of("mx.x.example[192.0.2.1]:25")));
	assert_int_equal(
	    record.record.fields[MAILLOG_TO].size, strlen("@x.example") + 17);
}

static void
queue_ids_and_sessions_in_replies_stay(void **state)
{
	struct log_record record;

	line_of(PRIVACY_HASH, "postfix/smtp",
	    "ABCDEF123: to=<abcdef@x.example>, relay=a, delay=1, dsn=2.0.0, "
	    "status=sent (250 2.0.0 Ok: queued as ABCDEF)",
	    &record);
	assert_true(
	    maillog_view_equal(record.record.fields[MAILLOG_NEW_QUEUE_ID],
		maillog_view_of("ABCDEF")));
	line_of(PRIVACY_HASH, "postfix/smtp",
	    "ABCDEF123: to=<kqcxb@x.example>, relay=a, delay=1, dsn=2.0.0, "
	    "status=sent (250 2.0.0 <kqcxb@x.example> kqcxb Saved)",
	    &record);
	assert_true(maillog_view_equal(
	    record.record.fields[MAILLOG_SESSION], maillog_view_of("kqcxb")));
}

static void
a_message_id_is_no_address(void **state)
{
	struct log_record record;

	line_of(PRIVACY_HASH, "postfix/cleanup",
	    "ABCDEF123: message-id=<1@x.example>", &record);
	assert_true(
	    maillog_view_equal(record.record.fields[MAILLOG_MESSAGE_ID_TEXT],
		maillog_view_of("<1@x.example>")));
}

static void
a_key_is_made_once(void **state)
{
	struct pseudonym_key *again, *none;
	struct reason reason;
	char first[PSEUDONYM_LETTERS], second[PSEUDONYM_LETTERS];

	assert_int_equal(
	    pseudonym_key_open(directory, true, &again, &reason), 1);
	pseudonym(key, "alice", 5, first, sizeof(first));
	pseudonym(again, "alice", 5, second, sizeof(second));
	assert_memory_equal(first, second, sizeof(first));
	pseudonym_key_free(&again);
	assert_int_equal(
	    pseudonym_key_open("/nonexistent", false, &none, &reason), 0);
}

static int
begin(void **state)
{
	struct reason reason;

	assert_non_null(mkdtemp(directory));
	return pseudonym_key_open(directory, true, &key, &reason) == 1 ? 0 : -1;
}

static int
end(void **state)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/address.key", directory);
	pseudonym_key_free(&key);
	return unlink(path) == 0 ? rmdir(directory) : -1;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(domain_leaves_the_domain),
	    cmocka_unit_test(recipients_of_one_domain_stay_apart),
	    cmocka_unit_test(addresses_are_as_alike_as_before),
	    cmocka_unit_test(addresses_are_as_alike_in_different_forms),
	    cmocka_unit_test(
		the_local_part_alone_is_the_beginning_of_the_whole),
	    cmocka_unit_test(addresses_in_texts_are_replaced),
	    cmocka_unit_test(words_that_decide_a_fate_stay),
	    cmocka_unit_test(a_line_reads_as_before_but_for_addresses),
	    cmocka_unit_test(queue_ids_and_sessions_in_replies_stay),
	    cmocka_unit_test(a_message_id_is_no_address),
	    cmocka_unit_test(a_key_is_made_once),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
