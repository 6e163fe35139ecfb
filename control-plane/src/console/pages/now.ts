import { ApiError } from '../../http/api-error.ts';
import type { Permission } from '../../http/caller.ts';
import { type Html, html } from '../../http/pages/html.ts';
import { at } from '../api/console-api.ts';
import { itemsOf, type Listed, type Schemas } from '../api/schemas.ts';
import { linkButton } from '../components/fields.ts';
import { card, empty, tile } from '../components/tables.ts';
import { agoWords, counted, number } from '../components/texts.ts';
import { isDue, type PageRoute, type Visit } from '../visit.ts';
import { scanTable } from './scans/list-page.ts';

type Scans = Listed<Schemas['ScanBrief']>;

/** Something that a person should look at: how urgent, what, and where. */
type Concern = { tone: 'high' | 'medium' | 'low'; text: string; detail: string; href: string };

const WAITING = 'pending';
const RUNNING = 'running,crawled,checking,rechecking';
const ENDED = 'completed,partial,failed';
/** Campaigns whose schedules are looked at. */
const CAMPAIGNS_MAX = 1_000;
/** The scans are read every ten seconds, and what needs a person every minute: that takes many calls of the API. */
const EVERY_SECONDS = 10;
const CONCERNS_EVERY_SECONDS = 60;
/** Ended scans that the API counts. */
const COUNTED_MAX = 1_000;
/** Concerns of one kind that are listed. */
const CONCERNS_MAX = 5;

/** What happens now, and what needs a person. */
export const nowPage: PageRoute = {
  method: 'GET',
  path: '',
  handle: async (visit) => {
    const { may, link } = visit;
    const [scans, concerns] = await Promise.all([
      may('scans.read') ? readScans(visit) : null,
      isDue(visit, EVERY_SECONDS, CONCERNS_EVERY_SECONDS) ? readConcerns(visit) : null,
    ]);
    const body = html`${scans && tiles(visit, scans)}
${concerns && html`<section class="card" data-region="concerns"><h2>Needs a person <span class="count">${concerns.length === 0 ? 'nothing' : number(concerns.length)}</span></h2>${showConcerns(visit, concerns)}</section>`}
${scans && card('Latest scans', scans.latest.items.length > 0 ? scanTable(visit, scans.latest.items) : empty('No scans yet', 'The first one takes a minute.', may('scans.write') && linkButton('New scan', link('/scans/new'), 'main')), { region: 'latest', count: html`<a href="${link('/scans')}">all</a> · <a href="${link('/scans', { status: ENDED })}">ended</a> · <a href="${link('/scans', { status: 'failed' })}">failed</a>` })}`;
    return {
      title: 'Now',
      everySeconds: EVERY_SECONDS,
      actions: may('scans.write') && linkButton('New scan', link('/scans/new'), 'main'),
      body,
    };
  },
};

type Read = { counts: Schemas['ScanSummary']; latest: Scans };

async function readScans({ api }: Visit): Promise<Read> {
  const [counts, latest] = await Promise.all([
    api.get<Schemas['ScanSummary']>(at`/scans/summary`),
    api.get<Scans>(at`/scans`, { limit: 8 }),
  ]);
  return { counts, latest };
}

function tiles({ link }: Visit, { counts: { waiting, running, ended } }: Read): Html {
  const all = ended.completed + ended.partial + ended.failed;
  return html`<div class="tiles" data-region="tiles">${tile(number(waiting), 'waiting', { href: link('/scans', { status: WAITING }) })}${tile(number(running), 'running', { href: link('/scans', { status: RUNNING }), tone: running > 0 ? 'busy' : '' })}${tile(`${number(all)}${all >= COUNTED_MAX ? '+' : ''}`, 'have ended in the last hour')}${tile(number(ended.failed), 'of these failed', { tone: ended.failed > 0 ? 'high' : '' })}</div>`;
}

