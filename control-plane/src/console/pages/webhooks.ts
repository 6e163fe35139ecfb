import { DAY_MS } from '@adsweep/shared/durations.ts';
import { type Html, html } from '../../http/pages/html.ts';
import { showUrl } from '../../scanning/reports/show-url.ts';
import { at } from '../api/console-api.ts';
import { itemsOf, type Listed, type Schemas } from '../api/schemas.ts';
import { action } from '../components/actions.ts';
import { button, choice, choices, linkButton, selectField, textField } from '../components/fields.ts';
import { NO_PROBLEMS, type Problems, refusedForm } from '../components/problems.ts';
import { card, empty, facts, pager, table } from '../components/tables.ts';
import { agoWords, chip, number, short, showTime, unseen } from '../components/texts.ts';
import type { Page, PageRoute, Visit } from '../visit.ts';
import { queryOfPage } from './scans/list-page.ts';
import { secretPage } from './secret-page.ts';

type Webhook = Schemas['Webhook'];
type EventType = Schemas['WebhookTestIn']['event_type'];
const EVENTS: EventType[] = ['scanning.scan.completed', 'scanning.tags.detected', 'scanning.screenshot.captured'];

/** Endpoints with their health. */
export const webhookList: PageRoute = {
  method: 'GET',
  path: '/webhooks',
  handle: async ({ api, link, now }) => {
    const all = itemsOf(await api.get<Webhook[] | Listed<Webhook>>(at`/webhooks`));
    const rows = all.map((one) => [
      html`<a class="row-link" href="${link(`/webhooks/${one.id}`)}"><bdi>${one.url}</bdi></a><span class="meta"><bdi>${one.description}</bdi></span>`,
      health(one),
      `${(100 * one.health.success_rate_7d).toFixed(1)} %`,
      one.health.last_delivery_at === null
        ? html`<span class="quiet">never</span>`
        : agoWords(one.health.last_delivery_at, now),
    ]);
    const columns = [
      { label: 'Endpoint' },
      { label: 'Health' },
      { label: 'Accepted in 7 days', kind: 'number' as const },
      { label: 'Last delivery', kind: 'number' as const },
    ];
    const none = empty(
      'No endpoints',
      'Events of scans are sent to your own servers, signed, in order and for a day if need be.',
      linkButton('New endpoint', link('/webhooks/new'), 'main'),
    );
    return {
      title: 'Webhooks',
      everySeconds: 10,
      actions: linkButton('New endpoint', link('/webhooks/new'), 'main'),
      body: html`<section class="card flush" data-region="endpoints">${rows.length > 0 ? table('Webhook endpoints', columns, rows) : none}</section>`,
    };
  },
};

/** The state of an endpoint or destination. */
export const health = ({
  is_active,
  disabled_reason,
  failing_since,
}: Pick<Webhook, 'is_active' | 'disabled_reason' | 'failing_since'>): Html =>
  !is_active
    ? chip(disabled_reason === 'failing' ? 'high' : 'off', disabled_reason === 'failing' ? 'switched off' : 'paused')
    : failing_since !== null
      ? chip('medium', 'failing')
      : chip('clean', 'working');

