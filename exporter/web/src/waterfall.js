// SPDX-License-Identifier: BSD-2-Clause
// Lays a message out in time: {groups: [{title, rows}], low, high}, in seconds
// from MAIL FROM. A row is {kind, label, from, to, note}: a bar, or a mark
// where `to` is missing. Pure.
import { seconds } from "./format.js";
import { words } from "./states.jsx";

function zero(message) {
  const { stamps, legs, attempts } = message;
  const times = [stamps.mail, stamps.connect, stamps.eom, ...legs.flatMap(
    (leg) => Object.values(leg.stamps)), ...attempts.map((one) => one.at)];
  return seconds(times.find((time) => time));
}

function phaseRows(phases) {
  return phases.map((phase) => ({
    kind: "phase",
    label: words(phase.phase),
    from: phase.offset_seconds,
    to: phase.skewed ? undefined
      : phase.offset_seconds + phase.duration_seconds,
    duration: phase.skewed ? undefined : phase.duration_seconds,
    note: phase.skewed ? "the clocks disagree" : "",
  }));
}

export function replyText(reply) {
  return [reply.code, reply.enhanced, reply.text].filter(Boolean).join(" ");
}

function isFor(recipient, address) {
  return address === recipient.address || address === recipient.original;
}

// A transaction that did not decide: from its MAIL FROM to its last reply.
function legRow(leg, recipient, start) {
  const part = leg.recipients.find((one) => isFor(recipient, one.address));
  if (!part) return null;
  const reply = part.final_reply || part.envelope_reply;
  const from = seconds(leg.stamps.mail || leg.stamps.connect) - start;
  const to = seconds(reply?.at || leg.stamps.end) - start;
  return {
    kind: reply && reply.code < 300 ? "leg" : "leg failed",
    label: `LMTP to ${leg.backend || "the backend"}`,
    from, to,
    duration: to - from,
    note: reply ? replyText(reply) : leg.ending,
  };
}

// The log may have whole seconds only: then an attempt may seem to come up to a
// second before the message was there.
function attemptTime(message, attempt, start) {
  const time = seconds(attempt.at) - start;
  const last = message.phases.at(-1);
  const accepted = last ? last.offset_seconds + last.duration_seconds : 0;
  return time < accepted && time > accepted - 1 ? accepted : time;
}

// The line of the delivery that the hook has told already.
function repeatsHook(recipient, attempt) {
  return recipient.leg !== null && attempt.status === "sent"
    && Boolean(recipient.reply?.text)
    && (attempt.text || "").includes(recipient.reply.text);
}

function attemptRow(message, attempt, start) {
  const relay = attempt.relay === "none" ? null : attempt.relay;
  return {
    kind: attempt.status === "sent" ? "attempt" : "attempt failed",
    label: [attempt.agent, relay].filter(Boolean).join(" to "),
    from: attemptTime(message, attempt, start),
    note: [attempt.status, attempt.dsn, attempt.text].filter(Boolean).join(" "),
  };
}

function recipientRows(message, recipient, start) {
  const legs = message.legs.map((leg, index) => (index === recipient.leg
    ? null : legRow(leg, recipient, start)));
  const attempts = message.attempts
    .filter((attempt) => isFor(recipient, attempt.recipient)
      && !repeatsHook(recipient, attempt))
    .map((attempt) => attemptRow(message, attempt, start));
  return [...legs.filter(Boolean), ...phaseRows(recipient.phases), ...attempts]
    .filter((row) => Number.isFinite(row.from))
    .sort((a, b) => a.from - b.from);
}

// Those that no recipient of the message claims: expanded, or of another leg.
function otherAttempts(message, start) {
  return message.attempts
    .filter((attempt) => !message.recipients.some((recipient) =>
      isFor(recipient, attempt.recipient)))
    .map((attempt) => ({
      ...attemptRow(message, attempt, start), who: attempt.recipient,
    }))
    .filter((row) => Number.isFinite(row.from));
}

export function layOut(message) {
  const start = zero(message);
  const groups = [];
  if (message.phases.length > 0)
    groups.push({ title: "SMTP session", rows: phaseRows(message.phases) });
  for (const recipient of message.recipients)
    groups.push({
      title: recipient.address, recipient,
      rows: recipientRows(message, recipient, start),
    });
  const others = otherAttempts(message, start);
  if (others.length > 0) groups.push({ title: "Other attempts", rows: others });
  const times = groups.flatMap((group) => group.rows.flatMap((row) =>
    [row.from, row.to].filter((time) => Number.isFinite(time))));
  return {
    groups, start, low: Math.min(0, ...times), high: Math.max(0, ...times),
  };
}

// Below that the logarithmic scale is linear.
const FINEST = 0.001;

function bend(time) {
  return Math.sign(time) * Math.log1p(Math.abs(time) / FINEST);
}

// Where a time is, from 0 to 100.
export function scale({ low, high }, logarithmic) {
  const shape = logarithmic ? bend : (time) => time;
  const from = shape(low);
  const width = shape(high) - from || 1;
  return (time) => (shape(time) - from) / width * 100;
}

const STEPS = [1, 2, 5];

// Times for which the axis has a line.
export function ticks({ low, high }, logarithmic) {
  const found = [0];
  if (logarithmic) {
    for (let time = 0.01; time < high; time *= 10) found.push(time);
    return found;
  }
  const rough = (high - low) / 5;
  if (!(rough > 0)) return found;
  const decade = 10 ** Math.floor(Math.log10(rough));
  const step = (STEPS.find((one) => one * decade >= rough) || 10) * decade;
  for (let i = Math.ceil(low / step); i * step < high; i++)
    if (i !== 0) found.push(i * step);
  return found;
}

// Whether bars that matter would be too thin to be seen.
export function needsLogarithm({ groups, low, high }) {
  return groups.some((group) => group.rows.some((row) =>
    row.duration > 0.0005 && row.duration < (high - low) / 500));
}
