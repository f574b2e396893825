// How figures and moments are written: in the viewer's language and zone.

const number = new Intl.NumberFormat();
const brief = new Intl.NumberFormat(undefined, { notation: "compact", maximumFractionDigits: 1 });
const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const dayOfYear = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", year: "numeric" });
const whole = new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "long" });
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: "auto", style: "short" });
const UNITS = [["day", 86_400], ["hour", 3_600], ["minute", 60]];

export const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;

export const count = (value) => number.format(value ?? 0);
export const compact = (value) => ((value ?? 0) < 10_000 ? number.format(value ?? 0) : brief.format(value));
export const plural = (value, one, many = `${one}s`) => `${count(value)} ${value === 1 ? one : many}`;
export const percent = (part, all) => (all > 0 ? `${Math.round((100 * part) / all)} %` : "0 %");

/** Dollars; small sums with as many places as they need. */
export function usd(value) {
  if (value === null || value === undefined) return "unknown price";
  if (value === 0) return "$0";
  return value < 0.01 ? `$${value.toFixed(4)}` : `$${value.toFixed(2)}`;
}

/** The moment in full, for a tooltip. */
export const full = (iso) => (iso ? whole.format(new Date(iso)) : "");

/** Today the time, this year the day with it, else the date. */
export function moment(iso, now = new Date()) {
  if (!iso) return "never";
  const at = new Date(iso);
  if (at.toDateString() === now.toDateString()) return clock.format(at);
  if (at.getFullYear() === now.getFullYear()) return `${day.format(at)}, ${clock.format(at)}`;
  return dayOfYear.format(at);
}

/** How long ago, while that says more than a date. */
export function ago(iso, now = Date.now()) {
  if (!iso) return "never";
  const seconds = (Date.parse(iso) - now) / 1000;
  if (Math.abs(seconds) < 60) return "just now";
  if (Math.abs(seconds) > 7 * 86_400) return moment(iso, new Date(now));
  const [unit, size] = UNITS.find(([, each]) => Math.abs(seconds) >= each);
  return relative.format(Math.trunc(seconds / size), unit);
}

/** The first words of a text on one line. */
export function oneLine(text, chars = 200) {
  const plain = text.slice(0, chars * 4).split(/\s+/).join(" ").trim();
  return plain.length > chars ? `${plain.slice(0, chars - 1)}…` : plain;
}
