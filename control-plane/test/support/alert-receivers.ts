import assert from 'node:assert/strict';
import { EgressPolicy } from '@adsweep/shared/egress/egress-policy.ts';
import { type DispatchParts, dispatchDue } from '../../src/delivery/notifications/dispatch.ts';
import { openMailer } from '../../src/platform/mail.ts';
import { startDouble } from './alert-doubles.ts';
import { MAIL_CERTIFICATE, startMailServer } from './mail-server.ts';
import { type Json, runningApi } from './running-api.ts';

export const DESTINATIONS = '/api/v1/alert-notifications/destinations';
export const TELEGRAM_TOKEN = '123456:secret-of-the-telegram-bot-x';
/** A campaign without notifications. */
export const SPRING_OFFER = { name: 'Spring offer', url: 'https://shop.example/', country_codes: ['US'] };

type Reply = { status: number; body?: string; headers?: Record<string, string> };

/** The API beside doubles of Slack and Telegram and a mail server, which its organizations' destinations lead to. */
export async function alertReceivers() {
  /** What the doubles answer, until a test says otherwise. */
  const replies: { slack: (body: Json) => Reply; telegram: () => Reply } = {
    slack: () => ({ status: 200, body: 'ok' }),
    telegram: () => ({ status: 200, body: '{"ok":true,"result":{}}' }),
  };
  const slack = await startDouble(({ body }) => replies.slack(body));
  const telegram = await startDouble(() => replies.telegram());
  const mail = await startMailServer({ secure: true });
  const mailer = openMailer({
    ...{ url: `smtps://localhost:${mail.port}`, from: 'adsweep@adsweep.example' },
    tls: { ca: MAIL_CERTIFICATE, servername: 'localhost' },
  });
  const egress = new EgressPolicy(['127.0.0.0/8'], []);
  const api = await runningApi({ mailer, settings: { telegramApiUrl: telegram.url, egress } });

  return {
    api,
    slack,
    telegram,
    mail,
    replies,

    /** Creates a destination that is the Slack double, as far as `more` says nothing else. */
    async newDestination(more: object = {}): Promise<Json> {
      const body = { name: 'Ops', channel: 'slack', slack: { webhook_url: `${slack.url}/hook` }, ...more };
      const answer = await api.post(DESTINATIONS, body);
      assert.equal(answer.status, 201, answer.text);
      return answer.body;
    },

    /** Creates a campaign that sends its alerts to these destinations; its id. */
    async newCampaign(ids: string[], name = 'Spring offer'): Promise<string> {
      const notifications = { mode: 'override', destination_ids: ids };
      const body = { ...SPRING_OFFER, name, notifications };
      return (await api.post('/api/v1/campaigns', body)).body.id;
    },

    async readDestination(id: string): Promise<Json> {
      return (await api.get(`${DESTINATIONS}/${id}`)).body;
    },

    /** Dispatches what is due after this time. */
    dispatchAfter(ms: number, change: Partial<DispatchParts> = {}): Promise<void> {
      return this.dispatchAt(Date.now() + ms, change);
    },

    /** Dispatches what is due at a moment (Unix ms). */
    async dispatchAt(ms: number, change: Partial<DispatchParts> = {}): Promise<void> {
      const now = new Date(ms);
      const parts = { ...api.domains.delivery.dependencies.dispatching, clock: () => now, ...change };
      while (await dispatchDue(parts));
    },

    /** What the Slack double received since it had `from` requests, as texts. */
    slackTexts: (from: number): string[] => slack.received.slice(from).map(({ body }) => JSON.stringify(body)),

    async stop(): Promise<void> {
      await api.stop();
      slack.stop();
      telegram.stop();
      await mail.stop();
    },
  };
}

export type AlertReceivers = Awaited<ReturnType<typeof alertReceivers>>;
