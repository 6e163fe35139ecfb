import { Type } from 'typebox';
import { ObservedUrl, observationOf } from './observation-of.ts';

/** What a form asks for that is worth having to others. */
export const FORM_FIELDS = [
  'password',
  'card_number',
  'card_code',
  'one_time_code',
  'seed_phrase',
  'personal_id',
  'phone',
] as const;
export type FormField = (typeof FORM_FIELDS)[number];

/**
 * A form that is shown in the document at `url`, or fields outside of any: what it asks for, where it would be sent ('' = by a script, or
 * nowhere), and what it says.
 */
export const FormObservation = observationOf('form', {
  fields: Type.Array(Type.Enum(FORM_FIELDS), { maxItems: FORM_FIELDS.length }),
  action_url: ObservedUrl,
  text: Type.String({ maxLength: 500 }),
});
