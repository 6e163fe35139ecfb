import { LABEL_VALUE_LENGTH_MAX } from '@adsweep/shared/limits.ts';
import type { Issue } from '@adsweep/shared/validation/issue.ts';
import { LABEL_KEY } from '../label-key.ts';
import { type Check, issueAt } from './check.ts';

/** Labels have a key in snake case and a value of 1 to 255 characters. */
export const checkLabels: Check = ({ scan: { labels } }) => {
  if (!labels) return [];
  return Object.entries(labels).flatMap(labelIssues);
};

function labelIssues([key, value]: [string, string]): Issue[] {
  const at = ['labels', key];
  if (!LABEL_KEY.test(key))
    return [issueAt(at, 'string_pattern_mismatch', `A label's key must match ${LABEL_KEY.source}.`, key)];
  if (value === '') return [issueAt(at, 'string_too_short', 'A label must have a value.', value, { min_length: 1 })];
  if (!hasMoreCharacters(value, LABEL_VALUE_LENGTH_MAX)) return [];
  const msg = `Must have at most ${LABEL_VALUE_LENGTH_MAX} characters.`;
  return [issueAt(at, 'string_too_long', msg, value, { max_length: LABEL_VALUE_LENGTH_MAX })];
}

/**
 * Counts characters as schemas do: an emoji is one, and two UTF-16 units. A text with more than twice as many units is
 * not split.
 */
const hasMoreCharacters = (text: string, most: number): boolean =>
  text.length > most && (text.length > 2 * most || [...text].length > most);
