import type { Logger } from '@adsweep/shared/service/logger.ts';
import type { Mail, Mailer } from '../platform/mail.ts';
import type { FormStore } from './form-store.ts';
import type { FormSubmission } from './form-submission.ts';

export type FormMailParts = {
  forms: Pick<FormStore, 'takeMail' | 'endMail'>;
  mailer: Pick<Mailer, 'send'>;
  to: string[];
  logger: Logger;
};

/** While one process sends a mail, no other does: longer than a mail takes at most. */
const TAKEN_MS = 2 * 60_000;
const RETRY_MIN_MS = 30_000;
const RETRY_MAX_MS = 60 * 60_000;
/** After this time a mail is given up: the operator's list has the submission. */
const GIVEN_UP_MS = 3 * 86_400_000;

/** Sends the mail that has been due longest; returns whether others may be due. A process that ends in between sends it again. */
export async function mailNext({ forms, mailer, to, logger }: FormMailParts, now: Date): Promise<boolean> {
  const submission = await forms.takeMail(now, new Date(now.getTime() + TAKEN_MS));
  if (!submission) return false;
  const { _id, received_at, mail_tries = 1 } = submission;
  const outcome = await mailer.send(mailOf(submission, to));
  if (outcome.sent) {
    await forms.endMail(_id, null);
    return true;
  }
  const { status, reason, isPermanent, cause } = outcome;
  const isGivenUp = isPermanent || now.getTime() - received_at.getTime() > GIVEN_UP_MS;
  const waitMs = Math.min(RETRY_MIN_MS * 2 ** (mail_tries - 1), RETRY_MAX_MS);
  await forms.endMail(_id, isGivenUp ? null : new Date(now.getTime() + waitMs));
  logger.warn({ submission_id: _id, status, reason, cause, given_up: isGivenUp }, 'the mail of a form was not sent');
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