/** What may need a person, each kind for those who may read it, and what is said where nothing does. */
const KINDS: { permission: Permission; nothing: string; read: (visit: Visit) => Promise<Concern[]> }[] = [
  { permission: 'alerts.read', nothing: 'open alert', read: openAlerts },
  { permission: 'fleet.read', nothing: 'lack of browser nodes', read: fleetConcerns },
  { permission: 'webhooks.manage', nothing: 'failing endpoint', read: failingEndpoints },
  { permission: 'alert_notifications.manage', nothing: 'failing destination', read: failingDestinations },
  { permission: 'campaigns.read', nothing: 'skipped schedule', read: skippedSchedules },
  { permission: 'billing.read', nothing: 'quota near its end', read: endingQuota },
];

const kindsFor = ({ may }: Visit) => KINDS.filter(({ permission }) => may(permission));

function showConcerns(visit: Visit, concerns: Concern[]): Html {
  if (concerns.length === 0) {
    const words = kindsFor(visit).map(({ nothing }) => `no ${nothing}`);
    return html`<p class="quiet">There is ${words.join(', ')}.</p>`;
  }
  return html`<ul class="concerns">${concerns.map(({ tone, text, detail, href }) => html`<li class="${tone}"><a href="${href}"><bdi>${text}</bdi></a><span class="quiet"><bdi>${detail}</bdi></span></li>`)}</ul>`;
}

/**
 * Each kind is asked of the API on its own: what fails does not hide the others. Null: the person may see none of them.
 */
async function readConcerns(visit: Visit): Promise<Concern[] | null> {
  const kinds = kindsFor(visit);
  if (kinds.length === 0) return null;
  const read = await Promise.all(kinds.map((kind) => kind.read(visit).catch(asConcern(visit))));
  const order = ['high', 'medium', 'low'];
  return read.flat().toSorted((one, other) => order.indexOf(one.tone) - order.indexOf(other.tone));
}

const asConcern =
  ({ link }: Visit) =>
  (error: unknown): Concern[] => {
    if (!(error instanceof ApiError) || error.status === 401) throw error;
    return [{ tone: 'low', text: 'A part of this page could not be read', detail: error.message, href: link('') }];
  };

const concernsOf = (...concerns: (Concern | false)[]): Concern[] => concerns.filter((one) => one !== false);

async function openAlerts({ api, link, now }: Visit): Promise<Concern[]> {
  const [stats, { items }] = await Promise.all([
    api.get<Schemas['AlertStats']>(at`/alerts/stats`),
    api.get<Listed<Schemas['Alert']>>(at`/alerts`, { status: 'open', limit: 1 }),
  ]);
  const latest = items[0] ? `the latest is ${items[0].tag_display_name}, ${agoWords(items[0].created_at, now)}` : '';
  const escalated = link('/alerts', { status: 'escalated' });
  return concernsOf(
    stats.open > 0 && { tone: 'high', text: counted(stats.open, 'open alert'), detail: latest, href: link('/alerts') },
    stats.escalated > 0 && {
      tone: 'high',
      text: counted(stats.escalated, 'escalated alert'),
      detail: '',
      href: escalated,
    },
  );
}

const failedWords = (since: string | null, now: Date): string =>
  since === null ? '' : `, failed first ${agoWords(since, now)}`;

async function failingEndpoints({ api, link, now }: Visit): Promise<Concern[]> {
  const found = await api.get<Schemas['Webhook'][] | Listed<Schemas['Webhook']>>(at`/webhooks`);
  return itemsOf(found)
    .filter(({ failing_since, disabled_reason }) => failing_since !== null || disabled_reason === 'failing')
    .slice(0, CONCERNS_MAX)
    .map(({ id, url, failing_since, is_active }) => ({
      tone: is_active ? 'medium' : 'high',
      text: is_active ? 'A webhook endpoint fails' : 'A webhook endpoint was switched off',
      detail: `${url}${failedWords(failing_since, now)}`,
      href: link(`/webhooks/${id}`),
    }));
}

