/* SPDX-License-Identifier: BSD-2-Clause */
/* The messages in memory: found by every name, counted, and small. */
#include "exporter/join/open_messages.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "exporter/join/fate.h"
#include "exporter/join/slot_table.h"
#include "tests/lib/unit.h"

#define SECOND CLOCK_NS_PER_SECOND
#define BEGIN_NS (INT64_C(1800000000) * SECOND)

struct names {
	char queue_id[20];
	char address[40];
};

/* As long as usual: a long queue id, an address of 28 characters. */
static void
name(unsigned number, struct names *names)
{
	snprintf(names->queue_id, sizeof(names->queue_id), "4fXJd9%04xzK%03x",
	    number & 0xffff, number >> 16);
	snprintf(names->address, sizeof(names->address),
	    "user%07u@mail.example.org", number);
}

static struct tracked *
add(struct open_messages *messages, unsigned number)
{
	struct names names;
	struct open_recipient recipient = {
	    .address = names.address,
	    .state = RECIPIENT_DEFERRED,
	};
	struct open_message message = {
	    .id = uuid_new(BEGIN_NS),
	    .instance = number % 2 == 0 ? "mx.example.org" : "out.example.org",
	    .queue_id = names.queue_id,
	    .mail_at = {BEGIN_NS + number, 1},
	    .recipients = &recipient,
	    .recipient_count = 1,
	};

	name(number, &names);
	return open_messages_add(messages, &message);
}

static struct tracked *
find(struct open_messages *messages, unsigned number, int64_t before_ns)
{
	struct names names;
	struct queue_id_key key = {
	    number % 2 == 0 ? "mx.example.org" : "out.example.org",
	    names.queue_id, before_ns};

	name(number, &names);
	return open_messages_find_queue_id(messages, &key, NULL, NULL);
}

static void
set_state(struct open_messages *messages, struct tracked *tracked,
    enum recipient_state state)
{
	const struct recipient_change change = {.number = 0, .state = state};

	tracked_set_recipient(messages, tracked, NULL, &change);
	open_messages_settle(messages, tracked);
}

static void
all_are_found_by_id_and_queue_id(void **state)
{
	enum { COUNT_OF_MESSAGES = 5000 };
	static struct tracked *all[COUNT_OF_MESSAGES];
	struct open_messages *messages = open_messages_new(0);

	for (unsigned i = 0; i < COUNT_OF_MESSAGES; i++)
		all[i] = add(messages, i);
	for (unsigned i = 0; i < COUNT_OF_MESSAGES; i += 3)
		set_state(messages, all[i], RECIPIENT_DELIVERED);
	for (unsigned i = 0; i < COUNT_OF_MESSAGES; i++) {
		if (i % 3 == 0) {
			assert_null(find(messages, i, INT64_MAX));
			continue;
		}
		assert_ptr_equal(find(messages, i, INT64_MAX), all[i]);
		assert_null(find(messages, i, BEGIN_NS - 1));
		assert_ptr_equal(
		    open_messages_find(messages, &tracked_message(all[i])->id),
		    all[i]);
	}
	assert_int_equal(open_messages_figures(messages).messages,
	    COUNT_OF_MESSAGES - (COUNT_OF_MESSAGES + 2) / 3);
	open_messages_free(&messages);
}

static void
case_44_the_latest_claim_on_a_queue_id_counts(void **state)
{
	struct open_messages *messages = open_messages_new(10);
	struct tracked *first = add(messages, 2), *second;
	struct queue_id_claim claim = {
	    "mx.example.org", "4fXJd90002zK000", BEGIN_NS + 100};

	second = add(messages, 4);
	tracked_add_queue_id(messages, second, &claim);
	assert_ptr_equal(find(messages, 2, BEGIN_NS + 99), first);
	assert_ptr_equal(find(messages, 2, BEGIN_NS + 100), second);
	assert_ptr_equal(find(messages, 4, INT64_MAX), second);
	claim.instance = "out.example.org";
	claim.since_wall_ns = BEGIN_NS + 200;
	tracked_add_queue_id(messages, second, &claim);
	assert_ptr_equal(find(messages, 2, BEGIN_NS + 300), second);
	set_state(messages, first, RECIPIENT_DELIVERED);
	set_state(messages, second, RECIPIENT_DELIVERED);
	open_messages_free(&messages);
}

