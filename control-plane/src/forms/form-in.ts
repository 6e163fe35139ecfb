import { type TObject, type TSchema, Type } from 'typebox';
import { orNull } from '../http/route.ts';
import type { FormName } from './form-submission.ts';

const Filled = (maxLength: number) => Type.String({ minLength: 1, maxLength, pattern: '\\S' });
/** A field that a form may leave empty. */
const Optional = (maxLength: number, of: object = {}) => Type.Optional(orNull(Type.String({ maxLength, ...of })));

const shared = { name: Filled(200), email: Type.String({ format: 'email', maxLength: 254 }) };
/** The page hides this field, so that only programs fill it in. */
const trap = { website: Type.Optional(Type.Unknown()) };

const form = (title: string, fields: Record<string, TSchema>): TObject =>
  // A website may send more than is read.
  Type.Object({ ...shared, ...fields, ...trap }, { additionalProperties: true, maxProperties: 100, title });

/** What each form sends. */
export const FORM_SCHEMAS: Record<FormName, TObject> = {
  contact: form('ContactIn', { company: Optional(200), message: Filled(5_000) }),
  'demo-inquiries': form('DemoInquiryIn', {
    company: Filled(200),
    phone: Optional(50),
    country_code: Optional(2, { pattern: '^([A-Za-z]{2})?$' }),
    use_case: Optional(2_000),
    message: Optional(5_000),
  }),
};

/** The known fields of a submission that were filled in. */
export function filledFields(name: FormName, body: Record<string, unknown>): Record<string, string> {
  const known = Object.keys(FORM_SCHEMAS[name].properties).filter((field) => !(field in trap));
  const sent = known.map((field) => [field, body[field]] as const);
  return Object.fromEntries(sent.filter((one): one is [string, string] => typeof one[1] === 'string' && one[1] !== ''));
}

/** Whether the field that people do not see is filled in. */
export const isTrapped = ({ website }: Record<string, unknown>): boolean =>
  website !== undefined && website !== null && website !== '';