async function failingDestinations({ api, link, now }: Visit): Promise<Concern[]> {
  const found = await api.get<Schemas['Destination'][] | Listed<Schemas['Destination']>>(
    at`/alert-notifications/destinations`,
  );
  return itemsOf(found)
    .filter(({ failing_since, disabled_reason }) => failing_since !== null || disabled_reason === 'failing')
    .slice(0, CONCERNS_MAX)
    .map(({ name, failing_since, is_active, last_delivery_error }) => ({
      tone: is_active ? 'medium' : 'high',
      text: is_active ? 'A destination of alerts fails' : 'A destination of alerts was switched off',
      detail: `${name}${failedWords(failing_since, now)}${last_delivery_error === null ? '' : `: ${last_delivery_error}`}`,
      href: link('/destinations'),
    }));
}

async function skippedSchedules({ api, link, now }: Visit): Promise<Concern[]> {
  const { items } = await api.askPages<Schemas['Campaign']>(at`/campaigns`, (_, read) => read >= CAMPAIGNS_MAX);
  return items
    .filter((one) => one.last_schedule_problem !== null && !one.is_archived)
    .slice(0, CONCERNS_MAX)
    .map(({ id, name, last_schedule_problem }) => ({
      tone: 'medium',
      text: `A schedule was skipped: ${name}`,
      detail: `${last_schedule_problem!.detail}, ${agoWords(last_schedule_problem!.at, now)}`,
      href: link(`/campaigns/${id}`),
    }));
}

/** The share of a quota from which on it is about to end. */
const ENDING = 0.9;

/** Why an organization can create no scan. */
function blockWords(reason: string | null, periodEnd: string): string {
  if (reason === 'quota_exhausted')
    return `the checks of this month are used; there are new ones on ${dayOf(periodEnd)}`;
  if (reason === 'insufficient_funds') return 'the balance does not cover a check';
  return reason === 'suspended' ? 'the organization is suspended' : (reason ?? '');
}

const dayOf = (at: string): string => at.slice(0, 10);

async function endingQuota({ api, link }: Visit): Promise<Concern[]> {
  const billing = await api.get<Schemas['Billing']>(at`/billing`);
  const { checks_per_period, checks_used, period_end, can_create_scan, block_reason } = billing;
  const href = link('/usage');
  if (!can_create_scan)
    return [{ tone: 'high', text: 'No scan can be created', detail: blockWords(block_reason, period_end), href }];
  if (checks_per_period !== null && checks_used >= ENDING * checks_per_period)
    return [
      {
        tone: 'medium',
        text: 'The checks of this period are about to end',
        detail: `${number(checks_used)} of ${number(checks_per_period)} are used; further ones are refused until ${dayOf(period_end)}`,
        href,
      },
    ];
  return [];
}

async function fleetConcerns({ api, link }: Visit): Promise<Concern[]> {
  const { nodes, queue, desired_nodes } = await api.get<Schemas['Fleet']>(at`/fleet`);
  const running = nodes.working + nodes.overloaded;
  const waiting = queue.waiting_interactive + queue.waiting_bulk + queue.waiting_campaign;
  const href = link('/fleet');
  return concernsOf(
    running === 0 && {
      tone: 'high',
      text: 'No browser node takes work',
      detail: `${counted(waiting, 'job')} waiting`,
      href,
    },
    running > 0 &&
      desired_nodes > running && {
        tone: 'medium',
        text: 'The fleet is too small',
        detail: `${counted(running, 'node')} where ${number(desired_nodes)} are wanted`,
        href,
      },
    nodes.waiting > 0 && {
      tone: 'high',
      text: `${counted(nodes.waiting, 'node')} ${nodes.waiting === 1 ? 'waits' : 'wait'} for a service`,
      detail: 'no work until it is back: the fleet page names it',
      href,
    },
    nodes.overloaded > 0 && {
      tone: 'medium',
      text: counted(nodes.overloaded, 'overloaded node'),
      detail: 'no work until less of the machine is in use',
      href,
    },
  );
}