/** An endpoint: its health, what was sent to it and what it answered. */
export const webhookPage: PageRoute = {
  method: 'GET',
  path: '/webhooks/{id}',
  handle: async (visit) => {
    const { api, params, link, now, query } = visit;
    const id = params.id!;
    const [one, log] = await Promise.all([
      api.get<Webhook>(at`/webhooks/${id}`),
      api.get<Listed<Schemas['Delivery']>>(at`/webhooks/${id}/deliveries`, queryOfPage(query, 25)),
    ]);
    const back = link(`/webhooks/${id}`);
    const patch = { method: 'PATCH', path: at`/webhooks/${id}`, back } as const;
    const tryNow =
      one.is_active &&
      one.failing_since !== null &&
      action(visit, { ...patch, label: 'Try now', body: { is_active: true }, done: 'resumed' });
    const actions = html`${tryNow}${one.is_active ? action(visit, { ...patch, label: 'Pause', body: { is_active: false }, done: 'paused' }) : action(visit, { ...patch, label: 'Resume', body: { is_active: true }, done: 'resumed' })}${action(visit, { label: 'Delete', method: 'DELETE', path: at`/webhooks/${id}`, done: 'deleted', back: link('/webhooks'), tone: 'danger', asks: 'Delete this endpoint? What was not delivered is lost.' })}${action(visit, { label: 'Send a test', method: 'POST', path: at`/webhooks/${id}/test`, body: { event_type: EVENTS[0] }, done: 'tried', back, tone: 'main' })}`;
    const about = facts([
      ['Address', showUrl(one.url)],
      [
        'State',
        html`${health(one)}${one.failing_since !== null && html` failed first ${agoWords(one.failing_since, now)}`}${one.paused_until !== null && html`, the next try ${agoWords(one.paused_until, now)}`}`,
      ],
      ['Accepted in 7 days', `${(100 * one.health.success_rate_7d).toFixed(1)} %`],
      ['Failures in a row', number(one.health.consecutive_failures)],
      ['Events', one.event_types.length === 0 ? 'all' : one.event_types.join(', ')],
      ['Campaigns', one.campaign_ids === null ? 'all' : number(one.campaign_ids.length)],
      ['Description', html`<bdi>${one.description || 'none'}</bdi>`],
    ]);
    const sections = html`<div class="columns-2"><div class="stack">${card('Health', about, { region: 'health' })}${rotateCard(visit, id)}</div><div class="stack">${replayCard(visit, id)}${card('Verify a signature', html`<p>Every request is signed (Standard Webhooks). With the client:</p><pre tabindex="0"><code>${VERIFY}</code></pre>`)}</div></div>`;
    return {
      title: short(one.url.replace(/^https?:\/\//, ''), 80),
      above: html`<a href="${link('/webhooks')}">Webhooks</a>`,
      everySeconds: 10,
      actions,
      body: html`${sections}<section class="card flush" data-region="log"><h2>Log <span class="count">${number(log.total)}</span></h2>${deliveries(visit, log, back)}</section>`,
    };
  },
};

const VERIFY = `import { verifyWebhook } from '@adsweep/client';

const event = await verifyWebhook(process.env.WEBHOOK_SECRET, request.headers, body);`;

function deliveries(visit: Visit, log: Listed<Schemas['Delivery']>, back: string): Html {
  if (log.items.length === 0) return empty('Nothing was sent yet', 'Send a test, or wait for the next scan.');
  const nameOf = ({ event_type, attempt_number, created_at }: Schemas['Delivery']): string =>
    `${event_type}, try ${attempt_number}, ${created_at}`;
  const rows = log.items.map((one) => [
    html`${one.success ? chip('clean', 'accepted') : chip('high', ERROR_WORDS[one.error_code ?? ''] ?? 'failed')}`,
    html`<code>${one.event_type}</code><span class="meta">try ${one.attempt_number}</span>`,
    html`${one.response_status ?? 'no answer'}${one.response_body !== null && one.response_body !== '' && html`<details class="answer"><summary>answer${unseen(nameOf(one))}</summary><pre tabindex="0"><code><bdi>${one.response_body}</bdi></code></pre></details>`}`,
    one.elapsed_ms === null ? '' : `${number(one.elapsed_ms)} ms`,
    showTime(one.created_at, visit.now),
    action(visit, {
      label: 'Send again',
      method: 'POST',
      path: at`/webhooks/deliveries/${one.id}/replay`,
      done: 'sent',
      back,
      of: nameOf(one),
    }),
  ]);
  const columns = [
    { label: 'Result' },
    { label: 'Event' },
    { label: 'Answer' },
    { label: 'Took', kind: 'number' as const },
    { label: 'When', kind: 'number' as const },
    { label: 'Replay', kind: 'unseen' as const },
  ];
  return html`${table('Deliveries', columns, rows)}${pager(visit, `/webhooks/${visit.params.id}`, log, 'tries')}`;
}

function replayCard({ link, token, now }: Visit, id: string): Html {
  const day = (before: number) => new Date(now.getTime() - before * DAY_MS).toISOString().slice(0, 16);
  return card(
    'Send a range again',
    html`<form class="form" method="post" action="${link(`/webhooks/${id}/replay`)}">${token()}<div class="grid">${textField({ name: 'from_ts', label: 'From (UTC)', type: 'datetime-local', value: day(1), required: true })}${textField({ name: 'to_ts', label: 'Until (UTC)', type: 'datetime-local', value: day(0), required: true })}</div><p class="hint">What the endpoint has accepted is not sent again. Events are kept for 7 days.</p><div class="buttons">${button('Send again', { tone: 'plain' })}</div></form>`,
  );
}

export const replayRange: PageRoute = {
  method: 'POST',
  path: '/webhooks/{id}/replay',
  handle: async ({ api, form, params, link }) => {
    const moment = (name: string) =>
      /^\d{4}-\d\d-\d\dT\d\d:\d\d$/.test(form.get(name) ?? '') ? `${form.get(name)}:00Z` : (form.get(name) ?? '');
    const range = { from_ts: moment('from_ts'), to_ts: moment('to_ts') };
    const { replayed } = await api.send<Schemas['Replay']>('POST', at`/webhooks/${params.id!}/replay`, range);
    return { redirect: link(`/webhooks/${params.id}`, { done: replayed > 0 ? 'sent' : 'nothingToSend' }) };
  },
};

function rotateCard({ link, token }: Visit, id: string): Html {
  return card(
    'Secret',
    html`<form class="form" method="post" action="${link(`/webhooks/${id}/rotate`)}">${token()}${selectField({ name: 'overlap_hours', label: 'The old secret', value: '24', options: [{ value: '', label: 'ends at once' }, ...[1, 24, 72].map((hours) => ({ value: String(hours), label: `signs too for ${hours} h` }))] })}<div class="buttons">${button('Make a new secret', { tone: 'plain' })}</div></form>`,
  );
}

export const rotateSecret: PageRoute = {
  method: 'POST',
  path: '/webhooks/{id}/rotate',
  handle: async ({ api, form, params, link }) => {
    const hours = form.get('overlap_hours') ?? '';
    const { secret } = await api.send<{ secret: string }>(
      'POST',
      at`/webhooks/${params.id!}/rotate-secret`,
      hours === '' ? {} : { overlap_hours: Number(hours) },
    );
    return secretPage('The new secret', secret, link(`/webhooks/${params.id}`));
  },
};

export const newWebhook: PageRoute = {
  method: 'GET',
  path: '/webhooks/new',
  needs: 'webhooks.manage',
  handle: (visit) => webhookForm(visit, NO_PROBLEMS),
};

export const createWebhook: PageRoute = {
  method: 'POST',
  path: '/webhooks/new',
  handle: async (visit) => {
    const { api, form, link } = visit;
    const events = form.getAll('event_types');
    try {
      const body = {
        url: form.get('url') ?? '',
        description: form.get('description') ?? '',
        ...(events.length > 0 && { event_types: events }),
      };
      const { webhook, secret } = await api.send<Schemas['WebhookCreated']>('POST', at`/webhooks`, body);
      return secretPage('The endpoint and its secret', secret, link(`/webhooks/${webhook.id}`));
    } catch (error) {
      return refusedForm(error, (problems) => webhookForm(visit, problems));
    }
  },
};

function webhookForm({ link, token, form }: Visit, problems: Problems): Page {
  const body = html`<form class="form" method="post" action="${link('/webhooks/new')}">${token()}<section class="card">${textField({ name: 'url', label: 'Address', type: 'url', value: form.get('url'), required: true, placeholder: 'https://example.com/adsweep', hint: 'https, reachable from the internet.', problems })}
${textField({ name: 'description', label: 'Description', value: form.get('description'), problems })}
${choices(
  'Events',
  EVENTS.map((value) =>
    choice('checkbox', {
      name: 'event_types',
      value,
      label: html`<code>${value}</code>`,
      checked: form.getAll('event_types').includes(value),
    }),
  ),
  problems.of('event_types'),
)}<p class="hint">None chosen: all of them.</p><div class="buttons">${button('Create the endpoint')}</div></section></form>`;
  return { title: 'New endpoint', above: html`<a href="${link('/webhooks')}">Webhooks</a>`, problems, body };
}

/** Why an endpoint did not take an event, by the API's code. */
export const ERROR_WORDS: Record<string, string> = {
  dns: 'no such host',
  blocked_address: 'address not allowed',
  connect: 'not reached',
  tls: 'bad certificate',
  timeout: 'timed out',
  redirect: 'redirected',
  status: 'refused',
};
