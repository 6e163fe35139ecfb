/** The longest value, as JSON, that a response echoes. */
const GIVEN_CHARACTERS_MAX = 8192;

/** `{ given }`, or `{}` where there is no value or it is too long to echo. */
export function given(value: unknown): Record<string, unknown> {
  if (value === undefined || charactersLeft(value, GIVEN_CHARACTERS_MAX) < 0) return {};
  const text = JSON.stringify(value);
  return text === undefined || text.length > GIVEN_CHARACTERS_MAX ? {} : { given: value };
}

/**
 * What remains of `max` characters after `value` is written as JSON; stops when none remain, however large the value
 * is.
 */
function charactersLeft(value: unknown, max: number): number {
  if (max < 0) return max;
  if (typeof value === 'string') return max - value.length;
  if (typeof value !== 'object' || value === null) return max - 1;
  // The brackets: they also bound the depth, of which a recursion has no more than some thousand levels.
  let left = max - 2;
  for (const key in value) {
    left = charactersLeft(Reflect.get(value, key), left - key.length);
    if (left < 0) break;
  }
  return left;
}
