import { evalExpr } from 'mingo/core';
import { $dateToString as mingoDateToString } from 'mingo/operators/expression';
import { CODE, refusal } from '../refusals.ts';

type Expression = Parameters<typeof mingoDateToString>[1];
type Options = Parameters<typeof mingoDateToString>[2];

/** `$dateToString` in every IANA time zone; mingo's own knows those of the form `Area/City`, and not `UTC`. */
export function $dateToString(document: unknown, expression: Expression, options: Options): unknown {
  const { timezone, ...others } = expression as Record<string, unknown>;
  const zone = evalExpr(document, timezone, options);
  const date = evalExpr(document, others.date, options);
  const offset =
    zone === undefined || zone === null || !(date instanceof Date) ? {} : { timezone: offsetAt(date, zone) };
  return mingoDateToString(document as never, { ...others, ...offset } as Expression, options);
}

/** What clocks in a zone are ahead of UTC at a moment, as `+05:30`. */
function offsetAt(date: Date, zone: unknown): string {
  const named = formatterFor(String(zone))
    .formatToParts(date)
    .find(({ type }) => type === 'timeZoneName');
  return named?.value.replace('GMT', '') || '+00:00';
}

function formatterFor(timeZone: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' });
  } catch (cause) {
    throw Object.assign(refusal(CODE.badValue, `unrecognized time zone identifier: ${timeZone}`), { cause });
  }
}
