import { isFinal } from '@adsweep/shared/scan/scan-status.ts';
import { type Html, html } from '../../../http/pages/html.ts';
import { at } from '../../api/console-api.ts';
import { itemsOf, type Listed, type Schemas } from '../../api/schemas.ts';
import { card, table } from '../../components/tables.ts';
import { chip, counted, money, number, short, showTime } from '../../components/texts.ts';
import type { Visit } from '../../visit.ts';

type Scan = Schemas['Scan'];
type Event = Schemas['Event'];
type Webhook = Schemas['Webhook'];

/** What a scan cost, and what it sent; null: the person may not see it, or it is not there yet. */
export type ScanAccount = {
  ledger: Schemas['Ledger'][] | null;
  events: { sent: Event[]; endpoints: Webhook[] } | null;
};

/** Reads what was booked of a scan and, when it has ended, its events with their deliveries. */
export async function readAccount({ api, may }: Visit, { id, status }: Scan): Promise<ScanAccount> {
  const readEvents = async () => {
    const [{ items }, endpoints] = await Promise.all([
      api.get<Listed<Event>>(at`/webhooks/events`, { scan_id: id }),
      api.get<Webhook[] | Listed<Webhook>>(at`/webhooks`),
    ]);
    return { sent: items, endpoints: itemsOf(endpoints) };
  };
  const [ledger, events] = await Promise.all([
    may('billing.read') ? api.get<Listed<Schemas['Ledger']>>(at`/billing/history`, { scan_id: id }) : null,
    may('webhooks.manage') && isFinal(status) ? readEvents() : null,
  ]);
  return { ledger: ledger?.items ?? null, events };
}

/** What the scan cost; null: it is not known. */
export function costWords({ ledger }: ScanAccount): string | null {
  if (ledger === null || ledger.length === 0) return null;
  const cost = ledger.reduce((sum, { amount_micros }) => sum - amount_micros, 0);
  const refund = ledger.find(({ type }) => type === 'refund');
  return refund ? `${money(cost)}, ${money(refund.amount_micros)} given back` : money(cost);
}

const STATES: Record<Event['deliveries'][number]['state'], [tone: string, words: string]> = {
  waiting: ['busy', 'waits'],
  delivered: ['clean', 'delivered'],
  expired: ['high', 'not delivered'],
  dropped: ['off', 'not wanted any more'],
};

/** The events of the scan, and what became of them at each endpoint. */
export function showEvents({ link, now }: Visit, { events }: ScanAccount): Html | null {
  if (events === null) return null;
  const { sent, endpoints } = events;
  if (sent.length === 0)
    return card(
      'Events',
      html`<p class="quiet">None: events of scans are kept for seven days, and a scan that failed or was cancelled sends none.</p>`,
      { count: 0 },
    );
  const shown = ({ endpoint_id, state, attempts }: Event['deliveries'][number]): Html => {
    const url = endpoints.find(({ id }) => id === endpoint_id)?.url;
    const [tone, words] = STATES[state];
    return html`<li><a href="${link(`/webhooks/${endpoint_id}`)}"><bdi>${url === undefined ? 'an endpoint' : short(url.replace(/^https?:\/\//, ''), 50)}</bdi></a> ${chip(tone, words)} <span class="quiet">${counted(attempts, 'attempt')}</span></li>`;
  };
  const rows = sent.map(({ type, timestamp, deliveries }) => [
    html`<code>${type}</code>`,
    deliveries.length === 0
      ? html`<span class="quiet">no endpoint wanted it</span>`
      : html`<ul class="plain-list">${deliveries.map(shown)}</ul>`,
    showTime(timestamp, now),
  ]);
  return card(
    'Events',
    table(
      'Events of this scan',
      [{ label: 'Event' }, { label: 'Deliveries' }, { label: 'Occurred', kind: 'number' }],
      rows,
    ),
    { count: number(sent.length) },
  );
}
