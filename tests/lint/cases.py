#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What must be shown is named by a test: each case that users of other tools
complained about, and each way in which accepted mail may end."""

import glob
import os
import re
import sys

sys.path.insert(0, "tests/lib")
import lint  # noqa: E402

CASES = {*range(1, 16), 17, *range(19, 23), 24, 26, 27,
         *range(29, 43), 44, 45, *range(47, 52),
         *range(53, 56), 68, *range(70, 73), 74, 75}

# How a message may end other than by a 2xx for each recipient, and the tests
# that show what is made of it on a real Postfix.
WAYS = {
    "bounce, per recipient": [
        ("fates_attempts", "bounce_of_one_recipient_of_three"),
        ("fates_attempts", "bounce_of_null_sender")],
    "expiry, force-expiry": [
        ("fates_attempts", "expired"), ("fates_attempts", "force_expired")],
    "still queued": [
        ("fates_attempts", "deferred_and_still_queued"),
        ("fates_found", "in_the_queue_longer_than_a_loss_takes")],
    "HOLD": [
        ("fates_actions", "hold_of_the_first_recipient_then_released"),
        ("fates_actions", "hold_of_the_second_recipient"),
        ("fates_actions", "hold_by_header"),
        ("fates_actions", "quarantined_by_a_later_milter_then_deleted"),
        ("fates_admin", "held_and_released")],
    "DISCARD by the access map": [
        ("fates_actions", "discard_by_the_first_recipient"),
        ("fates_actions", "discard_by_the_second_recipient")],
    "DISCARD by header_checks and body_checks": [
        ("fates_actions", "discard_by_header"),
        ("fates_actions", "discard_by_body")],
    "discarded by a later milter": [
        ("fates_actions", "discarded_by_a_later_milter")],
    "the discard transport, an alias to /dev/null": [
        ("fates_addresses", "discard_transport"),
        ("fates_addresses", "alias_to_dev_null")],
    "REDIRECT": [
        ("fates_actions", "redirect"), ("fates_actions", "redirect_by_header"),
        ("fates_actions", "redirect_by_body")],
    "aliases, canonical addresses": [
        ("fates_addresses", "virtual_alias_to_two_mailboxes"),
        ("fates_addresses", "canonical_renames")],
    "duplicate suppression": [
        ("fates_addresses", "two_aliases_merged_without_original_recipients"),
        ("fates_addresses", "same_address_in_other_letters")],
    "recipients added and taken away": [
        ("fates_addresses", "always_sender_and_recipient_bcc"),
        ("fates_actions", "bcc"),
        ("fates_actions", "recipient_added_by_a_later_milter"),
        ("fates_actions", "recipient_deleted_by_a_later_milter")],
    "an alias to another host": [
        ("fates_addresses", "relayed_to_another_host")],
    "forwarded by local(8)": [("fates_addresses", "local_forward")],
    "content filters": [
        ("fates_reinjection", "filter_and_a_second_pass_of_the_milter"),
        ("fates_reinjection", "filter_and_no_milter_behind_it"),
        ("fates_reinjection", "discarded_by_the_filter")],
    "postsuper -d ID": [("fates_admin", "deleted")],
    "postsuper -d ALL": [("fates_admin", "deleted_with_all_others")],
    "postsuper -r": [("fates_admin", "requeued")],
    "probes": [("fates_admin", "probes_are_not_mail")],
    "Sieve": [
        ("fates_reinjection", "discarded_by_sieve"),
        ("fates_reinjection", "redirected_by_sieve"),
        ("fates_reinjection", "rejected_by_sieve"),
        ("fates_dovecot", "discard"),
        ("fates_dovecot", "redirect"),
        ("fates_dovecot", "redirect_with_a_copy"),
        ("fates_dovecot", "reject")],
    "a corrupt queue file": [("fates_admin", "corrupt")],
    "moved away by an administrator": [
        ("ack", "a_loss_is_acknowledged_and_the_balance_closes"),
        ("losses", "lost_in_deferred_then_put_back_and_delivered")],
    "never queued": [
        ("fates_ghosts", "queue_file_that_cannot_be_synced"),
        ("fates_ghosts", "cleanup_killed_before_the_commit"),
        ("fates_actions", "refused_by_a_later_milter"),
        ("fates_actions", "too_big_with_the_stamp")],
    "queued without the milter's end of message": [
        ("fates_actions", "pass_by_header"),
        ("fates_actions", "milter_down_in_the_middle_of_a_session"),
        ("fates_actions", "client_gone_behind_the_final_dot")],
}

MENTION = re.compile(
    r"\b[Cc]ases?[ _](\d+(?:(?:, | and | to )\d+)*)")
LABEL = re.compile(r"^\s*case \d+:", re.MULTILINE)  # of a switch


def text_of(path):
    with open(path, encoding="utf-8") as file:
        return LABEL.sub("", file.read())


def named():
    """The numbers of all cases that tests name."""
    numbers = set()
    for path in ["tests/run.py", *glob.glob("tests/*/test_*")]:
        for listed in MENTION.findall(re.sub(r"\s+", " ", text_of(path))):
            numbers |= {int(number) for number in re.findall(r"\d+", listed)}
            for first, last in re.findall(r"(\d+) to (\d+)", listed):
                numbers |= set(range(int(first), int(last)))
    return numbers


def missing_tests():
    for way, tests in WAYS.items():
        for file, name in tests:
            path = f"tests/e2e/test_{file}.py"
            if not os.path.isfile(path) \
                    or f"    def test_{name}(" not in text_of(path):
                yield f"{way}: no test_{name} in {path}"


report = lint.Report()
report.check("each case is named by a test", [
    f"case {number} is not" for number in sorted(CASES - named())])
report.check("each way in which mail may end has its test", missing_tests())
report.note(f"{len(CASES)} cases, {len(WAYS)} ways")
report.end()
