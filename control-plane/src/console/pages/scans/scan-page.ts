import { FAILURE_EXPLANATIONS } from '@adsweep/shared/failure-explanations.ts';
import { FAILURE_CODES } from '@adsweep/shared/failures.ts';
import { isFinal, isFinished } from '@adsweep/shared/scan/scan-status.ts';
import { type Html, html } from '../../../http/pages/html.ts';
import { showVerdict } from '../../../scanning/reports/report-page.ts';
import { showCompanies } from '../../../scanning/reports/show-companies.ts';
import { showCreative, showRequests } from '../../../scanning/reports/show-creative.ts';
import { showClassification, showExit, showTiming } from '../../../scanning/reports/show-facts.ts';
import { showLandings, showMainChain, showPicture, showTabs } from '../../../scanning/reports/show-landings.ts';
import { showLimits } from '../../../scanning/reports/show-limits.ts';
import { showSweep } from '../../../scanning/reports/show-sweep.ts';
import { showFindings } from '../../../scanning/reports/show-tags.ts';
import { showUrl } from '../../../scanning/reports/show-url.ts';
import { showVast, showVideo } from '../../../scanning/reports/show-vast.ts';
import { isInProgress, verdictOf } from '../../../scanning/reports/verdict.ts';
import { at } from '../../api/console-api.ts';
import type { Listed, Schemas } from '../../api/schemas.ts';
import { action } from '../../components/actions.ts';
import { linkButton } from '../../components/fields.ts';
import { linkFor } from '../../components/links.ts';
import { card, table } from '../../components/tables.ts';
import { number, short, showTime } from '../../components/texts.ts';
import type { PageRoute, Visit } from '../../visit.ts';
import { pictureSize } from './picture-size.ts';
import { reportOfScan, type ScanAnswers } from './report-of-scan.ts';
import { costWords, readAccount, showEvents } from './scan-account.ts';
import { formQueryOf } from './scan-form.ts';

type Scan = Schemas['Scan'];

/** A scan: its progress, then all of its report, and what only its owner sees. */
export const scanPage: PageRoute = {
  method: 'GET',
  path: '/scans/{id}',
  handle: async (visit) => {
    const { link, params, may } = visit;
    const answers = await readAnswers(visit, params.id!);
    const { scan } = answers;
    const account = await readAccount(visit, scan);
    const report = reportOfScan(answers);
    const verdict = verdictOf(report);
    const subject = showCreative(report) ?? showVideo(report);
    const picture = report.sweep?.page ? null : (subject ?? showPicture(report));
    const isOpen = isInProgress(report);
    const left = [picture, showTiming(report)].filter((part) => part !== null);
    const right = [showFindings(report), showLimits(report), showClassification(report), showExit(report)].filter(
      (part) => part !== null,
    );
    const alerts = may('alerts.read') && scan.campaign_id !== null ? await readAlerts(visit, scan) : null;
    return {
      title: titleOf(scan),
      above: above(visit, scan),
      actions: actions(visit, scan),
      ...(isOpen && { everySeconds: OPEN_EVERY_SECONDS, events: link(`/scans/${scan.id}/events`) }),
      body: html`<div class="stack" data-region="scan">${showVerdict(report, verdict)}${ownFacts(visit, scan, costWords(account))}${alertsOf(visit, alerts)}${showSweep(report)}
${left.length + right.length > 0 && html`<div class="columns-${left.length > 0 && right.length > 0 ? 2 : 1}">${left.length > 0 && html`<div class="stack">${left}</div>`}${right.length > 0 && html`<div class="stack">${right}</div>`}</div>`}
${showVast(report)}${subject ? showLandings(report) : html`${showMainChain(report)}${showTabs(report)}`}${showRequests(report)}${showCompanies(report)}${ruleCosts(visit, answers)}${outOfBudget(visit, scan)}${showEvents(visit, account)}${sentTarget(scan)}</div>`,
    };
  },
};

/** The stream of its states says when to read a scan that has not ended; this is for what happens in between. */
const OPEN_EVERY_SECONDS = 10;

/** Distinguishes the page from others in the tabs of the reader's browser. */
const titleOf = ({ url, slot_index, ad_tag, vast_tag }: Scan): string => {
  const on = URL.parse(url)?.host ?? '';
  if (slot_index !== null) return `Ad ${slot_index + 1} on ${on}`;
  return on !== '' ? short(on, 60) : ad_tag !== null ? 'Ad tag' : vast_tag !== null ? 'Video ad tag' : 'Scan';
};