static void
recipients_may_be_added_to_any_message(void **state)
{
	struct open_messages *messages = open_messages_new(10);
	const struct open_message bare = {
	    .id = uuid_new(BEGIN_NS), .instance = "mx"};
	struct tracked *all[2] = {
	    open_messages_add(messages, &bare), add(messages, 1)};

	for (unsigned i = 0; i < 20; i++)
		for (unsigned j = 0; j < COUNT(all); j++) {
			struct recipient_change change = {
			    .number = i + j,
			    .state = RECIPIENT_IN_FLIGHT,
			    .original = "alias@example.org",
			};
			char address[40];

			snprintf(address, sizeof(address), "u%u@x", i);
			tracked_set_recipient(
			    messages, all[j], address, &change);
			change.original = "other@example.org";
			tracked_set_recipient(messages, all[j], NULL, &change);
		}
	for (unsigned j = 0; j < COUNT(all); j++) {
		const struct open_message *message = tracked_message(all[j]);

		assert_int_equal(message->recipient_count, 20 + j);
		assert_string_equal(
		    message->recipients[19 + j].address, "u19@x");
		assert_string_equal(
		    message->recipients[19 + j].original, "other@example.org");
	}
	open_messages_clear(messages);
	assert_int_equal(open_messages_figures(messages).messages, 0);
	open_messages_free(&messages);
}

static void
a_slot_table_is_what_a_list_is(void **state)
{
	enum { ITEMS = 400 };
	static char items[ITEMS];
	static bool present[ITEMS];
	struct slot_table table = {.slots = NULL};
	size_t count = 0;

	srand(1);
	for (unsigned step = 0; step < 100000; step++) {
		unsigned i = (unsigned)rand() % ITEMS;
		/* Hashes collide and wrap. */
		uint32_t hash = i % 50 * 1000003u + (i % 3 == 0 ? ~0u : 0);
		const struct slot *slot;
		size_t at = 0;

		while ((slot = slot_table_find(&table, hash, &at)) != NULL)
			if (slot->item == &items[i])
				break;
		assert_int_equal(slot != NULL, present[i]);
		if (slot != NULL) {
			assert_int_equal(slot->number, i);
			slot_table_remove(&table, slot);
			count--;
		} else {
			slot_table_add(
			    &table, (struct slot){&items[i], i, hash});
			count++;
		}
		present[i] = !present[i];
		assert_int_equal(table.count, count);
	}
	slot_table_free(&table);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_MALLINFO false
#else
#define HAS_MALLINFO true
#endif

static size_t
bytes_in_use(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

/* Must show 10. */
static void
an_open_message_takes_400_bytes_at_most(void **state)
{
	unsigned count = getenv("POSTLAG_LONG") != NULL ? 1000000 : 90000;
	size_t before = bytes_in_use(), each;
	struct open_messages *messages;

	if (!HAS_MALLINFO)
		skip();
	messages = open_messages_new(0);
	look_times_set_now(open_messages_looks(messages), 1000);
	look_times_set_first(open_messages_looks(messages), 600);
	for (unsigned i = 0; i < count; i++)
		add(messages, i);
	each = (bytes_in_use() - before) / count;
	print_message("# %u open messages: %zu bytes each\n", count, each);
	assert_in_range(each, 1, 400);
	open_messages_free(&messages);
}

static struct look *
look_of_lost(struct open_messages *messages, uint32_t evidence)
{
	struct open_recipient recipient = {
	    .address = "u1@example.org", .state = RECIPIENT_LOST};
	const struct open_message message = {.id = uuid_new(BEGIN_NS),
	    .instance = "mx.example.org",
	    .evidence = evidence,
	    .recipients = &recipient,
	    .recipient_count = 1};

	return tracked_look(open_messages_add(messages, &message));
}

/* It may be back: after a restart nothing but the queue may say so. */
static void
what_was_lost_before_a_restart_is_looked_for_again(void **state)
{
	struct open_messages *messages = open_messages_new(10);

	look_times_set_first(open_messages_looks(messages), 5);
	assert_int_not_equal(look_of_lost(messages, MESSAGE_ABSENT)->due, 0);
	assert_int_equal(look_of_lost(messages, MESSAGE_CORRUPT)->due, 0);
	open_messages_free(&messages);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(all_are_found_by_id_and_queue_id),
	    cmocka_unit_test(case_44_the_latest_claim_on_a_queue_id_counts),
	    cmocka_unit_test(recipients_may_be_added_to_any_message),
	    cmocka_unit_test(a_slot_table_is_what_a_list_is),
	    cmocka_unit_test(
		what_was_lost_before_a_restart_is_looked_for_again),
	    cmocka_unit_test(an_open_message_takes_400_bytes_at_most),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
