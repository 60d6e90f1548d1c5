// SPDX-License-Identifier: BSD-2-Clause
// What became of recipients, over time: a stack of five groups, of which each
// state is a link to its messages.
import { useAnswer } from "./answers.js";
import { asMoment, count, moment, some } from "./format.js";
import { Answer } from "./notices.jsx";
import { paceOf, periodOf } from "./period.jsx";
import { change, link } from "./route.js";
import { GROUPS, State } from "./states.jsx";
import { whoseText } from "./whose.jsx";

const HEIGHT = 160;

function sum(point, group) {
  return group.states.reduce((all, name) => all + (point[name] || 0), 0);
}

function total(point) {
  return GROUPS.reduce((all, group) => all + sum(point, group), 0);
}

function sentence(point) {
  return GROUPS.filter((group) => sum(point, group) > 0)
    .map((group) => `${group.label.toLowerCase()} ${count(sum(point, group))}`)
    .join(", ");
}

function Column({ point, x, width, most }) {
  let y = HEIGHT;
  return (
    <g>
      <title>{`${moment(point.start)}: ${sentence(point) || "nothing"}`}</title>
      <rect x={x} y="0" width={width} height={HEIGHT} fill="transparent" />
      {GROUPS.map((group) => {
        const number = sum(point, group);
        if (number === 0) return null;
        // One that is lost among thousands shall be seen.
        const height = Math.max(3, number / most * (HEIGHT - 12));
        y -= height;
        return (
          <rect key={group.name} class={`bar ${group.name}`} x={x} y={y}
            width={Math.max(1, width - 1)} height={height}
            fill={`url(#fill-${group.name})`} />
        );
      })}
    </g>
  );
}

// Told apart by their hatching, too.
const HATCHES = {
  done: null, waiting: "M0 6L6 0", returned: "M0 0L6 6",
  other: "M3 0V6", wrong: "M0 0L6 6M0 6L6 0",
};

function Hatches() {
  return (
    <defs>{GROUPS.map(({ name }) => (
      <pattern key={name} id={`fill-${name}`} width="6" height="6"
        patternUnits="userSpaceOnUse">
        <rect width="6" height="6" fill={`var(--${name})`} />
        {HATCHES[name] && (
          <path d={HATCHES[name]} stroke="var(--paper)" stroke-width="1.4" />
        )}
      </pattern>
    ))}</defs>
  );
}

function Chart({ data, zoom }) {
  const { points, step } = data;
  const most = Math.max(1, ...points.map(total));
  const width = 720 / Math.max(1, points.length);
  return (
    <figure class="outcomes">
      <figcaption class="readout">up to {some(most, "recipient")} a step
      </figcaption>
      <svg viewBox={`0 0 720 ${HEIGHT}`} preserveAspectRatio="none" role="img"
        aria-label={`Recipients: ${sentence(data.whole) || "none"}.`}
        onDblClick={(event) => {
          const box = event.currentTarget.getBoundingClientRect();
          const at = Math.floor((event.clientX - box.left) / box.width
            * points.length);
          const from = Date.parse(points[at].start) / 1000;
          zoom(from, from + step);
        }}>
        <Hatches />
        {points.map((point, i) => (
          <Column key={point.start} point={point} x={i * width} width={width}
            most={most} />
        ))}
      </svg>
      <div class="ends" aria-hidden="true">
        <span>{points.length > 0 && moment(points[0].start)}</span>
        <span>{points.length > 0 && moment(points.at(-1).start)}</span>
      </div>
    </figure>
  );
}

function Totals({ whole, period }) {
  const terms = [`since:${quoted(period.since)}`];
  if (period.until) terms.push(`until:${quoted(period.until)}`);
  return (
    <ul class="totals">{GROUPS.map((group) => (
      <li key={group.name}>
        <svg width="14" height="14" aria-hidden="true">
          <rect width="14" height="14" fill={`url(#fill-${group.name})`} />
        </svg>
        <span class="group">{group.label}</span>
        <span class="parts">
          {group.states.filter((name) => whole[name] > 0).map((name) => (
            <a key={name} href={link("search",
              { q: [`status:${name}`, ...terms].join(" ") })}>
              <State name={name} /> {count(whole[name])}
            </a>
          ))}
          {sum(whole, group) === 0 && <span class="none">none</span>}
        </span>
      </li>
    ))}</ul>
  );
}

function quoted(text) {
  return /\s/.test(text) ? `"${text}"` : text;
}

export function Outcomes({ route }) {
  const period = periodOf(route);
  const url = `/api/v1/outcomes?${new URLSearchParams(period)}`;
  const answer = useAnswer(url, paceOf(route));
  return (
    <section id="outcomes" aria-busy={answer.loading || undefined}>
      <h2>Outcomes</h2>
      {whoseText(route) && (
        <p class="notice quiet">Of all mail: they are not counted by host, relay
          or provider.</p>
      )}
      <Answer answer={answer} what="outcomes" lines={6}>
        {(data) => (
          <>
            <Chart data={data} zoom={(from, to) => {
              location.hash = change(route, {
                since: asMoment(from), until: asMoment(to),
              });
            }} />
            <Totals whole={data.whole} period={period} />
          </>
        )}
      </Answer>
    </section>
  );
}
