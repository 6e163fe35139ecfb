import assert from 'node:assert/strict';
import type { GuardedAnswer, GuardedRequest } from '@adsweep/shared/egress/guarded-post.ts';
import type { EventKind } from '@adsweep/shared/events/event-kinds.ts';
import { newId } from '@adsweep/shared/ids.ts';
import { type DispatchParts, dispatchEvents } from '../../src/delivery/webhooks/dispatch-events.ts';
import { EVENT_TYPES, sampleBody } from '../../src/delivery/webhooks/event-types.ts';
import { mailNextWarning } from '../../src/delivery/webhooks/warn-users.ts';
import type { Mail, MailOutcome } from '../../src/platform/mail.ts';
import type { OutboxEntry } from '../../src/platform/outbox/outbox-entry.ts';
import { type Json, ORGANIZATIONS, type RunningApi, runningApi } from './running-api.ts';

export const PATH = '/api/v1/webhooks';
export const URL = 'https://hooks.example.com/adsweep';
export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
export const KINDS: EventKind[] = EVENT_TYPES.map(({ kind }) => kind);

type Sent = { url: string; eventId: string; scanId: string; sequence: number; at: number };

/** An API with webhook endpoints that are doubles, and dispatchers whose time the test sets. */
export class WebhookWorld {
  readonly api: RunningApi;
  /** The time of the dispatchers; what is emitted occurs then. */
  now = 0;
  began = 0;
  sent: Sent[] = [];
  mails: string[] = [];
  /** What endpoints answer. */
  reply: (request: GuardedRequest, of: Sent) => Partial<GuardedAnswer> | Promise<Partial<GuardedAnswer>> = () => ({});
  parts: DispatchParts;

  static async open(): Promise<WebhookWorld> {
    return new WebhookWorld(await runningApi());
  }

  private constructor(api: RunningApi) {
    this.api = api;
    this.parts = api.domains.delivery.dependencies.sending;
  }

  /** Removes all endpoints and events; the endpoints of the next test answer 200. */
  async reset(): Promise<void> {
    for (const name of ['webhook_endpoints', 'webhook_deliveries', 'webhook_attempts', 'events'])
      await this.api.store.collection(name).deleteMany({});
    this.now = Date.now();
    this.began = this.now;
    this.sent = [];
    this.mails = [];
    this.reply = () => ({ status: 200 });
    this.parts = {
      ...this.api.domains.delivery.dependencies.sending,
      clock: () => new Date(this.now),
      post: async (request) => {
        const { data } = JSON.parse(String(request.body));
        const of = {
          url: request.url,
          eventId: request.headers['webhook-id']!,
          scanId: data.scan_id,
          sequence: data.sequence,
          at: this.now,
        };
        this.sent.push(of);
        return { status: 500, body: '', retryAfter: null, elapsedMs: 1, ...(await this.reply(request, of)) };
      },
    };
  }

  async create(change: object = {}): Promise<{ webhook: Json; secret: string }> {
    const answer = await this.api.post(PATH, { url: URL, ...change });
    assert.equal(answer.status, 201, answer.text);
    return answer.body;
  }

  async read(id: string): Promise<Json> {
    return (await this.api.get(`${PATH}/${id}`)).body;
  }

  /** The number of deliveries that wait for an endpoint. */
  waiting(endpoint_id: string): Promise<number> {
    return this.api.store.collection('webhook_deliveries').countDocuments({ endpoint_id, state: 'waiting' });
  }

  /** Emits events of a scan, as the relay does. */
  async emitOf(scanId: string, kinds: EventKind[] = KINDS, change: object = {}): Promise<void> {
    for (const event of kinds) {
      const { sequence, ...sample } = sampleBody(event).data;
      const payload = { ...sample, scan_id: scanId, ...change };
      const at = new Date(this.now);
      const entry = { id: newId(), kind: 'event', at, event, payload, sequence } as OutboxEntry<'event'>;
      const origin = { organizationId: ORGANIZATIONS.ours, scanId, campaignId: null };
      await this.api.domains.delivery.outboxHandlers.event(entry, origin);
    }
  }

  async emit(scans: number): Promise<void> {
    for (let at = 0; at < scans; at++) await this.emitOf(newId());
  }

  async dispatch(): Promise<void> {
    while (await dispatchEvents(this.parts));
  }

  /** Mails what is due; the mail server says `answer` each time. */
  async mail(answer: MailOutcome = { sent: true, status: 250 }): Promise<void> {
    const send = async ({ subject }: Mail) => {
      this.mails.push(`${subject} after ${Math.round((this.now - this.began) / HOUR)} h`);
      return answer;
    };
    const { endpoints } = this.api.domains.delivery.stores;
    const { logger } = this.parts;
    const warning = { endpoints, mailer: { send }, contactEmailsOf: async () => ['a@b.example'], logger };
    while (await mailNextWarning(warning, new Date(this.now)));
  }

  /** Lets time pass; the dispatcher looks every five minutes. */
  async pass(ms: number): Promise<void> {
    for (const end = this.now + ms; this.now < end; ) {
      this.now = Math.min(end, this.now + 5 * MINUTE);
      await this.dispatch();
      await this.mail();
    }
  }

  /** What was sent to the endpoint at {@link URL}. */
  taken(): Sent[] {
    return this.sent.filter(({ url }) => url === URL);
  }
}

/** Whether the events of each scan were sent in their order; those that were sent again in between do not count. */
export function assertInOrder(delivered: Sent[]): void {
  const last = new Map<string, number>();
  for (const { scanId, sequence } of delivered) {
    assert.ok(sequence > (last.get(scanId) ?? 0), `${scanId}: ${sequence} after ${last.get(scanId)}`);
    last.set(scanId, sequence);
  }
}
