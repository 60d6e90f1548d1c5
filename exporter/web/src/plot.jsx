// SPDX-License-Identifier: BSD-2-Clause
// One uPlot with a logarithmic y: made once, then given new data, so that a
// refresh does not flicker. Adds what the library has not: keys, the reader's
// colours.
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";

export function cssColour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name)
    .trim();
}

function axis(more) {
  return {
    stroke: () => cssColour("--ink-soft"),
    grid: { stroke: () => cssColour("--line"), width: 1 },
    ticks: { stroke: () => cssColour("--line"), width: 1 },
    font: "12px system-ui, sans-serif",
    ...more,
  };
}

const HOURS = "{HH}:{mm}";
const DATE = "{MM}-{DD}";

// Twenty-four hours and dates in the order of ISO's, as elsewhere on the page.
function timeAxis() {
  return axis({
    values: [
      [86400, DATE, null, null, null, null, null, null, 1],
      [60, HOURS, `\n${DATE}`, null, `\n${DATE}`, null, null, null, 1],
      [1, `${HOURS}:{ss}`, `\n${DATE}`, null, `\n${DATE}`, null, null, null, 1],
    ],
  });
}

function options(props, box) {
  return {
    width: box.clientWidth,
    height: props.height,
    // Half of a time's width, which may stand at the right end.
    padding: [8, 22, 0, 0],
    legend: { show: false },
    cursor: {
      y: false, points: { show: false },
      drag: { x: true, y: false, setScale: false },
    },
    scales: {
      x: { time: true, range: props.span },
      y: { distr: 3, range: props.range },
    },
    axes: [timeAxis(), axis({
      values: props.values, size: 64, filter: (_, splits) => splits,
      splits: (_, index, low, high) => props.splits(low, high),
    })],
    series: [{}, ...props.series],
    hooks: {
      drawAxes: props.drawBelow ? [props.drawBelow] : [],
      setCursor: [(plot) => props.onPoint(plot.cursor.idx)],
      setSelect: [(plot) => {
        const { left, width } = plot.select;
        if (width < 4) return;
        props.onZoom(plot.posToVal(left, "x"),
          plot.posToVal(left + width, "x"));
        plot.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
      }],
    },
  };
}

// Arrows step through the points, each the middle of a step; Enter zooms to it.
function onKey(event, plot, props) {
  const xs = plot.data[0];
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  const at = plot.cursor.idx;
  if (step) {
    event.preventDefault();
    const next = at === null || at === undefined ? xs.length - 1
      : Math.min(xs.length - 1, Math.max(0, at + step));
    plot.setCursor({ left: plot.valToPos(xs[next], "x"), top: 1 });
  } else if (event.key === "Enter" && at !== null && at !== undefined) {
    props.onZoom(xs[at] - props.step / 2, xs[at] + props.step / 2);
  } else if (event.key === "Escape") {
    plot.setCursor({ left: -10, top: -10 });
  }
}

export function Plot(props) {
  const box = useRef();
  const plot = useRef();
  const newest = useRef();
  newest.current = props;
  useEffect(() => {
    // Callbacks of an earlier drawing shall see what is asked for now.
    const through = { ...props };
    for (const name of ["onPoint", "onZoom", "drawBelow", "range", "span"])
      if (props[name]) through[name] = (...args) =>
        newest.current[name](...args);
    const node = box.current;
    plot.current = new uPlot(options(through, node), props.data, node);
    const resized = new ResizeObserver(() => plot.current.setSize(
      { width: node.clientWidth, height: props.height }));
    resized.observe(node);
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const redraw = () => plot.current.redraw(false, true);
    dark.addEventListener("change", redraw);
    return () => {
      resized.disconnect();
      dark.removeEventListener("change", redraw);
      plot.current.destroy();
    };
  }, []);
  useEffect(() => plot.current.setData(props.data), [props.data]);
  return (
    <div class="plot" ref={box} tabIndex={0} role="group"
      aria-label={`${props.label} Arrow keys step through it, Enter zooms.`}
      onKeyDown={(event) => onKey(event, plot.current, newest.current)} />
  );
}
