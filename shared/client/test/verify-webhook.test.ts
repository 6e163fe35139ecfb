import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EventKind, EventPayload } from '@adsweep/shared/events/event-kinds.ts';
import { Webhook } from 'standardwebhooks';
import { verifyWebhook, type WebhookEvent } from '../src/client.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const BODY = JSON.stringify({
  type: 'scanning.scan.completed',
  timestamp: '2026-01-01T00:00:00Z',
  data: { scan_id: 'é' },
});

function signed(now = new Date(), secret = SECRET): Record<string, string> {
  const timestamp = String(Math.floor(now.getTime() / 1000));
  return {
    'webhook-id': 'e1',
    'webhook-timestamp': timestamp,
    'webhook-signature': new Webhook(secret).sign('e1', now, BODY),
  };
}

test('§6.1 a signed delivery is verified, also while its secret is being replaced', async () => {
  assert.equal((await verifyWebhook(SECRET, signed(), BODY)).type, 'scanning.scan.completed');
  const other = signed(new Date(), 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA')['webhook-signature'];
  const both = { ...signed(), 'webhook-signature': `${other} ${signed()['webhook-signature']}` };
  assert.ok(await verifyWebhook(SECRET, new Headers(both), BODY));
  const ofFramework = { get: (name: string) => signed()[name] ?? null };
  assert.ok(await verifyWebhook(SECRET, ofFramework as unknown as Headers, BODY));
});

test('a delivery that was changed, repeated late, signed by another or not signed is refused', async () => {
  const early = new Date(Date.now() - 301_000);
  const refused: [string, Record<string, string | undefined>, string][] = [
    [SECRET, signed(), BODY.replace('é', 'e')],
    [SECRET, { ...signed(), 'webhook-id': 'e2' }, BODY],
    [SECRET, signed(early), BODY],
    [SECRET, { ...signed(early), 'webhook-timestamp': signed()['webhook-timestamp'] }, BODY],
    [SECRET, { ...signed(), 'webhook-timestamp': 'NaN' }, BODY],
    [SECRET, { ...signed(), 'webhook-signature': 'v1,%%% v2,AAAA v1,' }, BODY],
    ['whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA', signed(), BODY],
    [SECRET, {}, BODY],
    ['', signed(), BODY],
    [undefined as unknown as string, signed(), BODY],
    ['whsec_', signed(), BODY],
  ];
  for (const [secret, headers, body] of refused)
    await assert.rejects(verifyWebhook(secret, headers, body), /^Error: webhook: /);
});

test('the types of events are those that the control plane sends', () => {
  // The types are checked with all others; the test is their example.
  type Sent = {
    [K in EventKind]: { type: K; timestamp: string; data: EventPayload<K> & { sequence: number } };
  }[EventKind];
  const received = (event: Sent): WebhookEvent => event;
  const sent = (event: WebhookEvent): Sent => event;
  const event = JSON.parse(BODY);
  assert.equal(sent(received(event)), event);
});
