// SPDX-License-Identifier: BSD-2-Clause
// What can become of a recipient: words, a sign for those who do not see
// colours, and groups for charts. The signs are in the style sheet's order of
// seriousness: done, waiting, returned, wrong.
export const GROUPS = [
  { name: "done", label: "Arrived", sign: "✓",
    states: ["delivered", "relayed", "handed_off"] },
  { name: "waiting", label: "On the way", sign: "…",
    states: ["in_flight", "deferred", "held"] },
  { name: "returned", label: "Returned", sign: "↩",
    states: ["bounced", "expired", "rejected", "aborted"] },
  { name: "other", label: "Ended otherwise", sign: "·",
    states: ["discarded", "deleted", "expanded", "merged"] },
  { name: "wrong", label: "Lost or unknown", sign: "!",
    states: ["lost", "unknown", "ghost"] },
];

export const OPEN = "in_flight,deferred,held";

export function groupOf(state) {
  return GROUPS.find((group) => group.states.includes(state)) || GROUPS[3];
}

export function words(state) {
  return state.replace(/_/g, " ");
}

export function State({ name, count }) {
  const group = groupOf(name);
  return (
    <span class={`state ${group.name}`}>
      <span class="sign" aria-hidden="true">{group.sign}</span>
      {count > 1 ? `${count} ` : ""}{words(name)}
    </span>
  );
}

// Of a message: each state that its recipients have, the worst first.
export function States({ recipients }) {
  const counts = new Map();
  for (const { state } of recipients)
    counts.set(state, (counts.get(state) || 0) + 1);
  const rank = (state) => GROUPS.indexOf(groupOf(state));
  const sorted = [...counts].sort(([a], [b]) => rank(b) - rank(a));
  return sorted.map(([name, count]) => (
    <State key={name} name={name} count={count} />
  ));
}
