import { ApiError } from '../../http/api-error.ts';
import { type Html, html } from '../../http/pages/html.ts';
import { countryName } from '../../scanning/reports/words.ts';
import { at } from '../api/console-api.ts';
import type { Listed, Schemas } from '../api/schemas.ts';
import { action } from '../components/actions.ts';
import { textField } from '../components/fields.ts';
import { NO_PROBLEMS, type Problems, problemsOf } from '../components/problems.ts';
import { card, empty, pager, table, tile } from '../components/tables.ts';
import { agoWords, chip, counted, number, shortId, showTime } from '../components/texts.ts';
import { isDue, type PageRoute, type Visit } from '../visit.ts';

type Node = Schemas['FleetNode'];
type Organization = Schemas['Organization'];

const STATES: Record<Node['state'], string> = {
  working: 'clean',
  overloaded: 'medium',
  waiting: 'high',
  draining: 'busy',
  drained: 'off',
  blocked: 'high',
};

const SERVICES: Record<Node['waits_for'][number], string> = {
  exits: 'the proxy-router',
  browser: 'its browser',
};

/** Why a node takes no work; '': it takes some, or its state says why. */
const heldBy = ({ overloaded, waits_for }: Node): string =>
  [...waits_for.map((service) => `for ${SERVICES[service]}`), ...overloaded].join(', ');

/** The browser nodes, and the work that waits for them. */
export const fleetPage: PageRoute = {
  method: 'GET',
  path: '/fleet',
  handle: async (visit) => {
    const { api, query } = visit;
    const [fleet, nodes, others] = await Promise.all([
      api.get<Schemas['Fleet']>(at`/fleet`),
      api.get<Listed<Node>>(at`/fleet/nodes`, { limit: 200, page: query.get('page') }),
      isDue(visit, EVERY_SECONDS, OTHERS_EVERY_SECONDS) ? readOthers(visit) : null,
    ]);
    const { queue, slots, desired_nodes } = fleet;
    const running = fleet.nodes.working + fleet.nodes.overloaded;
    const waiting: [string, number][] = [
      ['interactive', queue.waiting_interactive],
      ['bulk', queue.waiting_bulk],
      ['campaigns', queue.waiting_campaign],
      ['wait for their next attempt', queue.delayed],
      ['beyond the cap of their organization', queue.capped],
      ['leased', queue.leased],
    ];
    return {
      title: 'Fleet',
      everySeconds: EVERY_SECONDS,
      body: html`<div class="tiles" data-region="tiles">${tile(number(running), `${running === 1 ? 'node' : 'nodes'} in service, ${number(desired_nodes)} needed`, { tone: desired_nodes > running ? 'medium' : '' })}${tile(`${number(slots.busy)} of ${number(slots.total)}`, 'slots are busy')}${tile(number(queue.waiting_interactive + queue.waiting_bulk + queue.waiting_campaign), 'jobs wait')}${tile(number(queue.leased), 'jobs are leased')}</div>
<section class="card flush" data-region="nodes"><h2>Nodes <span class="count">${number(nodes.total)}</span></h2>${nodeTable(visit, nodes.items)}${nodes.pages > 1 && pager(visit, '/fleet', nodes, 'nodes')}</section>${card(
        'Queue',
        html`<dl class="facts">${waiting.map(([name, count]) => html`<div><dt>${name}</dt><dd>${number(count)}</dd></div>`)}</dl>`,
        { region: 'queue' },
      )}${others}`,
    };
  },
};

/** Nodes and the queue are read again every 5 seconds; what changes slowly every 30. */
const EVERY_SECONDS = 5;
const OTHERS_EVERY_SECONDS = 30;

async function readOthers(visit: Visit): Promise<Html> {
  const { api, may } = visit;
  const [waiting, exits, decided, plan, organizations] = await Promise.all([
    api.get<Listed<Schemas['OrganizationQueue']>>(at`/fleet/queue`, { limit: ROWS }),
    api.get<Listed<Schemas['ExitUse']>>(at`/fleet/exits`, { limit: ROWS }),
    api.get<Listed<Decision>>(at`/fleet/decisions`, { limit: DECISIONS }),
    readPlan(visit),
    may('organizations.manage') ? api.get<Listed<Organization>>(at`/organizations`, { limit: 100 }) : null,
  ]);
  const names = new Map(organizations?.items.map(({ id, name }) => [id, name]));
  // An organization beyond the first ones has a link without its name.
  const organization = (id: string): Html =>
    organizations
      ? html`<a href="${visit.link(`/organizations/${id}`)}"><bdi>${names.get(id) ?? shortId(id)}</bdi></a>`
      : shortId(id);
  return html`${organizationQueue(waiting, organization)}${exitCard(visit, exits, organization)}${decisionCard(visit, decided.items)}${planCard(visit, plan)}`;
}

