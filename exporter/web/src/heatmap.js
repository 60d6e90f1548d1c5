// SPDX-License-Identifier: BSD-2-Clause
// Draws the cells below the lines: a column a step, a row a quarter of a
// doubling, the darker the more.
import { cssColour } from "./plot.jsx";

const ROW = 2 ** 0.25;
// Below that nothing is told apart.
export const SHORTEST = 1e-5;

export function mostInACell(points) {
  let most = 0;
  for (const { cells } of points)
    for (const [, number] of cells || []) most = Math.max(most, number);
  return most;
}

// [lowest, highest] of what is drawn, in whole decades' halves.
export function reach(points) {
  let low = Infinity;
  let high = 0;
  for (const { cells } of points)
    for (const [bound] of cells || []) {
      low = Math.min(low, Math.max(SHORTEST, bound / ROW));
      high = Math.max(high, bound);
    }
  if (high === 0) return [0.001, 10];
  return [low / 1.3, Math.max(high * 1.3, low * 10)];
}

const COARSE = [1e-5, 1e-4, 1e-3, 0.01, 0.1, 1, 10, 60, 600, 3600, 21600, 86400,
  604800];
const FINE = [1e-5, 1e-4, 1e-3, 0.01, 0.1, 1].flatMap((decade) =>
  [decade, 2 * decade, 5 * decade]).concat([10, 20, 30, 60, 120, 300, 600, 1200,
  1800, 3600, 7200, 21600, 43200, 86400, 172800, 604800]);

// Where the axis has a line: round times of people's, not powers of ten.
export function splits(low, high) {
  const within = (ladder) => ladder.filter((time) =>
    time >= low && time <= high);
  const coarse = within(COARSE);
  return coarse.length >= 3 ? coarse : within(FINE);
}

export function drawCells(plot, { points, step }) {
  const { ctx, bbox } = plot;
  const scale = Math.log1p(mostInACell(points)) || 1;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.fillStyle = cssColour("--heat");
  for (const { start, cells } of points) {
    const at = Date.parse(start) / 1000;
    const left = Math.round(plot.valToPos(at, "x", true));
    const right = Math.round(plot.valToPos(at + step, "x", true));
    for (const [bound, number] of cells || []) {
      const upper = Math.max(bound, SHORTEST * ROW);
      const top = Math.round(plot.valToPos(upper, "y", true));
      const bottom = Math.round(plot.valToPos(upper / ROW, "y", true));
      ctx.globalAlpha = 0.12 + 0.88 * Math.log1p(number) / scale;
      ctx.fillRect(left, top, Math.max(1, right - left),
        Math.max(1, bottom - top));
    }
  }
  ctx.restore();
}
