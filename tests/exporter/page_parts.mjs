// SPDX-License-Identifier: BSD-2-Clause
// The page's pure parts, without a browser; for test_page_parts.py. Prints TAP.
//     node page_parts.mjs NODE_MODULES
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { resolve } from "node:path";

const modules = resolve(process.argv[2]);
const { buildSync } = createRequire(`${modules}/x.js`)("esbuild");

async function load(name) {
  const built = buildSync({
    entryPoints: [`exporter/web/src/${name}`], bundle: true, write: false,
    format: "esm", jsx: "automatic", jsxImportSource: "preact",
    nodePaths: [modules],
  });
  const code = Buffer.from(built.outputFiles[0].contents).toString("base64");
  return import(`data:text/javascript;base64,${code}`);
}

const { duration, seconds, asMoment, bytes } = await load("format.js");
const { layOut, scale, ticks, needsLogarithm } = await load("waterfall.js");

const phase = (name, offset, length, skewed = false) => ({
  phase: name, offset_seconds: offset, duration_seconds: length, skewed,
});
const recipient = (address, more) => ({
  address, original: null, state: "delivered", phases: [], leg: null,
  reply: null, latency_seconds: null, ...more,
});
const attempt = (at, to, status, text) => ({
  at, recipient: to, status, text, agent: "lmtp", relay: "none", dsn: null,
});
const message = (more) => ({
  stamps: { mail: "2026-11-30T10:00:00.400000Z", connect: null, eom: null },
  phases: [phase("mail_to_rcpt", 0, 0.1)], recipients: [], legs: [],
  attempts: [], ...more,
});

const tests = {
  "durations have three digits and people's units": () => {
    for (const [value, text] of [[null, "–"], [0, "0 s"], [4.1e-5, "41.0 µs"],
      [0.0123, "12.3 ms"], [-0.25, "−250 ms"], [59.94, "59.9 s"], [60, "1 min"],
      [301, "5 min 1 s"], [5400, "1 h 30 min"], [172800, "2 d"],
      [90000, "1 d 1 h"]])
      assert.equal(duration(value), text);
    assert.equal(bytes(999), "999 B");
    assert.equal(bytes(14.5e6), "14.5 MB");
  },
  "times keep their microseconds": () => {
    const one = seconds("2026-11-30T10:00:00.400001Z");
    const other = seconds("2026-11-30T10:00:00.400003Z");
    assert.ok(Math.abs(other - one - 2e-6) < 5e-7);
    assert.ok(Number.isNaN(seconds(null)));
    assert.equal(asMoment(one), "2026-11-30T10:00:00Z");
  },
  "an attempt of a log with whole seconds is not before its message": () => {
    const { groups, low } = layOut(message({
      recipients: [recipient("a@x", { state: "deferred" })],
      attempts: [
        attempt("2026-11-30T10:00:00.000000Z", "a@x", "deferred", "no"),
        attempt("2026-11-30T10:05:00.000000Z", "a@x", "deferred", "no"),
      ],
    }));
    assert.equal(low, 0);
    assert.deepEqual(groups[1].rows.map((row) => row.from.toFixed(3)),
      ["0.100", "299.600"]);
  },
  "what only repeats the hook is left out": () => {
    const { groups } = layOut(message({
      recipients: [recipient("a@x", {
        leg: 0, reply: { code: 250, text: "Saved" },
        phases: [phase("queue", 0.1, 0.2)],
      })],
      legs: [{ stamps: {}, recipients: [] }],
      attempts: [
        attempt("2026-11-30T10:00:00.000000Z", "a@x", "sent", "250 Saved"),
        attempt("2026-11-30T10:00:00.000000Z", "b@x", "sent", "250 Saved"),
      ],
    }));
    assert.deepEqual(groups.map((group) => [group.title, group.rows.length]),
      [["SMTP session", 1], ["a@x", 1], ["Other attempts", 1]]);
  },
  "skewed clocks give a mark and no length": () => {
    const { groups } = layOut(message({
      phases: [phase("mail_to_rcpt", 0, 0, true)],
    }));
    assert.equal(groups[0].rows[0].to, undefined);
    assert.match(groups[0].rows[0].note, /clocks disagree/);
  },
  "both scales reach from 0 to 100 and keep the order": () => {
    const range = { low: -0.5, high: 4000 };
    for (const logarithmic of [false, true]) {
      const place = scale(range, logarithmic);
      assert.equal(place(range.low), 0);
      assert.equal(place(range.high), 100);
      const places = [-0.5, -0.1, 0, 0.001, 1, 300, 4000].map(place);
      assert.deepEqual([...places].sort((a, b) => a - b), places);
      for (const time of ticks(range, logarithmic))
        assert.ok(place(time) >= 0 && place(time) <= 100, time);
    }
    assert.ok(scale(range, true)(0.001) - scale(range, true)(0) > 1);
  },
  "a message at one instant can be drawn": () => {
    const laidOut = layOut(message({ phases: [phase("a", 0, 0)] }));
    assert.equal(scale(laidOut, false)(0), 0);
    assert.deepEqual(ticks(laidOut, false), [0]);
    assert.equal(needsLogarithm(laidOut), false);
  },
  "short phases beside a long wait want the other scale": () => {
    const laidOut = layOut(message({
      phases: [phase("a", 0, 0.01)],
      recipients: [recipient("a@x", { phases: [phase("queue", 0.01, 3600)] })],
    }));
    assert.equal(needsLogarithm(laidOut), true);
  },
};

const names = Object.keys(tests);
names.forEach((name, number) => {
  try {
    tests[name]();
    console.log(`ok ${number + 1} - ${name}`);
  } catch (error) {
    console.log(`not ok ${number + 1} - ${name}`);
    console.log(String(error.stack).replace(/^/gm, "# "));
    process.exitCode = 1;
  }
});
console.log(`1..${names.length}`);
