// Numbers in the units in which people read them.

const units = ["bytes", "KiB", "MiB", "GiB"];

/** A number of bytes in the unit that suits it. */
export function bytesText(count) {
  let [value, unit] = [count, 0];
  // What would be rounded to 1024 is 1 of the next unit.
  while (value >= 1023.5 && unit < units.length - 1) [value, unit] = [value / 1024, unit + 1];
  return (unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)) + " " + units[unit];
}

/** A time in the unit that suits it. */
export function timeText(milliseconds) {
  if (milliseconds >= 1000) return (milliseconds / 1000).toFixed(2) + " s";
  return (milliseconds >= 10 || milliseconds < 0.05 ? Math.round(milliseconds) : milliseconds.toFixed(1)) + " ms";
}

/** A lifetime in seconds in the unit that suits it. */
export function lifetimeText(seconds) {
  const scale = [[86400, "day"], [3600, "hour"], [60, "minute"], [1, "second"]];
  const [length, name] = scale.find(([length]) => seconds >= length) ?? scale[3];
  const count = Math.round(seconds / length);
  return count + " " + name + (count === 1 ? "" : "s");
}

/** A number with as many digits as it is worth. */
export function numberText(number) {
  if (number >= 1e6) return (number / 1e6).toFixed(1) + " M";
  if (number >= 1e4) return (number / 1e3).toFixed(1) + " k";
  return number >= 10 || Number.isInteger(number) ? Math.round(number).toLocaleString("en") : number.toFixed(1);
}

/** A share of 1 in per cent. */
export function shareText(share) {
  const percent = share * 100;
  return (percent > 99 && percent < 100 ? Math.min(99.9, percent).toFixed(1) : Math.round(percent)) + " %";
}