/** Organizations and exits that are shown. */
const ROWS = 20;

/** Whose jobs wait. */
function organizationQueue(
  { items, total }: Listed<Schemas['OrganizationQueue']>,
  organization: (id: string) => Html,
): Html {
  const counts = { region: 'organizations', count: number(total) };
  if (items.length === 0)
    return card('Queue by organization', html`<p class="quiet">No job of any organization waits.</p>`, counts);
  const rows = items.map((one) => [
    html`<b>${organization(one.organization_id)}</b>`,
    number(one.waiting_interactive),
    number(one.waiting_bulk),
    number(one.waiting_campaign),
    `${number(one.leased)}${one.concurrent_leases === null ? '' : ` of ${number(one.concurrent_leases)}`}`,
  ]);
  const columns = [
    { label: 'Organization' },
    ...['Interactive', 'Bulk', 'Campaigns', 'Leased'].map((label) => ({ label, kind: 'number' as const })),
  ];
  return card('Queue by organization', table('Waiting jobs by organization', columns, rows), counts);
}

/** Where the scans of the last hour left, and what was seen of it. */
function exitCard(
  { now }: Visit,
  { items, total }: Listed<Schemas['ExitUse']>,
  organization: (id: string) => Html,
): Html {
  const counts = { region: 'exits', count: number(total) };
  if (items.length === 0)
    return card('Exits', html`<p class="quiet">No scan that used an exit has ended in the last hour.</p>`, counts);
  const rows = items.map((one) => [
    html`<b><bdi>${one.exit_id}</bdi></b><span class="meta"><bdi>${one.provider}</bdi></span>`,
    organization(one.organization_id),
    html`${countryName(one.country_code)}<span class="meta"><bdi>${[one.city ?? one.region, one.isp, one.proxy_type].filter((part) => part !== null).join(', ')}</bdi></span>`,
    seenOf(one),
    number(one.scans),
    one.failed + one.mismatched === 0
      ? chip('clean', 'none')
      : html`${one.failed > 0 && chip('high', counted(one.failed, 'failure'))} ${one.mismatched > 0 && chip('high', `${number(one.mismatched)} in another country`)}`,
    agoWords(one.last_used_at, now),
  ]);
  return card(
    'Exits',
    table(
      'Exits of the last hour by organization',
      [
        { label: 'Exit' },
        { label: 'Used by' },
        { label: 'Listed as' },
        { label: 'Seen' },
        { label: 'Scans', kind: 'number' },
        { label: 'Problems' },
        { label: 'Last', kind: 'number' },
      ],
      rows,
    ),
    counts,
  );
}

/** What the exit check saw. */
function seenOf({ verified, ip, observed_country_code, asn }: Schemas['ExitUse']): Html {
  if (verified === null) return html`<span class="quiet">not checked</span>`;
  if (!verified) return chip('medium', 'check failed');
  const network = [ip, asn].filter((part) => part !== null).join(', ');
  return html`${observed_country_code === null ? 'unknown country' : countryName(observed_country_code)}<span class="meta"><bdi>${network}</bdi></span>`;
}

type Decision = Schemas['ScalingDecision'];

/** Decisions of the scaler that are shown. */
const DECISIONS = 8;

/** What the scaler did lately, and why. */
function decisionCard({ now }: Visit, decisions: readonly Decision[]): Html {
  if (decisions.length === 0)
    return card(
      'Scaler',
      html`<p class="quiet">It has decided nothing: it is off, or nothing had to change in 30 days.</p>`,
      { region: 'scaler' },
    );
  const rows = decisions
    .slice(0, DECISIONS)
    .map((one) => [
      html`${number(one.desired_nodes)} needed, ${number(one.target_nodes)} to be${one.dry_run && html` ${chip('off', 'dry run')}`}`,
      html`<ul class="plain-list">${one.actions.map(({ action: what, node, host, reason }) => html`<li>${what} <bdi>${node}</bdi> on <bdi>${host}</bdi>: <bdi>${reason}</bdi></li>`)}${[...one.held, ...one.failed].map((text) => html`<li class="wrong"><bdi>${text}</bdi></li>`)}</ul>`,
      showTime(one.at, now),
    ]);
  return card(
    'Scaler',
    table(
      'Decisions of the scaler',
      [{ label: 'Nodes' }, { label: 'Decision' }, { label: 'When', kind: 'number' }],
      rows,
    ),
    { region: 'scaler' },
  );
}

type Planned = { plan: Schemas['CapacityPlan'] | null; problems: Problems };

