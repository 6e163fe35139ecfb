import { type Html, html } from '../../http/pages/html.ts';
import { countryName } from '../../scanning/reports/words.ts';
import { at } from '../api/console-api.ts';
import type { Listed, Schemas } from '../api/schemas.ts';
import { action } from '../components/actions.ts';
import { linkButton } from '../components/fields.ts';
import { linkFor } from '../components/links.ts';
import { empty, pager, tile } from '../components/tables.ts';
import { chip, number, short } from '../components/texts.ts';
import type { PageRoute, Visit } from '../visit.ts';

type Run = Schemas['Run'];

/** A run: its progress, and a wall of its pictures. */
export const runPage: PageRoute = {
  method: 'GET',
  path: '/runs/{id}',
  handle: async (visit) => {
    const { api, params, link, may, query } = visit;
    const run = await api.get<Run>(at`/runs/${params.id!}`);
    const tiles = await api.get<Listed<Schemas['ScanTile']>>(at`/runs/${run.id}/scans`, {
      limit: 60,
      page: query.get('page'),
    });
    const isBefore = ({ created_at }: Changed) => created_at < run.created_at;
    const { items: changed, hasMore } = await api.askPages<Changed>(
      at`/campaigns/${run.campaign_id}/changes`,
      (found, read) => read >= CHANGES_READ || found.some(isBefore),
    );
    const changes = new Map(changed.filter(({ run_id }) => run_id === run.id).map((one) => [one.scan_id, one]));
    const areAll = !hasMore || changed.some(isBefore);
    const [first] = changes.values();
    const previous = first?.changes[0]?.previous_run_id;
    const ended = run.completed + run.partial + run.failed + run.cancelled;
    const isOpen = ended < run.total;
    const byCountry = [...Map.groupBy(tiles.items, ({ country_code }) => country_code)];
    const walls = byCountry.map(
      ([code, scans]) =>
        html`<section class="card"><h2>${countryName(code)}${tiles.pages === 1 && html` <span class="count">${number(scans.length)}</span>`}</h2><ul class="wall">${scans.map((scan) => wallItem(visit, scan, changes.get(scan.id)))}</ul></section>`,
    );
    const back = link(`/runs/${run.id}`);
    return {
      title: run.label || 'Run',
      above: html`<a href="${link('/campaigns')}">Campaigns</a> · <a href="${link(`/campaigns/${run.campaign_id}`)}">the campaign</a>`,
      actions: html`${may('scans.read') && html`${previous !== undefined && linkButton('Beside the run before', link(`/runs/${run.id}/compare/${previous}`))}${linkButton('As a table', link('/scans', { run_id: run.id }))}`}${isOpen && may('campaigns.write') && action(visit, { label: 'Cancel what waits', method: 'POST', path: at`/runs/${run.id}/cancel`, done: 'cancelled', back, tone: 'danger', asks: 'Cancel the scans of this run that have not begun?' })}`,
      ...(isOpen && { everySeconds: 4 }),
      body: html`<div class="tiles" data-region="counts">${tile(`${number(ended)} of ${number(run.total)}`, 'scans have ended')}${tile(number(run.completed), 'completed')}${tile(number(run.partial), 'partly analysed', { tone: run.partial > 0 ? 'medium' : '' })}${tile(number(run.failed), 'failed', { tone: run.failed > 0 ? 'high' : '' })}${tile(`${number(changes.size)}${areAll ? '' : ' or more'}`, 'changed since the last run', { tone: changes.size > 0 ? 'medium' : '' })}</div>
<div class="stack" data-region="wall">${walls.length > 0 ? walls : html`<p class="quiet">No scan of this run was created yet.</p>`}${pager(visit, `/runs/${run.id}`, tiles, 'scans')}</div>`,
    };
  },
};

type Changed = Schemas['ChangedScan'];

/** The newest changes of the campaign that are read to find those of the run: no scan of a run is older than it. */
const CHANGES_READ = 2_000;

