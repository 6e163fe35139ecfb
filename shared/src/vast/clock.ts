/** Milliseconds of `HH:MM:SS` or `HH:MM:SS.mmm` (VAST 4.3, 3.8.1); null where a text is neither. Pure. */
export function parseClock(text: string): number | null {
  const parts = /^(\d{1,2}):([0-5]\d):([0-5]\d)(?:\.(\d{1,3}))?$/.exec(text.trim());
  if (!parts) return null;
  const [, hours, minutes, seconds, fraction = ''] = parts;
  return (Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds)) * 1_000 + Number(fraction.padEnd(3, '0'));
}

/**
 * A point in an ad of `durationMs`, in ms: a clock, or a share such as `25%` (VAST 4.3, 3.14.3); null where a text is
 * neither. Pure.
 */
export function parseOffset(text: string, durationMs: number): number | null {
  const share = /^(\d{1,3}(?:\.\d+)?)%$/.exec(text.trim())?.[1];
  if (share === undefined) return parseClock(text);
  return Number(share) <= 100 ? (durationMs * Number(share)) / 100 : null;
}
