// Numbers, times and shares as short texts. What is not there, or is no number, is a dash.

export const NONE = "–";

export function isNumber(value) {
  return typeof value === "number" && Number.isFinite(value);
}

export function isText(value) {
  return typeof value === "string" && value !== "";
}

/** 1234567 as "1.23 M", 12 as "12", 0.5 as "0.5". */
export function amount(value) {
  if (!isNumber(value)) return NONE;
  const size = Math.abs(value);
  for (const [unit, scale] of [["T", 1e12], ["G", 1e9], ["M", 1e6], ["k", 1e3]]) {
    if (size >= scale * 0.9995) return digits(value / scale) + " " + unit;
  }
  return Number.isInteger(value) ? String(value) : digits(value);
}

function digits(value) {
  const size = Math.abs(value);
  return value.toFixed(size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2);
}

/** Every digit, in groups: for counters, which people compare. */
export function count(value) {
  return isNumber(value) ? Math.round(value).toLocaleString("en") : NONE;
}

export function bytes(value) {
  if (!isNumber(value)) return NONE;
  let scaled = value, unit = 0;
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  while (Math.abs(scaled) >= 1023.5 && unit < units.length - 1) {
    scaled /= 1024;
    unit++;
  }
  return (unit === 0 ? String(Math.round(scaled)) : digits(scaled)) + " " + units[unit];
}

export function rate(value) {
  return isNumber(value) ? amount(value) + "/s" : NONE;
}

export function byteRate(value) {
  return isNumber(value) ? bytes(value) + "/s" : NONE;
}

export function percent(share) {
  return isNumber(share) ? Math.round(100 * Math.min(1, Math.max(0, share))) + " %" : NONE;
}

/** A span of milliseconds: "340 ms", "12 s", "3 min 5 s", "2 h 10 min", "4 d 3 h". */
export function span(ms) {
  if (!isNumber(ms) || ms < 0) return NONE;
  if (ms < 1000) return Math.round(ms) + " ms";
  const s = Math.round(ms / 1000);
  if (s < 60) return s + " s";
  if (s < 3600) return two(Math.floor(s / 60), "min", s % 60, "s");
  if (s < 86400) return two(Math.floor(s / 3600), "h", Math.floor(s / 60) % 60, "min");
  return two(Math.floor(s / 86400), "d", Math.floor(s / 3600) % 24, "h");
}

function two(large, unit, small, under) {
  return large + " " + unit + (small > 0 ? " " + small + " " + under : "");
}

/** A time of the day. */
export function clock(ms) {
  return new Date(ms).toLocaleTimeString("en-GB");
}