/** A picture of the wall; marked, if it shows something else than the run before. */
function wallItem(visit: Visit, scan: Schemas['ScanTile'], changed: Changed | undefined): Html {
  const picture =
    scan.screenshot_url !== '' &&
    visit.may('scans.read') &&
    html`<img src="${visit.link(`/scans/${scan.id}/screenshot`, { w: 340 })}" alt="" loading="lazy">`;
  const marks = changed?.changes.flatMap(({ kind, what }) =>
    what.map((one) => html`${chip('medium', `${kind}: ${one}`)} `),
  );
  const shown = html`<span class="pic">${picture}</span><span><bdi>${short(URL.parse(scan.offer_url)?.host ?? scan.status, 40)}</bdi>${scan.error !== '' && html` <code>${scan.error}</code>`}</span>${marks && html`<span>${marks}</span>`}`;
  return html`<li${changed && html` class="changed"`}>${linkFor(visit, 'scans.read', `/scans/${scan.id}`, shown)}</li>`;
}

/** Scans of the later run on a page, and those of the earlier run that are read to find their partners. */
const PAIRS_SHOWN = 100;
const PARTNERS_READ = 10_000;

/** Two runs of a campaign with a slider over each pair of pictures. */
export const runCompare: PageRoute = {
  method: 'GET',
  path: '/runs/{id}/compare/{other}',
  handle: async (visit) => {
    const { api, params, query, link } = visit;
    const { id = '', other: otherId = '' } = params;
    const [after, before, scans] = await Promise.all([
      api.get<Run>(at`/runs/${id}`),
      api.get<Run>(at`/runs/${otherId}`),
      api.get<Listed<Brief>>(at`/scans`, { run_id: id, limit: PAIRS_SHOWN, page: query.get('page') }),
    ]);
    const earlier = await readPartners(visit, otherId, scans.items);
    const pairs = scans.items.flatMap((one) => {
      const other = earlier.get(keyOf(one));
      return other && one.screenshot_url !== '' && other.screenshot_url !== '' ? [slider(visit, other, one)] : [];
    });
    const none = empty(
      'Nothing to compare',
      'The two runs have no pictures of the same page in the same country on the same device.',
    );
    return {
      title: 'Two runs',
      above: html`<a href="${link(`/campaigns/${after.campaign_id}`)}">Campaign</a> · <a href="${link(`/runs/${before.id}`)}"><bdi>${before.label || 'the earlier run'}</bdi></a> · <a href="${link(`/runs/${after.id}`)}"><bdi>${after.label || 'the later run'}</bdi></a>`,
      body: html`${pairs.length > 0 ? html`<div class="pairs">${pairs}</div>` : none}${scans.pages > 1 && pager(visit, `/runs/${id}/compare/${otherId}`, scans, 'scans of the later run')}`,
    };
  },
};

type Brief = Schemas['ScanBrief'];

/**
 * What two scans of different runs have in common that are to be compared. The ads that a sweep finds are others each
 * time; tags have no URL.
 */
const keyOf = (one: Brief): string =>
  `${one.country_code} ${one.emulator_display_name} ${one.repeat_index} ${one.slot_index === null ? '' : one.id} ${one.url}`;

/** The scans of a run in the countries of `scans`, by what they have in common with those. */
async function readPartners({ api }: Visit, run_id: string, scans: readonly Brief[]): Promise<Map<string, Brief>> {
  const country_code = [...new Set(scans.map((one) => one.country_code))].join(',');
  if (country_code === '') return new Map();
  const isEnough = (_: Brief[], read: number) => read >= PARTNERS_READ;
  const { items } = await api.askPages<Brief>(at`/scans`, isEnough, { run_id, country_code });
  return new Map(items.map((one) => [keyOf(one), one]));
}

function slider({ link }: Visit, before: Brief, after: Brief): Html {
  const picture = (scan: Brief) => link(`/scans/${scan.id}/screenshot`, { w: 600 });
  return html`<figure class="card pair"><h2>${countryName(after.country_code)} <span class="count"><bdi>${after.emulator_display_name}</bdi></span></h2>
<svg viewBox="0 0 600 400" width="100%" role="img" aria-label="The picture of the later run over that of the earlier one"><image href="${picture(before)}" width="600" preserveAspectRatio="xMidYMin slice" height="400"/><svg id="slide-${after.id}" width="50%" height="400" overflow="hidden"><image href="${picture(after)}" width="600" height="400" preserveAspectRatio="xMidYMin slice"/></svg></svg>
<input type="range" min="0" max="100" value="50" data-slides="slide-${after.id}" aria-label="How much of the later picture is shown">
<figcaption><a href="${link(`/scans/${before.id}`)}">before</a> · <a href="${link(`/scans/${after.id}`)}">after</a> · <a href="${link('/scans/compare', { a: before.id, b: after.id })}">compare all</a></figcaption></figure>`;
}
