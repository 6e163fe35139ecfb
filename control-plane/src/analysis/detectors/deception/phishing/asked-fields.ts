import type { FormField } from '@adsweep/shared/capture/observations/content.ts';

/** Fields that only the owner of an account should ask for. */
const SECRETS: readonly FormField[] = [
  'password',
  'card_number',
  'card_code',
  'one_time_code',
  'seed_phrase',
  'personal_id',
];
/** Those that open something. Honest forms without a server of their own ask for the number of an identity card. */
const KEYS: readonly FormField[] = SECRETS.filter((field) => field !== 'personal_id');

type Form = { fields: readonly FormField[] };

/** Whether a form asks for what only the owner of an account should ask for. */
export const asksForSecrets = ({ fields }: Form): boolean => fields.some((field) => SECRETS.includes(field));

/** Whether a form asks for a secret that opens something. */
export const asksForKeys = ({ fields }: Form): boolean => fields.some((field) => KEYS.includes(field));

/** Whether a form asks for an account: many sign-in pages ask for the identifier first, and for the password later. */
export const asksForAccount = (form: Form): boolean => asksForSecrets(form) || form.fields.includes('identifier');
