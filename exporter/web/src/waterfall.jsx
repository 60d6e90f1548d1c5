// SPDX-License-Identifier: BSD-2-Clause
// The waterfall as a table: each bar stands beside its name, beginning and
// length, so it can be read without being seen.
import { useState } from "preact/hooks";
import { duration } from "./format.js";
import { State } from "./states.jsx";
import { layOut, needsLogarithm, scale, ticks } from "./waterfall.js";

function Bar({ row, place }) {
  const from = place(row.from);
  if (!Number.isFinite(row.to))
    return <path class={`mark ${row.kind}`}
      d={`M${from * 10} 3l7 7l-7 7l-7 -7z`} />;
  const width = Math.max(3, (place(row.to) - from) * 10);
  return <rect class={`span ${row.kind}`} x={from * 10} y="3" width={width}
    height="14" rx="2" />;
}

function Row({ row, place, lines }) {
  return (
    <tr>
      <th scope="row">{row.label}{row.who && ` for ${row.who}`}
        {row.note && <span class="note">{row.note}</span>}</th>
      <td class="number">{duration(row.from)}</td>
      <td class="number">{Number.isFinite(row.duration)
        ? duration(row.duration) : "–"}</td>
      <td class="bars">
        <svg viewBox="-8 0 1016 20" preserveAspectRatio="none"
          aria-hidden="true">
          {lines.map((time) => (
            <line key={time} class="tick" x1={place(time) * 10}
              x2={place(time) * 10} y1="0" y2="20" />
          ))}
          <Bar row={row} place={place} />
        </svg>
      </td>
    </tr>
  );
}

function GroupHead({ group }) {
  const { recipient } = group;
  return (
    <tr class="group">
      <th scope="rowgroup" colSpan={4}>
        <span class="address">{group.title}</span>
        {recipient && <> <State name={recipient.state} /></>}
        {recipient && recipient.latency_seconds !== null
          && <> after {duration(recipient.latency_seconds)}</>}
        {group.rows.length === 0 && (
          <span class="none"> nothing is known of its way</span>
        )}
      </th>
    </tr>
  );
}

// The first and the last are always named; those between where there is room.
function Axis({ lines, place }) {
  let last = -Infinity;
  const shown = lines.filter((time) => {
    const at = place(time);
    if (at - last < 14 || at > 94) return false;
    last = at;
    return true;
  });
  return (
    <svg class="axis" height="16" width="100%" aria-hidden="true">
      {shown.map((time) => (
        <text key={time} x={`${0.79 + place(time) * 0.984}%`} y="12">
          {duration(time).replace(/\.0+ /, " ")}
        </text>
      ))}
    </svg>
  );
}

export function Waterfall({ message }) {
  const laidOut = layOut(message);
  const [chosen, setChosen] = useState(null);
  const logarithmic = chosen ?? needsLogarithm(laidOut);
  const place = scale(laidOut, logarithmic);
  const lines = ticks(laidOut, logarithmic);
  if (laidOut.groups.every((group) => group.rows.length === 0)) return null;
  return (
    <section class="waterfall">
      <h3>Where the time went</h3>
      <label class="check">
        <input type="checkbox" checked={logarithmic}
          onChange={(event) => setChosen(event.target.checked)} />
        Logarithmic, so that short phases show beside long ones
      </label>
      <table>
        <thead><tr>
          <th scope="col">What</th>
          <th scope="col" class="number">Begins</th>
          <th scope="col" class="number">Takes</th>
          <th scope="col" class="bars"><span class="unseen">In time</span>
            <Axis lines={lines} place={place} /></th>
        </tr></thead>
        {laidOut.groups.map((group, number) => (
          <tbody key={number}>
            <GroupHead group={group} />
            {group.rows.map((row, i) => (
              <Row key={i} row={row} place={place} lines={lines} />
            ))}
          </tbody>
        ))}
      </table>
    </section>
  );
}
