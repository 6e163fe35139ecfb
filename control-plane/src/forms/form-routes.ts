import { newId } from '@adsweep/shared/ids.ts';
import { Type } from 'typebox';
import type { LimitByAddress } from '../accounts/rate-limit/limit-by-address.ts';
import type { Caller } from '../http/caller.ts';
import { resource } from '../http/resource-routes.ts';
import { created, moment, type Route, route } from '../http/route.ts';
import { dueAtOnce } from '../platform/due-by-organization.ts';
import { FORM_SCHEMAS, filledFields, isTrapped } from './form-in.ts';
import { FORM_PATHS } from './form-paths.ts';
import type { FormStore } from './form-store.ts';
import { FORMS, type FormName, type FormSubmission } from './form-submission.ts';

export type FormParts = {
  forms: Pick<FormStore, 'insert' | 'list'>;
  limit: LimitByAddress;
  /** Limits the bytes that are kept of a day. */
  limitBytes: LimitByAddress;
  /** Whether submissions are mailed. */
  isMailed: boolean;
};

const ReceivedSchema = Type.Object({ id: Type.String(), received_at: moment() }, { title: 'FormReceived' });
const SubmissionSchema = Type.Object(
  {
    id: Type.String(),
    form: Type.Enum(FORMS),
    received_at: moment(),
    fields: Type.Record(Type.String(), Type.String(), { description: 'What was filled in.' }),
  },
  { title: 'FormSubmission' },
);

/** Forms of a website, which need no credential, and the operator's list of what was sent. */
export function formRoutes(parts: FormParts): Route<Caller>[] {
  return [...FORM_PATHS.map(({ path, form }) => formRoute(parts, path, form)), ...listRoutes(parts)];
}

const BODY = { bytes: 64 * 1024, values: 1_000 };

function formRoute(parts: FormParts, path: string, form: FormName): Route<Caller> {
  return route<Caller>({
    method: 'POST',
    path,
    group: 'Forms',
    summary: form === 'contact' ? 'Send the contact form' : 'Send the demo inquiry form',
    permission: 'none',
    body: FORM_SCHEMAS[form],
    bodyBounds: BODY,
    replies: { 201: { description: 'It was received.', schema: ReceivedSchema } },
    errors: ['rate_limited'],
    handle: async ({ body, stream }) => {
      await parts.limit(stream);
      const sent = body as Record<string, unknown>;
      const [id, now, fields] = [newId(), new Date(), filledFields(form, sent)];
      // A program is answered as everybody else, so that it learns nothing.
      if (!isTrapped(sent)) {
        await parts.limitBytes(stream, Buffer.byteLength(JSON.stringify(fields)));
        const mail = parts.isMailed ? { mail_due_at: dueAtOnce(now), mail_tries: 0 } : {};
        await parts.forms.insert({ _id: id, form, fields, received_at: now, ...mail });
      }
      return created({ id, received_at: now.toISOString() });
    },
  });
}

function listRoutes({ forms }: FormParts): Route<Caller>[] {
  const submissions = resource<FormSubmission>({
    group: 'Organizations',
    path: '/api/v1/form-submissions',
    id: null,
    noun: 'submission',
    permission: 'organizations.manage',
    schema: SubmissionSchema,
    presenter: () => presentSubmission,
  });
  return [
    submissions.page({
      summary: 'Submitted forms',
      description: 'What was sent with the forms of the website, newest first. It is kept for 180 days.',
      query: { form: Type.Optional(Type.Enum(FORMS)) },
      reply: 'A page of submissions.',
      rows: ({ query }, window) => forms.list(query.form ?? null, window),
    }),
  ];
}

const presentSubmission = ({ _id, form, received_at, fields }: FormSubmission) => ({
  id: _id,
  form,
  received_at: received_at.toISOString(),
  fields,
});
