// Formats numbers with units for people.

const units = ["bytes", "KiB", "MiB", "GiB"];

/** Formats a number of bytes. */
export function bytesText(count) {
  let [value, unit] = [count, 0];
  // A value that would be rounded to 1024 is shown as 1 of the next unit.
  while (value >= 1023.5 && unit < units.length - 1) [value, unit] = [value / 1024, unit + 1];
  return (unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)) + " " + units[unit];
}

/** Formats a time. */
export function timeText(milliseconds) {
  if (milliseconds >= 1000) return (milliseconds / 1000).toFixed(2) + " s";
  return (milliseconds >= 10 || milliseconds < 0.05 ? Math.round(milliseconds) : milliseconds.toFixed(1)) + " ms";
}

/** Formats a lifetime in seconds. */
export function lifetimeText(seconds) {
  const scale = [[86400, "day"], [3600, "hour"], [60, "minute"], [1, "second"]];
  const [length, name] = scale.find(([length]) => seconds >= length) ?? scale[3];
  const count = Math.round(seconds / length);
  return count + " " + name + (count === 1 ? "" : "s");
}

/** Formats a number with a sensible number of digits. */
export function numberText(number) {
  if (number >= 1e6) return (number / 1e6).toFixed(1) + " M";
  if (number >= 1e4) return (number / 1e3).toFixed(1) + " k";
  return number >= 10 || Number.isInteger(number) ? Math.round(number).toLocaleString("en") : number.toFixed(1);
}

/** Formats a share from 0 to 1 in percent. */
export function shareText(share) {
  const percent = share * 100;
  return (percent > 99 && percent < 100 ? Math.min(99.9, percent).toFixed(1) : Math.round(percent)) + " %";
}
