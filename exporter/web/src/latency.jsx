// SPDX-License-Identifier: BSD-2-Clause
// Latencies over time: a heatmap with the percentiles drawn over it, the same
// in words at the point that is looked at, and all of it as a table.
import { useMemo, useState } from "preact/hooks";
import { useAnswer } from "./answers.js";
import { asMoment, count, duration, moment, some } from "./format.js";
import { drawCells, reach, SHORTEST, splits } from "./heatmap.js";
import { Answer } from "./notices.jsx";
import { paceOf, periodOf } from "./period.jsx";
import { cssColour, Plot } from "./plot.jsx";
import { change, queryOf } from "./route.js";
import { whoseOf, whoseText } from "./whose.jsx";

// Dashes tell them apart without colour.
const LINES = [
  { name: "p50", colour: "--p50", dash: [] },
  { name: "p95", colour: "--p95", dash: [8, 4] },
  { name: "p99", colour: "--p99", dash: [2, 3] },
];
const COLUMNS = ["p50", "p90", "p95", "p99", "max"];

// Each point stands in the middle of its step.
function columns({ points, step }) {
  return [
    points.map((point) => Date.parse(point.start) / 1000 + step / 2),
    ...LINES.map(({ name }) => points.map((point) =>
      (point[name] === null ? null : Math.max(point[name], SHORTEST)))),
  ];
}

function Legend({ point }) {
  return (
    <dl class="legend">
      {LINES.map(({ name, dash, colour }) => (
        <div key={name}>
          <dt>
            <svg width="28" height="8" aria-hidden="true">
              <line x1="0" x2="28" y1="4" y2="4" stroke={`var(${colour})`}
                stroke-width="2.5" stroke-dasharray={dash.join(" ")} />
            </svg>
            {name}
          </dt>
          <dd>{duration(point[name])}</dd>
        </div>
      ))}
      <div><dt>max</dt><dd>{duration(point.max)}</dd></div>
      <div><dt>count</dt><dd>{count(point.count)}</dd></div>
    </dl>
  );
}

function Table({ points }) {
  const filled = points.filter((point) => point.count > 0).reverse();
  return (
    <details class="as-table">
      <summary>As a table</summary>
      <div class="scroll" tabIndex={0} role="region" aria-label="Latencies">
        <table>
          <thead><tr><th scope="col">from</th><th scope="col">count</th>
            {COLUMNS.map((name) => <th key={name} scope="col">{name}</th>)}
          </tr></thead>
          <tbody>{filled.map((point) => (
            <tr key={point.start}>
              <th scope="row">{moment(point.start)}</th>
              <td>{count(point.count)}</td>
              {COLUMNS.map((name) => (
                <td key={name}>{duration(point[name])}</td>
              ))}
            </tr>
          ))}</tbody>
        </table>
      </div>
    </details>
  );
}

// No line leads to a point without neighbours.
function lonely(plot, index) {
  const values = plot.data[index];
  return values.map((_, i) => i).filter((i) => values[i] !== null
    && values[i - 1] == null && values[i + 1] == null);
}

const series = LINES.map(({ name, dash, colour }) => ({
  label: name, dash, width: 2, stroke: () => cssColour(colour),
  points: { show: true, size: 7, filter: lonely },
}));

function Chart({ data, zoom }) {
  const [at, setAt] = useState(null);
  const drawn = useMemo(() => columns(data), [data]);
  const point = at !== null && data.points[at] || data.whole;
  const whole = data.whole;
  return (
    <>
      <p class="readout" aria-live="polite">
        {at !== null && data.points[at]
          ? `${moment(point.start)}, ${duration(data.step)}`
          : "The whole period"}
      </p>
      <Legend point={point} />
      {whole.count === 0 && (
        <p class="notice quiet">Nothing was delivered in this period.</p>
      )}
      <Plot height={300} data={drawn} series={series} step={data.step}
        label={`${some(whole.count, "duration")}: half within `
          + `${duration(whole.p50)}, 99 % within ${duration(whole.p99)}.`}
        range={() => reach(data.points)}
        span={(_, first, last) => [first - data.step / 2, last + data.step / 2]}
        splits={splits}
        values={(_, values) => values.map((value) =>
          duration(value).replace(/\.0+ /, " "))}
        drawBelow={(plot) => drawCells(plot, data)}
        onPoint={(index) => setAt(index ?? null)} onZoom={zoom} />
      <Table points={data.points} />
    </>
  );
}

export function Latency({ route }) {
  const asked = { ...periodOf(route), ...whoseOf(route), cells: "1" };
  for (const name of ["phase", "route"]) asked[name] = route.get(name);
  const url = `/api/v1/latency?${queryOf(asked)}`;
  const answer = useAnswer(url, paceOf(route));
  function zoom(from, to) {
    location.hash = change(route, {
      since: asMoment(from), until: asMoment(Math.max(to, from + 60)),
    });
  }
  const what = asked.phase ? `Phase ${asked.phase.replace(/_/g, " ")}`
    : asked.route ? `Latency, ${asked.route}` : "Latency";
  return (
    <section id="latency" aria-busy={answer.loading || undefined}>
      <h2>{what}{whoseText(route)}</h2>
      <Answer answer={answer} what="latencies" lines={8}>
        {(data) => <Chart data={data} zoom={zoom} />}
      </Answer>
    </section>
  );
}
