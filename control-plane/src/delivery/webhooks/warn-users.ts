import type { Logger } from '@adsweep/shared/service/logger.ts';
import { html } from '../../http/pages/html.ts';
import type { Mailer } from '../../platform/mail.ts';
import type { EndpointRecord } from './endpoint.ts';

/** Mails the people of an organization about an endpoint that fails for an hour, or was switched off (spec 6). Never rejects. */
export type WarnUsers = (endpoint: EndpointRecord, about: 'failing' | 'switched_off') => Promise<void>;

export type WarnParts = {
  mailer: Mailer | null;
  contactEmailsOf: (organizationId: string) => Promise<string[]>;
  logger: Logger;
};

export function warnUsers({ mailer, contactEmailsOf, logger }: WarnParts): WarnUsers {
  return async (endpoint, about) => {
    const to = mailer ? await contactEmailsOf(endpoint.organization_id) : [];
    // Without addresses, the health of the endpoint alone tells (decisions 7).
    if (!mailer || to.length === 0) return;
    const outcome = await mailer.send({ to, ...textsOf(endpoint, about) });
    if (!outcome.sent) logger.warn({ endpoint: endpoint._id, about, cause: outcome.cause }, 'a warning was not mailed');
  };
}

/** What the mail says. Pure. */
export function textsOf({ url, health }: EndpointRecord, about: 'failing' | 'switched_off') {
  const { host } = new URL(url);
  const since = health.failing_since?.toISOString() ?? '';
  const status = health.last?.status ?? null;
  const last = status === null ? 'The last try got no answer.' : `The last answer was ${status}.`;
  const isOff = about === 'switched_off';
  const subject = isOff ? `Webhook switched off: ${host}` : `Webhook failing: ${host}`;
  const lines = [
    isOff ? `Adsweep has switched off your webhook ${url}.` : `Your webhook ${url} does not take events.`,
    `No event was taken since ${since}. ${last}`,
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
