import { ApiError } from '../../../http/api-error.ts';
import { type Html, html } from '../../../http/pages/html.ts';
import { at, withQuery } from '../../api/console-api.ts';
import { linesIn } from '../../api/lists-in-texts.ts';
import type { Schemas } from '../../api/schemas.ts';
import { areaField, button, choice, choices, selectField } from '../../components/fields.ts';
import { linkFor } from '../../components/links.ts';
import { NO_PROBLEMS, problemsOf } from '../../components/problems.ts';
import { card, table } from '../../components/tables.ts';
import { counted, money, short } from '../../components/texts.ts';
import type { Page, PageRoute, Visit } from '../../visit.ts';
import { countryOptions, deviceGroups, readChoices } from './new-page.ts';
import { fieldsOf, type ScanFields, scanBody, TARGET_KINDS } from './scan-form.ts';

/** Lines of one list: each is a request of its own. */
const LINES_MAX = 100;

/** What became of a line. */
type Line = { text: string; problem: string; cost: number; scanId: string | null };

/** The form for a list of targets. */
export const bulkForm: PageRoute = {
  method: 'GET',
  path: '/scans/bulk',
  needs: 'scans.write',
  handle: (visit) => bulkPage(visit, fieldsOf(visit.query), [], false),
};

/** Checks every line, or creates the scans of those that can be. */
export const bulkCreate: PageRoute = {
  method: 'POST',
  path: '/scans/bulk',
  handle: async (visit) => {
    const { form } = visit;
    const fields = fieldsOf(form);
    const texts = linesIn(fields.target);
    const isCreating = form.get('intent') === 'create';
    const lines: Line[] = [];
    for (const text of texts.slice(0, LINES_MAX)) lines.push(await tryLine(visit, fields, text, isCreating));
    for (const text of texts.slice(LINES_MAX))
      lines.push({ text, problem: `There can be at most ${LINES_MAX} lines at once.`, cost: 0, scanId: null });
    // What was created is not sent again.
    const left = isCreating ? lines.filter(({ scanId }) => scanId === null).map(({ text }) => text) : texts;
    return bulkPage(visit, { ...fields, target: left.join('\n') }, lines, isCreating);
  },
};

/** Whether a field of the API is what the line has. */
const isTarget = (field: string): boolean => TARGET_KINDS.some((kind) => kind === field);

async function tryLine({ api }: Visit, fields: ScanFields, text: string, isCreating: boolean): Promise<Line> {
  const body = scanBody({ ...fields, target: text });
  try {
    if (isCreating) {
      const { id } = await api.send<Schemas['Scan']>('POST', at`/scans`, body);
      return { text, problem: '', cost: 0, scanId: id };
    }
    const { cost_micros, routable } = await api.send<Schemas['Estimate']>(
      'POST',
      withQuery(at`/scans`, { dry_run: true }),
      body,
    );
    return { text, problem: routable === false ? 'No exit is there.' : '', cost: cost_micros.max, scanId: null };
  } catch (error) {
    if (!(error instanceof ApiError) || error.status === 401) throw error;
    return {
      text,
      problem: problemsOf(error)
        .all.map(({ field, msg }) => (isTarget(field) ? msg : `${field} ${msg}`.trim()))
        .join(' '),
      cost: 0,
      scanId: null,
    };
  }
}

async function bulkPage(visit: Visit, fields: ScanFields, lines: Line[], isCreated: boolean): Promise<Page> {
  const { link, token } = visit;
  const { geos, emulators } = await readChoices(visit, { country_code: '', proxy_type: '' });
  const problems = NO_PROBLEMS;
  const body = html`${lines.length > 0 && showLines(visit, lines, isCreated)}<form class="form" method="post" action="${link('/scans/bulk')}">${token()}<section class="card">
${choices(
  'Each line is',
  TARGET_KINDS.map((kind) =>
    choice('radio', {
      name: 'kind',
      value: kind,
      label: { url: 'a page', ad_tag: 'the address of an ad tag', vast_tag: 'the address of a video ad tag' }[kind],
      checked: fields.kind === kind,
    }),
  ),
)}
${areaField({ name: 'target', label: 'Targets, one on each line', value: fields.target, rows: 10, code: true, required: true, hint: `At most ${LINES_MAX} at once.`, problems })}
<div class="field upload"><label for="upload">or from a text file</label><input id="upload" type="file" accept=".txt,.csv,text/plain" data-fills="target"></div>
<div class="grid">${selectField({ name: 'country_code', label: 'Country', value: fields.country_code, required: true, options: countryOptions(geos), problems })}
${selectField({ name: 'emulator_id', label: 'Device', value: fields.emulator_id, required: true, options: [{ value: '', label: 'Choose a device' }, ...deviceGroups(emulators)], problems })}</div></section>
<section class="card send"><p class="quiet">“Check” says what each line would cost, and what is wrong with it. Nothing is created.</p><div class="buttons">${button('Create the scans', { name: 'intent', value: 'create' })}${button('Check', { name: 'intent', value: 'price', tone: 'plain' })}</div></section></form>`;
  return { title: 'Many scans at once', above: html`<a href="${link('/scans')}">Scans</a>`, body };
}

function showLines(visit: Visit, lines: Line[], isCreated: boolean): Html {
  const rows = lines.map(({ text, problem, cost, scanId }, index) => [
    String(index + 1),
    html`<bdi>${short(text, 120)}</bdi>`,
    problem !== ''
      ? html`<span class="wrong">${problem}</span>`
      : scanId !== null
        ? linkFor(visit, 'scans.read', `/scans/${scanId}`, 'created')
        : html`<span class="chip clean">can be scanned</span>`,
    cost > 0 ? money(cost) : '',
  ]);
  const bad = lines.filter(({ problem }) => problem !== '').length;
  const total = lines.reduce((sum, { cost }) => sum + cost, 0);
  const count = isCreated
    ? `${counted(lines.length - bad, 'scan')} created`
    : `${counted(lines.length - bad, 'scan')} for ${money(total)}`;
  return card(
    'The list',
    table(
      'Lines',
      [{ label: 'Line', kind: 'number' }, { label: 'Target' }, { label: 'Result' }, { label: 'Cost', kind: 'number' }],
      rows,
    ),
    { count: bad > 0 ? `${count}, ${counted(bad, 'problem')}` : count },
  );
}