/** Reads what the API says of a scan. Throws 404 if there is none. */
export async function readAnswers({ api }: Visit, id: string): Promise<ScanAnswers> {
  const [scan, tags, definitions] = await Promise.all([
    api.get<Scan>(at`/scans/${id}`),
    api.get<Schemas['ScanTag'][]>(at`/scans/${id}/tags`),
    api.ask<Schemas['TagDef'][]>(at`/tag-definitions`),
  ]);
  if (scan.ad_blocks === null) return { scan, tags, definitions, children: [], picture: null };
  const { items } = await api.get<Listed<Schemas['ScanBrief']>>(at`/scans/${id}/children`, { limit: 100 });
  const children = await Promise.all(
    items.map(async (child) => {
      const isFailed = child.status === 'failed';
      const [tags, whole] = await Promise.all([
        api.ask<Schemas['ScanTag'][]>(at`/scans/${child.id}/tags`),
        isFailed ? api.ask<Scan>(at`/scans/${child.id}`) : null,
      ]);
      return { scan: child, tags, error: whole?.error ?? '' };
    }),
  );
  const picture = scan.screenshot_url === '' ? null : await pictureSize(() => api.file(at`/scans/${id}/screenshot`));
  return { scan, tags, definitions, children, picture };
}

const readAlerts = ({ api }: Visit, { id }: Scan): Promise<Listed<Schemas['Alert']>> =>
  api.get<Listed<Schemas['Alert']>>(at`/alerts`, { scan_id: id, limit: 100 });

function above(
  visit: Visit,
  { parent_scan_id, repeat_leader_id, repeat_total, campaign_id, campaign_name }: Scan,
): Html {
  const { link } = visit;
  return html`<a href="${link('/scans')}">Scans</a>${campaign_id !== null && html` · ${linkFor(visit, 'campaigns.read', `/campaigns/${campaign_id}`, html`<bdi>${campaign_name ?? 'Campaign'}</bdi>`)}`}${parent_scan_id !== null && html` · <a href="${link(`/scans/${parent_scan_id}`)}">the sweep that found this ad</a>`}${repeat_total > 1 && repeat_leader_id !== null && html` · <a href="${link('/scans', { repeat_leader_id })}">all ${repeat_total} repeats</a>`}`;
}

function actions(visit: Visit, scan: Scan): Html {
  const { link, may } = visit;
  const back = link(`/scans/${scan.id}`);
  const cancel = {
    label: 'Cancel',
    method: 'POST',
    path: at`/scans/${scan.id}/cancel`,
    done: 'cancelled',
    back,
    tone: 'danger',
  } as const;
  const recheck = {
    label: 'Check again',
    method: 'POST',
    path: at`/scans/${scan.id}/recheck`,
    done: 'recheckedOne',
    back,
  } as const;
  return html`${may('scans.write') && scan.status === 'pending' && action(visit, cancel)}${may('scans.write') && isFinished(scan.status) && action(visit, recheck)}${linkButton('Public report', scan.public_report_url)}${isFinal(scan.status) && linkButton('Compare', link('/scans/compare', { a: scan.id }))}${may('scans.write') && scan.slot_index === null && linkButton('Scan again', link('/scans/new', formQueryOf(scan)), 'main')}`;
}

/** What can be done about the failure of a scan; null: it has none that is known. Texts between backticks are code. */
function showCure({ helpOn }: Visit, { status, error }: Scan): Html | null {
  const code = status === 'failed' && FAILURE_CODES.find((known) => known === error);
  if (!code) return null;
  const cure = FAILURE_EXPLANATIONS[code].cure
    .split('`')
    .map((part, at) => (at % 2 === 0 ? part : html`<code>${part}</code>`));
  return html`<div class="wide"><dt>What to do</dt><dd>${cure} <a href="${helpOn(code)}">About this failure</a></dd></div>`;
}

function ownFacts(visit: Visit, scan: Scan, cost: string | null): Html {
  const { link, now } = visit;
  const report = reportOfScan({ scan, tags: [], definitions: [], children: [], picture: null });
  const labels = Object.entries(scan.labels);
  const files: [string, string][] = [
    [scan.creative_html_url, 'creative-html'],
    [scan.creative_video_url, 'creative-video'],
    [scan.vast_xml_url, 'vast-xml'],
  ];
  const shown = files
    .filter(([url]) => url !== '')
    .map(([, name]) => html`<a href="${link(`/scans/${scan.id}/${name}`)}" download>${name}</a> `);
  const text = scan.ad_tag ?? scan.vast_tag;
  return html`<section class="card"><dl class="facts">${showCure(visit, scan)}
<div class="wide"><dt>${text === null ? 'Page' : scan.ad_tag === null ? 'Video ad tag' : 'Ad tag'}</dt><dd>${scan.url !== '' ? showUrl(scan.url) : text !== null && /^\s*https?:/i.test(text) ? showUrl(text.trim()) : html`${number(text?.length ?? 0)} characters of markup, shown below`}</dd></div>
${scan.offer_url !== '' && scan.offer_url !== scan.url && html`<div class="wide"><dt>Landing</dt><dd>${showUrl(scan.offer_url)}</dd></div>`}
${scan.referrer !== null && html`<div class="wide"><dt>Referrer</dt><dd>${showUrl(scan.referrer)}</dd></div>`}
<div><dt>Country</dt><dd>${report.country}</dd></div><div><dt>Device</dt><dd>${report.device}</dd></div>
<div><dt>Requested</dt><dd>${showTime(scan.created_at, now)}</dd></div>${scan.completed_at !== null && html`<div><dt>Ended</dt><dd>${showTime(scan.completed_at, now)}</dd></div>`}
<div><dt>Attempt</dt><dd>${scan.retry_attempt + 1} of ${scan.retry_max_attempts + 1}</dd></div>
${(scan.network || scan.network_host) !== '' && html`<div><dt>Ad network</dt><dd><bdi>${scan.network || scan.network_host}</bdi></dd></div>`}
${cost !== null && html`<div><dt>Cost</dt><dd>${cost}</dd></div>`}
${labels.map(([key, value]) => html`<div><dt><bdi>${key}</bdi></dt><dd><a href="${link('/scans', { [`label_${key}`]: value })}"><bdi>${value}</bdi></a></dd></div>`)}
${shown.length > 0 && html`<div><dt>Files</dt><dd>${shown}</dd></div>`}
<div><dt>Id</dt><dd><code>${scan.id}</code></dd></div></dl></section>`;
}