/** The plan for the scans a day in the address. */
async function readPlan({ api, query }: Visit): Promise<Planned> {
  const asked = query.get('scans_per_day') ?? '';
  if (asked === '') return { plan: null, problems: NO_PROBLEMS };
  return api
    .get<Schemas['CapacityPlan']>(at`/fleet/plan`, { scans_per_day: asked })
    .then((plan): Planned => ({ plan, problems: NO_PROBLEMS }))
    .catch((error: unknown): Planned => {
      if (error instanceof ApiError && error.status === 422) return { plan: null, problems: problemsOf(error) };
      throw error;
    });
}

/** What a number of scans a day needs, and what breaks first. */
function planCard({ link, query }: Visit, { plan, problems }: Planned): Html {
  const form = html`<form class="filters" method="get" action="${link('/fleet')}">${textField({ name: 'scans_per_day', label: 'Scans a day', type: 'number', min: 1, value: query.get('scans_per_day'), placeholder: '1000000', problems })}<div class="filter-buttons"><button class="button plain">Plan</button></div></form>`;
  if (!plan)
    return card('Plan', html`${form}<p class="note quiet">What so many scans need, by measured costs of a scan.</p>`);
  const rows: [string, string, string][] = [
    [
      'Browser nodes',
      number(plan.nodes.count),
      `${number(plan.nodes.cores)} cores, ${number(plan.nodes.memory_gb)} GB`,
    ],
    ['Control planes', number(plan.control_planes.count), `${number(plan.control_planes.used_cores)} cores in use`],
    ['Proxy routers', number(plan.proxy_routers.count), `${number(plan.exits.gb_per_day)} GB a day through exits`],
    ['Redis', number(plan.redis.shards), `${number(plan.redis.memory_gb)} GB`],
    ['MongoDB', number(plan.mongodb.shards), `${number(plan.mongodb.kept_gb)} GB kept`],
    ['Object store', '', `${number(plan.files.kept_gb)} GB kept`],
  ];
  const limits = plan.limits.map(({ part, engine, scans_per_day, exceeded, remedy }) => [
    html`${part}<span class="meta">${engine}</span>`,
    html`${exceeded ? chip('high', 'exceeded') : chip('clean', 'enough')}`,
    number(scans_per_day),
    remedy,
  ]);
  return card(
    'Plan',
    html`${form}${table('What it needs', [{ label: 'Part' }, { label: 'Number', kind: 'number' }, { label: 'Size' }], rows)}${table('What breaks first', [{ label: 'Limit' }, { label: 'State' }, { label: 'Scans a day', kind: 'number' }, { label: 'Remedy' }], limits)}`,
  );
}

function nodeTable(visit: Visit, nodes: readonly Node[]): Html {
  const { link, may, now } = visit;
  if (nodes.length === 0) return empty('No node has reported', 'A browser node registers itself with the join token.');
  const back = link('/fleet');
  const rows = nodes.map((node) => {
    const change = (verb: 'drain' | 'undrain' | 'block' | 'unblock') =>
      ({ method: 'POST', path: at`/fleet/nodes/${node.id}/${verb}`, back, of: node.id }) as const;
    const isBlocked = node.state === 'blocked';
    const isDraining = node.state === 'draining' || node.state === 'drained';
    return [
      html`<b><bdi>${node.id}</bdi></b><span class="meta"><bdi>${node.instance}</bdi></span>`,
      html`${chip(STATES[node.state], node.state)}${heldBy(node) !== '' && html`<span class="meta">${heldBy(node)}</span>`}`,
      html`<svg class="meter" width="100%" height="8" aria-hidden="true"><rect class="track" width="100%" height="8"/><rect class="value" width="${((100 * node.busy) / Math.max(1, node.slots)).toFixed(0)}%" height="8"/></svg><span class="meta">${node.busy} of ${node.slots} slots</span>`,
      html`<bdi>${node.adsweep_version}</bdi><span class="meta"><bdi>${node.browser_version}</bdi></span>`,
      agoWords(node.seen_at, now),
      may('fleet.manage') &&
        html`<div class="decisions">${isDraining ? action(visit, { ...change('undrain'), label: 'Take work again', done: 'undrained' }) : action(visit, { ...change('drain'), label: 'Drain', done: 'drained' })}${isBlocked ? action(visit, { ...change('unblock'), label: 'Unblock', done: 'unblocked' }) : action(visit, { ...change('block'), label: 'Block', done: 'blocked', tone: 'danger', asks: 'Block this node? Its jobs go back to the queue at once.' })}</div>`,
    ];
  });
  return table(
    'Browser nodes',
    [
      { label: 'Node' },
      { label: 'State' },
      { label: 'Slots' },
      { label: 'Version' },
      { label: 'Last report', kind: 'number' },
      { label: 'Actions', kind: 'unseen' },
    ],
    rows,
  );
}
