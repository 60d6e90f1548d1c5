// SPDX-License-Identifier: BSD-2-Clause
// Numbers and times as people read them, and back.
const UNITS = [[86400, "d"], [3600, "h"], [60, "min"]];

// Three digits are enough: histograms have no more.
function digits(number) {
  const size = Math.abs(number);
  return number.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : 2)
    .replace("-", "−");
}

export function duration(seconds) {
  if (seconds === null || seconds === undefined) return "–";
  const size = Math.abs(seconds);
  if (size === 0) return "0 s";
  if (size < 0.001) return `${digits(seconds * 1e6)} µs`;
  if (size < 1) return `${digits(seconds * 1e3)} ms`;
  if (size < 60) return `${digits(seconds)} s`;
  const i = UNITS.findIndex(([unit]) => size >= unit);
  const below = i + 1 < UNITS.length ? UNITS[i + 1] : [1, "s"];
  const whole = Math.floor(size / UNITS[i][0]);
  const rest = Math.floor((size - whole * UNITS[i][0]) / below[0]);
  return `${seconds < 0 ? "−" : ""}${whole} ${UNITS[i][1]}`
    + (rest > 0 ? ` ${rest} ${below[1]}` : "");
}

export function count(number) {
  return Number(number).toLocaleString("en");
}

// What is one, and what are several.
export function some(number, one, several = `${one}s`) {
  return `${count(number)} ${Number(number) === 1 ? one : several}`;
}

export function bytes(number) {
  if (number < 1000) return `${number} B`;
  const step = number < 1e6 ? [1e3, "kB"] : number < 1e9 ? [1e6, "MB"]
    : [1e9, "GB"];
  return `${digits(number / step[0])} ${step[1]}`;
}

const two = (number) => String(number).padStart(2, "0");

export function day(date) {
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-`
    + two(date.getDate());
}

export function clock(date) {
  return `${two(date.getHours())}:${two(date.getMinutes())}:`
    + two(date.getSeconds());
}

// In the reader's own time.
export function moment(text) {
  if (!text) return "–";
  const date = new Date(text);
  return `${day(date)} ${clock(date)}`;
}

export function age(text, now = Date.now()) {
  return duration(Math.max(0, (now - new Date(text)) / 1000));
}

// Seconds since 1970 with the microseconds that Date drops; NaN for none.
export function seconds(text) {
  if (!text) return NaN;
  const fraction = /\.(\d+)/.exec(text);
  const whole = Date.parse(text.replace(/\.\d+/, "")) / 1000;
  return whole + (fraction ? Number(`0.${fraction[1]}`) : 0);
}

// As the search language takes it.
export function asMoment(unixSeconds) {
  return new Date(Math.floor(unixSeconds) * 1000).toISOString()
    .replace(".000", "");
}
