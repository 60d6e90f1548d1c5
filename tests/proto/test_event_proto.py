# SPDX-License-Identifier: BSD-2-Clause
"""Field numbers of event.proto are on disks: they never change."""

import re
import unittest

import tap

# To be added to, never changed; a removed field becomes `reserved` there and
# stays here.
FIELDS = {
    "Stamp": "sfixed64 wall_ns 1, sfixed64 monotonic_ns 2",
    "SegmentHeader":
        "uint32 format 1, string source 2, string instance 3, "
        "bytes boot_id 4, Stamp start 5, fixed64 checksum_seed 6, "
        "string program 7",
    "Event":
        "Message message 1, Delivery delivery 2, Heartbeat heartbeat 3, "
        "Operation operation 4",
    "Message":
        "bytes id 1, bytes previous 2, uint32 ending 3, uint32 phase 4, "
        "string queue_id 5, bytes message_id 6, bytes run 7, bytes sender 8, "
        "uint64 session 9, uint32 sequence 10, uint32 forged_stamps 11, "
        "uint64 declared_bytes 12, bytes client_name 20, "
        "bytes client_address 21, uint32 client_port 22, bytes helo 23, "
        "bytes daemon_name 24, bytes tls_version 25, bytes tls_cipher 26, "
        "bytes sasl_method 27, bytes sasl_user 28, Stamp connect_at 40, "
        "Stamp helo_at 41, Stamp mail_at 42, Stamp data_at 43, "
        "Stamp content_at 44, Stamp eom_at 45, Stamp end_at 46, "
        "repeated MessageRecipient recipients 60, "
        "uint32 recipients_omitted 61",
    "MessageRecipient":
        "bytes address 1, Stamp rcpt_at 2, bool rejected 3, "
        "bytes reject_dsn 4, bytes reject_text 5",
    "Delivery":
        "bytes id 1, uint32 part 2, uint32 ending 3, uint32 phase 4, "
        "string queue_id 5, bytes ident 6, bytes message_id 7, bytes run 8, "
        "bytes sender 9, uint64 session 10, uint32 sequence 11, "
        "uint64 content_bytes 12, bytes backend 13, uint32 stamps_seen 20, "
        "bytes stamp_id 21, string stamp_queue_id 22, "
        "sfixed64 stamp_mail_wall_ns 23, Stamp connect_at 40, "
        "Stamp mail_at 41, Stamp data_at 42, Stamp content_end_at 43, "
        "Stamp end_at 44, repeated DeliveryRecipient recipients 60",
    "DeliveryRecipient":
        "bytes address 1, Stamp rcpt_at 2, Reply envelope 3, Reply final 4, "
        "uint32 position 5",
    "Reply": "uint32 code 1, string enhanced 2, bytes text 3, Stamp at 4",
    "Heartbeat": "Stamp at 1, bool start 2, repeated Count counts 3",
    "Operation":
        "uint32 kind 1, Stamp at 2, bytes message 3, bytes who 4, "
        "bytes comment 5, bytes address 6",
    "Count": "uint32 counter 1, uint64 increase 2",
}

FIELD = re.compile(r"^\s*((?:repeated )?\w+) (\w+) = (\d+);", re.MULTILINE)
MESSAGE = re.compile(r"^message (\w+) \{(.*?)^\}", re.MULTILINE | re.DOTALL)


class EventProto(unittest.TestCase):
    def test_fields(self):
        """every field of event.proto keeps its type and number"""
        with open("proto/event.proto", encoding="utf-8") as file:
            text = file.read()
        found = {name: {" ".join(field) for field in FIELD.findall(body)}
                 for name, body in MESSAGE.findall(text)}
        for name, fields in FIELDS.items():
            missing = set(fields.split(", ")) - found.get(name, set())
            self.assertEqual(missing, set(), f"message {name}")
        for name, fields in found.items():
            known = set(FIELDS.get(name, "").split(", "))
            self.assertEqual(fields - known, set(),
                             f"message {name}: list new fields here")


if __name__ == "__main__":
    tap.main()
