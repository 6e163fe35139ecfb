import { DAY_MS } from '@adsweep/shared/durations.ts';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import { MAIL_TAKEN_MS, type Mail, type Mailer, nextTryAt } from '../platform/mail.ts';
import type { FormStore } from './form-store.ts';
import type { FormSubmission } from './form-submission.ts';

export type FormMailParts = {
  forms: Pick<FormStore, 'takeMail' | 'endMail'>;
  mailer: Pick<Mailer, 'send'>;
  to: string[];
  logger: Logger;
};

/** After this time a mail is given up: the operator's list has the submission. */
const GIVEN_UP_MS = 3 * DAY_MS;

/**
 * Sends the mail that has been due longest; returns whether others may be due. A process that ends in between sends it
 * again.
 */
export async function mailNext({ forms, mailer, to, logger }: FormMailParts, now: Date): Promise<boolean> {
  const submission = await forms.takeMail(now, new Date(now.getTime() + MAIL_TAKEN_MS));
  if (!submission) return false;
  const { _id, received_at, mail_tries = 1 } = submission;
  const outcome = await mailer.send(mailOf(submission, to));
  if (outcome.sent) {
    await forms.endMail(_id, null);
    return true;
  }
  const { status, reason, cause } = outcome;
  const dueAt = nextTryAt(outcome, { since: received_at, forMs: GIVEN_UP_MS, tries: mail_tries }, now);
  await forms.endMail(_id, dueAt);
  const about = { submission_id: _id, status, reason, cause, given_up: dueAt === null };
  logger.warn(about, 'the mail of a form was not sent');
  return true;
}

/** The mail about a submission. An answer to it goes to who sent the form. */
function mailOf({ _id: id, form, fields }: FormSubmission, to: string[]): Mail {
  const { name = '', email } = fields;
  const lines = Object.entries(fields).map(([field, value]) => `${field}: ${value}`);
  const text = lines.join('\n');
  return {
    id,
    to,
    subject: `${form === 'contact' ? 'Contact' : 'Demo inquiry'}: ${name}`,
    text,
    html: `<pre style="white-space: pre-wrap">${escaped(text)}</pre>`,
    ...(email !== undefined && { replyTo: email }),
  };
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
const escaped = (text: string): string => text.replaceAll(/[&<>]/g, (character) => ENTITIES[character]!);