function alertsOf({ link, now }: Visit, alerts: Listed<Schemas['Alert']> | null): Html | null {
  if (!alerts || alerts.total === 0) return null;
  const { items, total } = alerts;
  const rows = items.map((one) => [
    html`<a href="${link('/alerts', { scan_id: one.scan_id, tag: one.tag_slug, status: one.status })}"><bdi>${one.tag_display_name}</bdi></a>`,
    html`<span class="chip ${one.status === 'open' || one.status === 'escalated' ? 'high' : 'off'}">${one.status}</span>`,
    html`<bdi>${one.policy_set_name ?? ''}</bdi>`,
    showTime(one.created_at, now),
  ]);
  const shown = table(
    'Alerts of this scan',
    [{ label: 'Finding' }, { label: 'Status' }, { label: 'Policy set' }, { label: 'Raised', kind: 'number' }],
    rows,
  );
  const more = total > rows.length && html`<p class="quiet">The newest ${number(rows.length)} are shown.</p>`;
  return card('Alerts', html`${shown}${more}`, { count: number(total) });
}

/** Which rules matched, where, and what that cost. */
function ruleCosts({ link }: Visit, { tags }: ScanAnswers): Html | null {
  const matched = tags.filter((tag) => tag.match !== null);
  if (matched.length === 0) return null;
  const rows = matched.map(({ match, tag_slug }) => [
    html`<a href="${link(`/rules/${match!.rule_id}`)}"><bdi>${match!.rule_name || 'A rule'}</bdi></a>`,
    html`<code>${match!.rule_type}</code>`,
    html`<code>${tag_slug}</code>`,
    html`${match!.place}${match!.landing !== null && ` of landing ${match!.landing}`}, at ${number(match!.offset)}`,
    `${number(match!.elapsed_ms)} ms`,
  ]);
  return card(
    'Rules that matched',
    table(
      'Rules that matched',
      [{ label: 'Rule' }, { label: 'Type' }, { label: 'Tag' }, { label: 'Where' }, { label: 'CPU', kind: 'number' }],
      rows,
    ),
    { count: matched.length },
  );
}

/** Rules that the time for the rules of a scan did not suffice for. */
function outOfBudget({ link, may }: Visit, { rules_out_of_budget: { total, rules } }: Scan): Html | null {
  if (total === 0) return null;
  const rows = rules.map(({ rule_id, rule_name, rule_type }) => [
    html`<a href="${link(`/rules/${rule_id}`)}"><bdi>${rule_name}</bdi></a>`,
    html`<code>${rule_type}</code>`,
  ]);
  return card(
    'Rules that ran out of time',
    html`<p class="quiet">The rules of a scan share a budget of CPU time. These had not searched everything when it was spent, so they may have missed something.${may('custom_rules.manage') && ' A rule that costs much is found by testing it over past scans.'}</p>${table('Rules that ran out of time', [{ label: 'Rule' }, { label: 'Type' }], rows)}${total > rules.length && html`<p class="quiet">and ${number(total - rules.length)} more</p>`}`,
    { count: number(total) },
  );
}

/** The most characters of a tag that are shown. */
const TARGET_MAX = 10_000;

function sentTarget({ ad_tag, vast_tag }: Scan): Html | null {
  const text = ad_tag ?? vast_tag;
  if (text === null || /^\s*https?:/i.test(text)) return null;
  return html`<details class="card fold"><summary>The ${ad_tag === null ? 'video ad tag' : 'ad tag'} as it was sent</summary><pre class="source" tabindex="0"><code><bdi>${text.slice(0, TARGET_MAX).toWellFormed()}</bdi></code></pre>${text.length > TARGET_MAX && html`<p class="quiet">${number(text.length - TARGET_MAX)} more characters</p>`}</details>`;
}
