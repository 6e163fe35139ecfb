import { DAY_MS } from '@adsweep/shared/durations.ts';
import { derivedId } from '@adsweep/shared/ids.ts';
import type { Logger } from '@adsweep/shared/service/logger.ts';
import { html } from '../../http/pages/html.ts';
import { dueAtOnce } from '../../platform/due-by-organization.ts';
import { MAIL_TAKEN_MS, type Mailer, nextTryAt } from '../../platform/mail.ts';
import { type Loop, startLoop } from '../../platform/start-loop.ts';
import type { EndpointRecord, Warning } from './endpoint.ts';
import type { EndpointStore } from './endpoint-store.ts';

export type WarningParts = {
  endpoints: Pick<EndpointStore, 'takeWarning' | 'endWarning'>;
  /** null: the service sends no mails. */
  mailer: Pick<Mailer, 'send'> | null;
  contactEmailsOf: (organizationId: string) => Promise<string[]>;
  logger: Logger;
};

const LOOK_EVERY_MS = 5_000;
/** After this time a mail is given up. */
const GIVEN_UP_MS = DAY_MS;

/**
 * What the people of an organization are told about an endpoint that fails for an hour, or was switched off (spec 6);
 * due at once.
 */
export const warningOf = ({ health }: EndpointRecord, about: Warning['about'], now: Date): Warning => ({
  about,
  at: now,
  failing_since: health.failing_since ?? now,
  last_status: health.last?.status ?? null,
  tries: 0,
  due_at: dueAtOnce(now),
});

/**
 * Mails warnings. Any number of processes may do so; one that ends in between lets another send the same mail again.
 */
export function startMailingWarnings(parts: WarningParts): Loop {
  const step = () => mailNextWarning(parts, new Date());
  return startLoop(parts.logger, { name: 'webhook warnings', everyMs: LOOK_EVERY_MS, step });
}

/**
 * Mails the warning that has been due longest; returns whether others may be due. One that fails is tried again for a
 * day.
 */
export async function mailNextWarning(parts: WarningParts, now: Date): Promise<boolean> {
  const { endpoints, mailer, contactEmailsOf, logger } = parts;
  const endpoint = await endpoints.takeWarning(now, new Date(now.getTime() + MAIL_TAKEN_MS));
  if (!endpoint) return false;
  const { _id, url, warning } = endpoint;
  const to = mailer ? await contactEmailsOf(endpoint.organization_id) : [];
  // Without addresses, only the health of the endpoint shows it (decisions 7).
  const id = derivedId(`webhook warning:${_id}/${warning.about}/${warning.at.toISOString()}`, 0);
  const outcome = mailer && to.length > 0 ? await mailer.send({ id, to, ...textsOf(url, warning) }) : null;
  if (!outcome || outcome.sent) {
    await endpoints.endWarning(endpoint, null);
    return true;
  }
  const { status, reason, cause } = outcome;
  const dueAt = nextTryAt(outcome, { since: warning.at, forMs: GIVEN_UP_MS, tries: warning.tries }, now);
  await endpoints.endWarning(endpoint, dueAt);
  const about = { endpoint: _id, about: warning.about, status, reason, cause, given_up: dueAt === null };
  logger.warn(about, 'a warning about a webhook endpoint was not mailed');
  return true;
}

/** What the mail says. Pure. */
function textsOf(url: string, { about, failing_since, last_status }: Warning) {
  const { host } = new URL(url);
  const last = last_status === null ? 'The last try got no answer.' : `The last answer was ${last_status}.`;
  const isOff = about === 'switched_off';
  const subject = isOff ? `Webhook switched off: ${host}` : `Webhook failing: ${host}`;
  const lines = [
    isOff ? `Adsweep has switched off your webhook ${url}.` : `Your webhook ${url} does not take events.`,
    `No event was taken since ${failing_since.toISOString()}. ${last}`,
    isOff
      ? 'Events can be replayed until seven days after they occurred. Switch the webhook on again (is_active: true) when it answers.'
      : 'Events wait, and are sent when it answers with 2xx again. It is switched off 24 hours after it began to fail.',
  ];
  return {
    subject,
    text: `${lines.join('\n\n')}\n`,
    html: html`${lines.map((line) => html`<p>${line}</p>`)}`.toString(),
  };
}
