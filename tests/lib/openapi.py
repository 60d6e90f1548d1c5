# SPDX-License-Identifier: BSD-2-Clause
"""packaging/openapi.json: what the API says it answers."""

import functools
import json
import os

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
TYPES = {"string": str, "boolean": bool, "array": list, "object": dict,
         "null": type(None)}


@functools.lru_cache
def document():
    with open(os.path.join(ROOT, "packaging/openapi.json"),
              encoding="utf-8") as file:
        return json.load(file)


def message_faults(message):
    """What is not as documented in a message that the API answered."""
    schema = Schema(document())
    return list(schema.faults({"$ref": "#/components/schemas/Message"},
                              message, "message"))


class Schema:
    """As much of JSON Schema as the document uses; anything else is a fault
    of the document."""

    KNOWN = {"$ref", "anyOf", "type", "description", "enum", "items",
             "minItems", "maxItems", "properties", "required",
             "additionalProperties"}

    def __init__(self, whole):
        self.schemas = whole["components"]["schemas"]
        self.used = set()

    def faults(self, schema, value, where):
        unknown = set(schema) - self.KNOWN
        if unknown:
            yield f"{where}: {unknown} is not understood"
        if "$ref" in schema:
            name = schema["$ref"].rsplit("/", 1)[1]
            self.used.add(name)
            yield from self.faults(self.schemas[name], value, where)
        elif "anyOf" in schema:
            if all(list(self.faults(one, value, where))
                   for one in schema["anyOf"]):
                yield f"{where}: {value!r} is none of these"
        elif not self.has_type(schema["type"], value):
            yield f"{where}: {value!r} is no {schema['type']}"
        elif value not in schema.get("enum", [value]):
            yield f"{where}: {value!r} is not in {schema['enum']}"
        elif isinstance(value, dict):
            yield from self.object_faults(schema, value, where)
        elif isinstance(value, list):
            yield from self.array_faults(schema, value, where)

    def object_faults(self, schema, value, where):
        for name in set(schema.get("required", ())) - set(value):
            yield f"{where}: {name} is missing"
        for name, member in value.items():
            one = schema.get("properties", {}).get(
                name, schema["additionalProperties"])
            if one is False:
                yield f"{where}: {name} is not documented"
            else:
                yield from self.faults(one, member, f"{where}.{name}")

    def array_faults(self, schema, value, where):
        if not schema.get("minItems", 0) <= len(value) \
                <= schema.get("maxItems", len(value)):
            yield f"{where}: {len(value)} items"
        for number, item in enumerate(value):
            yield from self.faults(schema["items"], item, f"{where}[{number}]")

    @staticmethod
    def has_type(types, value):
        for name in [types] if isinstance(types, str) else types:
            if name in ("integer", "number"):
                if isinstance(value, int) and not isinstance(value, bool):
                    return True
                if name == "number" and isinstance(value, float):
                    return True
            elif isinstance(value, TYPES[name]):
                return True
        return False
