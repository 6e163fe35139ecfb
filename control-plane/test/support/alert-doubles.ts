import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { newId } from '@adsweep/shared/ids.ts';
import { newAlerts } from '../../src/delivery/alerts/alert.ts';
import { relay } from '../../src/delivery/outbox/relay.ts';
import type { AlertedScan, Violation } from '../../src/platform/outbox/outbox-entry.ts';
import { type Json, ORGANIZATIONS, type RunningApi } from './running-api.ts';

type Reply = { status: number; body?: string; headers?: Record<string, string> };

/** A request as a double received it. `body`: parsed if it is JSON. */
export type Received = { path: string; type: string; headers: http.IncomingHttpHeaders; text: string; body: Json };

/** A server that records requests and answers what `reply` says. */
export async function startDouble(reply: (received: Received) => Reply | Promise<Reply>) {
  const received: Received[] = [];
  const server = http.createServer(async (request, response) => {
    const parts = await request.toArray().catch(() => null);
    // The process that sent it was killed meanwhile.
    if (!parts) return;
    const text = Buffer.concat(parts).toString('latin1');
    const type = request.headers['content-type'] ?? '';
    const body = type.startsWith('application/json') ? JSON.parse(Buffer.from(text, 'latin1').toString()) : null;
    const one = { path: request.url ?? '', type, headers: request.headers, text, body };
    received.push(one);
    const { status, body: answer = '', headers } = await reply(one);
    response.writeHead(status, headers).end(answer);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    ...{ url: `http://127.0.0.1:${port}`, received },
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}

const SCAN: AlertedScan = {
  ...{ policy_set_id: 'set', policy_set_name: 'Brand safety', campaign_id: '', country_code: 'US' },
  ...{
    emulator_id: 'windows_chrome',
    labels: {},
    scan_url: 'https://shop.example/',
    report_token: 'tokentokentokentoken12',
  },
  offer_url: 'https://offer.example/landing',
};
const VIOLATION: Violation = {
  ...{
    entry_id: 'entry',
    rule_type: 'tag',
    tag_slug: 'autosound',
    tag_display_name: 'Plays sound',
    severity: 'medium',
  },
  matched_value: null,
};

/** Raises an alert of a campaign, as the relay does it for a finished scan; its id. */
export async function raiseAlert(
  api: RunningApi,
  campaignId: string,
  scan: Partial<AlertedScan> = {},
  violation: Partial<Violation> = {},
  { scanId = newId(), organizationId = ORGANIZATIONS.ours }: { scanId?: string; organizationId?: string } = {},
): Promise<string> {
  const [alert] = newAlerts(
    {
      ...{ id: newId(), kind: 'alerts', at: new Date(), scan: { ...SCAN, ...scan, campaign_id: campaignId } },
      violations: [{ ...VIOLATION, ...violation }],
    },
    { organizationId, scanId, campaignId },
  );
  await api.domains.delivery.stores.alerts.add([alert!]);
  return alert!._id;
}

/** Carries out all outbox entries. */
export async function relayAll({ domains }: RunningApi): Promise<void> {
  while ((await relay(domains.delivery.dependencies, new Date())).entries > 0);
}
