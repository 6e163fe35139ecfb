import { html } from '../../http/pages/html.ts';
import { at } from '../api/console-api.ts';
import { itemsOf, type Listed, type Schemas } from '../api/schemas.ts';
import { action } from '../components/actions.ts';
import { button, choice, choices, textField } from '../components/fields.ts';
import { NO_PROBLEMS, type Problems, refusedForm } from '../components/problems.ts';
import { empty, table } from '../components/tables.ts';
import { agoWords } from '../components/texts.ts';
import type { Page, PageRoute, Visit } from '../visit.ts';
import { health } from './webhooks.ts';

type Destination = Schemas['Destination'];

const CHANNELS: Record<Destination['channel'], string> = { slack: 'Slack', telegram: 'Telegram', email: 'Mail' };

/** Where messages about alerts go. */
export const destinationList: PageRoute = {
  method: 'GET',
  path: '/destinations',
  handle: (visit) => destinationsPage(visit, NO_PROBLEMS),
};

async function destinationsPage(visit: Visit, problems: Problems): Promise<Page> {
  const { api, link, now, token, form } = visit;
  const all = itemsOf(await api.get<Destination[] | Listed<Destination>>(at`/alert-notifications/destinations`));
  const back = link('/destinations');
  const rows = all.map((one) => {
    const path = at`/alert-notifications/destinations/${one.id}`;
    const of = one.name;
    const patch = { method: 'PATCH', path, back, of } as const;
    return [
      html`<b><bdi>${one.name}</bdi></b><span class="meta">${CHANNELS[one.channel]} <bdi>${one.email_address ?? one.slack_channel_name ?? one.telegram_chat_title ?? ''}</bdi></span>`,
      html`${health(one)}${one.last_delivery_error !== null && html`<span class="meta"><bdi>${one.last_delivery_error}</bdi></span>`}`,
      one.is_default_target ? 'all campaigns that inherit' : 'where it is named',
      one.last_delivery_at === null ? html`<span class="quiet">never</span>` : agoWords(one.last_delivery_at, now),
      html`<div class="decisions">${action(visit, { label: 'Try', method: 'POST', path: `${path}/test`, done: 'tried', back, of })}${one.is_active ? action(visit, { ...patch, label: 'Pause', body: { is_active: false }, done: 'paused' }) : action(visit, { ...patch, label: 'Resume', body: { is_active: true }, done: 'resumed' })}${action(visit, { label: 'Delete', method: 'DELETE', path, done: 'deleted', back, tone: 'danger', asks: 'Delete this destination?', of })}</div>`,
    ];
  });
  const columns = [
    { label: 'Destination' },
    { label: 'Health' },
    { label: 'For' },
    { label: 'Last message', kind: 'number' as const },
    { label: 'Actions', kind: 'unseen' as const },
  ];
  const list =
    rows.length > 0
      ? table('Destinations of alerts', columns, rows)
      : empty('No destinations', 'Alerts can be sent to Slack, Telegram or by mail.');
  const value = (name: string) => form.get(name);
  const channels = Object.entries(CHANNELS).map(([one, label]) =>
    choice('radio', { name: 'channel', value: one, label, checked: (value('channel') ?? 'slack') === one }),
  );
  const create = html`<form class="form" method="post" action="${link('/destinations')}">${token()}<section class="card"><h2>New destination</h2>${choices('Channel', channels, problems.of('channel'))}<div class="grid">${textField({ name: 'name', label: 'Name', value: value('name'), required: true, problems })}
<div data-channel="slack">${textField({ name: 'webhook_url', label: 'Slack: webhook URL', path: 'slack', type: 'password', problems })}</div><div data-channel="telegram">${textField({ name: 'bot_token', label: 'Telegram: token of the bot', path: 'telegram.bot_token', type: 'password', problems })}</div><div data-channel="telegram">${textField({ name: 'chat_id', label: 'Telegram: id of the chat', path: 'telegram.chat_id', value: value('chat_id'), problems })}</div><div data-channel="email">${textField({ name: 'address', label: 'Mail address', path: 'email', type: 'email', value: value('address'), problems })}</div></div>
${choices('Messages', [choice('checkbox', { name: 'is_default_target', value: 'yes', label: 'of all campaigns that inherit', checked: !form.has('channel') || form.has('is_default_target') })])}<div class="buttons">${button('Create the destination')}</div></section></form>`;
  return {
    title: 'Destinations',
    everySeconds: 15,
    problems,
    body: html`<section class="card flush" data-region="destinations">${list}</section>${create}`,
  };
}

export const createDestination: PageRoute = {
  method: 'POST',
  path: '/destinations',
  handle: async (visit) => {
    const { api, form, link } = visit;
    const text = (name: string) => form.get(name) ?? '';
    const channel = text('channel');
    const chat = text('chat_id');
    const connection =
      channel === 'slack'
        ? { slack: { webhook_url: text('webhook_url') } }
        : channel === 'email'
          ? { email: { address: text('address') } }
          : { telegram: { bot_token: text('bot_token'), chat_id: /^-?\d+$/.test(chat) ? Number(chat) : chat } };
    try {
      await api.send('POST', at`/alert-notifications/destinations`, {
        name: text('name'),
        channel,
        ...connection,
        is_default_target: form.has('is_default_target'),
      });
      return { redirect: link('/destinations', { done: 'created' }) };
    } catch (error) {
      return refusedForm(error, (problems) => destinationsPage(visit, problems));
    }
  },
};
