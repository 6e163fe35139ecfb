import { createHash } from 'node:crypto';

/** The fields that alerts are filtered by, besides status and day. An alert has one value of each. */
export type AlertDimensions = { campaign_id: string; policy_set_id: string; tag_slug: string; country_code: string };

/** Conditions of a list; of each field any of the values. Absent: any value. */
export type AlertFilter = { [Field in keyof AlertDimensions]?: string[] } & {
  /** Has an index of its own: it is no part of the keys, of which there would be twice as many. */
  scan_id?: string;
  created?: { $gte?: Date; $lt?: Date } | null;
};

const FIELDS = ['campaign_id', 'policy_set_id', 'tag_slug', 'country_code'] as const;

/**
 * An alert has one key for each combination of fields, 16 with that of no field: an index over keys and status counts
 * the alerts of every combination of values, whatever their number.
 */
export const filterKeysOf = (values: AlertDimensions): string[] =>
  Array.from({ length: 2 ** FIELDS.length }, (_, mask) => keyOf(mask, values));

/** 96 bits of a hash keep the index small; who finds two values with the same hash confuses own filters alone. */
function keyOf(mask: number, values: Partial<AlertDimensions>): string {
  if (mask === 0) return '0';
  const named = FIELDS.map((field, at) => (mask & (1 << at) ? values[field] : null));
  return `${mask.toString(16)}${createHash('sha256').update(JSON.stringify(named)).digest('base64url').slice(0, 16)}`;
}

/** The most keys of one question: times four statuses, the most ranges that the store reads in one search. */
const KEYS_MAX = 200;

/**
 * A filter as keys, of which a matching alert has exactly one, and what is left of it: lists that together have too
 * many combinations are compared with the fields. No keys: nothing matches.
 */
export type AlertQuestion = { keys: string[]; rest: { [Field in keyof AlertDimensions]?: { $in: string[] } } };

export function questionOf(filter: AlertFilter): AlertQuestion {
  const named = FIELDS.flatMap((field, at) => {
    const values = filter[field];
    return values ? [{ field, at, values: [...new Set(values)] }] : [];
  }).sort((one, other) => one.values.length - other.values.length);
  let combinations: Partial<AlertDimensions>[] = [{}];
  let mask = 0;
  const rest: AlertQuestion['rest'] = {};
  for (const { field, at, values } of named) {
    if (combinations.length * values.length > KEYS_MAX) rest[field] = { $in: values };
    else {
      mask |= 1 << at;
      combinations = combinations.flatMap((one) => values.map((value) => ({ ...one, [field]: value })));
    }
  }
  return { keys: combinations.map((values) => keyOf(mask, values)), rest };
}
