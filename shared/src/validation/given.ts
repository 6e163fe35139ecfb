/** The longest value, as JSON, that an answer echoes. */
const GIVEN_CHARACTERS_MAX = 8192;

/** `{ given }`, or nothing where there is no value or it is too long to send back. */
export function given(value: unknown): Record<string, unknown> {
  if (value === undefined || roomLeft(value, GIVEN_CHARACTERS_MAX) < 0) return {};
  const text = JSON.stringify(value);
  return text === undefined || text.length > GIVEN_CHARACTERS_MAX ? {} : { given: value };
}

/** What is left of `room` characters when `value` is written as JSON; stops where nothing is left, however large the value is. */
function roomLeft(value: unknown, room: number): number {
  if (typeof value === 'string') return room - value.length;
  if (typeof value !== 'object' || value === null) return room - 1;
  let left = room;
  for (const key in value) {
    left = roomLeft(Reflect.get(value, key), left - key.length);
    if (left < 0) break;
  }
  return left;
}
