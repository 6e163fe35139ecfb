import { ApiError, refused } from '../../http/api-error.ts';
import { type Html, html } from '../../http/pages/html.ts';
import { parseJson } from '../../http/read-body.ts';
import { API_BODY } from '../../http/serve-routes.ts';
import { at } from '../api/console-api.ts';
import { wordsIn } from '../api/lists-in-texts.ts';
import { itemsOf, type Listed, type Schemas } from '../api/schemas.ts';
import { action } from '../components/actions.ts';
import { areaField, button, hidden, linkButton, selectField, textField } from '../components/fields.ts';
import { changedAlone, loadedWith } from '../components/loaded-form.ts';
import { NO_PROBLEMS, type Problems, refusedForm } from '../components/problems.ts';
import { card, empty, pager, table } from '../components/tables.ts';
import { chip, counted, number, short, showTime } from '../components/texts.ts';
import type { Page, PageResult, PageRoute, Visit } from '../visit.ts';
import { queryOfPage, targetWords } from './scans/list-page.ts';

type Rule = Schemas['Rule'];

/** The types of rules, each with a configuration to begin with. */
const TYPES: Record<Rule['rule_type'], { label: string; config: object }> = {
  stopword_content: { label: 'Words in the content', config: { contains: ['miracle cure'] } },
  stopword_url: { label: 'Words in the redirect chain', config: { contains: ['/prize/'] } },
  regexp_content: {
    label: 'Expression in the content',
    config: { pattern: 'you (have|are) (won|chosen)', flags: 'i' },
  },
  regexp_url: { label: 'Expression in the redirect chain', config: { pattern: '^https?://[^/]+/win' } },
  regexp_request_url: { label: 'Expression in request URLs', config: { pattern: '/miner\\.js$' } },
  regexp_request_body: { label: 'Expression in loaded contents', config: { pattern: 'coinhive' } },
  blacklist_domain: { label: 'Domains', config: { domains: ['bad.example'] } },
  combo: { label: 'Combination of tags', config: { all_of: ['auto_redirect'], none_of: ['autosound'] } },
  llm: {
    label: 'Question to the AI model',
    config: { prompt: 'Does the page promise a cure?', tags: { yes: 'miracle_cure' } },
  },
} as Record<Rule['rule_type'], { label: string; config: object }>;

/** Detection rules of the organization, and its taxonomies. */
export const ruleList: PageRoute = {
  method: 'GET',
  path: '/rules',
  handle: (visit) => rules(visit, NO_PROBLEMS),
};

/** `problems`: why the taxonomy in the form was refused. */
async function rules(visit: Visit, problems: Problems): Promise<Page> {
  const { api, link, may, now, query } = visit;
  const [found, foundTaxonomies] = await Promise.all([
    api.get<Listed<Rule>>(at`/custom-rules`, queryOfPage(query)),
    api.get<Schemas['TaxonomyItem'][] | Listed<Schemas['TaxonomyItem']>>(at`/custom-taxonomies`),
  ]);
  const rows = found.items.map((rule) => [
    html`<a class="row-link" href="${link(`/rules/${rule.id}`)}"><bdi>${short(rule.name, 80)}</bdi></a><span class="meta">${rule.scope === 'system' ? 'of the platform' : ''}</span>`,
    TYPES[rule.rule_type]?.label ?? rule.rule_type,
    html`<code>${short(rule.tag_slug ?? '', 50)}</code>`,
    rule.is_active ? chip('clean', 'active') : chip('off', 'off'),
    showTime(rule.created_at, now),
  ]);
  const columns = [
    { label: 'Rule' },
    { label: 'Type' },
    { label: 'Tag' },
    { label: 'State' },
    { label: 'Since', kind: 'number' as const },
  ];
  const create = may('custom_rules.manage') && linkButton('New rule', link('/rules/new'), 'main');
  const none = empty(
    'No rules of your own',
    'A rule assigns a tag to scans whose pages, requests or chains have what it looks for.',
    create,
  );
  const taxonomies = itemsOf(foundTaxonomies).map((one) => [
    html`<b><bdi>${short(one.name, 80)}</bdi></b><span class="meta"><bdi>${short(one.description, 100)}</bdi></span>`,
    html`<code>${one.slug}</code>`,
    number(one.node_count),
    `v${one.version}`,
    one.is_active ? chip('clean', 'active') : chip('off', 'deleted'),
  ]);
  return {
    title: 'Rules',
    actions: create,
    problems,
    body: html`<section class="card flush">${rows.length > 0 ? html`${table('Detection rules', columns, rows)}${pager(visit, '/rules', found, 'rules')}` : none}</section><section class="card flush"><h2>Taxonomies <span class="count">${number(taxonomies.length)}</span></h2>${taxonomies.length > 0 ? table('Taxonomies', [{ label: 'Taxonomy' }, { label: 'Slug' }, { label: 'Nodes', kind: 'number' }, { label: 'Version', kind: 'number' }, { label: 'State' }], taxonomies) : html`<p class="quiet">Category trees of your own, by which a model classifies scans.</p>`}${may('custom_taxonomies.manage') && taxonomyForm(visit, problems)}</section>`,
  };
}

function taxonomyForm({ link, token, form }: Visit, problems: Problems): Html {
  return html`<details class="fold inner"${problems.all.length > 0 && html` open`}><summary>New taxonomy</summary><form class="form" method="post" action="${link('/rules/taxonomies')}">${token()}${textField({ name: 'name', label: 'Name', value: form.get('name'), required: true, problems })}${areaField({ name: 'text', label: 'Categories', value: form.get('text'), rows: 6, code: true, required: true, placeholder: 'Health\n  Supplements\n  Clinics', hint: 'One on each line, those below another indented by two spaces.', problems })}<div class="buttons">${button('Create the taxonomy')}</div></form></details>`;
}

/** Creates a taxonomy of a pasted tree. */
export const createTaxonomy: PageRoute = {
  method: 'POST',
  path: '/rules/taxonomies',
  handle: async (visit): Promise<PageResult> => {
    const { api, form, link } = visit;
    try {
      const { nodes } = await api.send<Schemas['ParsedTaxonomy']>('POST', at`/custom-taxonomies/parse-text`, {
        text: form.get('text') ?? '',
      });
      const path: string[] = [];
      const named = nodes.map(({ level, name, description }, index) => {
        const id = `node-${index}`;
        path[level] = id;
        return { client_id: id, parent_client_id: path[level - 1] ?? null, name, description };
      });
      await api.send('POST', at`/custom-taxonomies`, { name: form.get('name') ?? '', nodes: named });
      return { redirect: link('/rules', { done: 'created' }) };
    } catch (error) {
      return refusedForm(error, (problems) => rules(visit, problems));
    }
  },
};

type RuleFields = { name: string; rule_type: string; config: string; target: string; tag_slug: string; scans: string };

const fieldsOf = (form: URLSearchParams): RuleFields => {
  const type = form.get('rule_type') ?? 'stopword_content';
  return {
    name: form.get('name') ?? '',
    rule_type: type,
    target: form.get('target') ?? 'page',
    tag_slug: form.get('tag_slug') ?? '',
    config: form.get('config') ?? readableJson(TYPES[type as Rule['rule_type']]?.config ?? {}),
    scans: form.get('scans') ?? '',
  };
};

const fieldsOfRule = (rule: Rule): RuleFields => ({
  name: rule.name,
  rule_type: rule.rule_type,
  target: rule.target,
  tag_slug: rule.tag_slug ?? '',
  config: readableJson(rule.config),
  scans: '',
});

/** Of the fields, those that are saved. */
const savedOf = ({ name, config, target, tag_slug }: RuleFields) => ({ name, config, target, tag_slug });

/** JSON to be read and changed: its invisible characters are escapes. */
const readableJson = (value: unknown): string =>
  JSON.stringify(value, null, 2).replaceAll(/[\p{Cc}\p{Cf}\p{Co}\p{Zl}\p{Zp}]/gu, (char) =>
    char === '\n'
      ? char
      : char
          .split('')
          .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
          .join(''),
  );

/** The configuration in the form. Throws 422 for what is no JSON, as a problem of its field. */
async function configOf(text: string): Promise<unknown> {
  return parseJson(Buffer.from(text), API_BODY).catch((error: unknown) => {
    if (!(error instanceof ApiError) || typeof error.detail === 'string') throw error;
    throw refused(
      error.detail.map((item) => ({ ...item, loc: ['body', 'config'], msg: item.msg.replace(/^The body/, 'This') })),
    );
  });
}

export const newRule: PageRoute = {
  method: 'GET',
  path: '/rules/new',
  needs: 'custom_rules.manage',
  handle: (visit) => workbench(visit, fieldsOf(visit.query), NO_PROBLEMS, null, null),
};

export const rulePage: PageRoute = {
  method: 'GET',
  path: '/rules/{id}',
  handle: async (visit) => {
    const rule = await visit.api.get<Rule>(at`/custom-rules/${visit.params.id!}`);
    return workbench(visit, fieldsOfRule(rule), NO_PROBLEMS, rule, null);
  },
};

/** Tries the rule of the form over past scans, or saves it. */
export const saveRule: PageRoute[] = ['/rules/new', '/rules/{id}'].map((path) => ({
  method: 'POST',
  path,
  handle: async (visit): Promise<PageResult> => {
    const { api, form, link, params, may } = visit;
    const fields = fieldsOf(form);
    const rule = params.id === undefined ? null : await api.ask<Rule>(at`/custom-rules/${params.id}`);
    try {
      const own = { name: fields.name, config: await configOf(fields.config), target: fields.target };
      const tag = fields.tag_slug !== '' && { tag_slug: fields.tag_slug };
      if (form.get('intent') === 'test') {
        const scans = await scansToTest(visit, fields.scans);
        const tested = {
          rule_type: fields.rule_type,
          config: own.config,
          target: fields.target,
          ...(fields.rule_type === 'llm' && { name: fields.name }),
          ...tag,
        };
        const batch = await api.send<Schemas['Batch']>('POST', at`/custom-rules/test-batch`, {
          rules: [tested],
          scan_ids: scans.map(({ id }) => id),
        });
        return workbench(visit, fields, NO_PROBLEMS, rule, { batch, scans });
      }
      if (!rule) {
        const { id } = await api.send<Rule>('POST', at`/custom-rules`, { ...own, ...tag, rule_type: fields.rule_type });
        // A key may create rules without seeing them.
        return { redirect: link(may('scans.read') ? `/rules/${id}` : path, { done: 'created' }) };
      }
      const changed = changedAlone(savedOf(fields), savedOf(fieldsOfRule(rule)), form);
      const body = Object.entries({ ...own, tag_slug: fields.tag_slug }).filter(([name]) =>
        changed.some((one) => one === name),
      );
      if (body.length > 0) await api.send('PUT', at`/custom-rules/${rule.id}`, Object.fromEntries(body));
      return { redirect: link(`/rules/${rule.id}`, { done: 'saved' }) };
    } catch (error) {
      return refusedForm(error, (problems) => workbench(visit, fields, problems, rule, null));
    }
  },
}));

const TESTED_MAX = 20;

/** The scans that were named, or the latest finished ones. */
async function scansToTest({ api }: Visit, named: string): Promise<{ id: string; words: string }[]> {
  const ids = wordsIn(named);
  if (ids.length > 0) return ids.map((id) => ({ id, words: id }));
  const { items } = await api.get<Listed<Schemas['ScanBrief']>>(at`/scans`, {
    status: 'completed,partial',
    limit: TESTED_MAX,
  });
  return items.map((one) => ({ id: one.id, words: targetWords(one) }));
}

type Tested = { batch: Schemas['Batch']; scans: { id: string; words: string }[] };

function workbench(
  visit: Visit,
  fields: RuleFields,
  problems: Problems,
  rule: Rule | null,
  tested: Tested | null,
): Page {
  const { link, token, may, form: sent } = visit;
  const mayChange = may('custom_rules.manage') && rule?.scope !== 'system';
  const types = Object.entries(TYPES).map(([value, { label }]) => ({ value, label }));
  const type = rule
    ? hidden('rule_type', fields.rule_type)
    : selectField({ name: 'rule_type', label: 'Type', value: fields.rule_type, options: types, problems });
  const targets = ['page', 'creative', 'creative_and_page'].map((value) => ({
    value,
    label: value.replaceAll('_', ' '),
  }));
  const examples = rule
    ? null
    : html`<p class="hint">Begin with: ${types.map(({ value, label }, index) => html`${index > 0 && ' · '}<a href="${link('/rules/new', { rule_type: value })}">${label}</a>`)}</p>`;
  const form = html`<form class="form" method="post" action="${link(rule ? `/rules/${rule.id}` : '/rules/new')}">${token()}${rule && loadedWith(savedOf(fieldsOfRule(rule)), sent)}<section class="card">${examples}<div class="grid">${textField({ name: 'name', label: 'Name', value: fields.name, required: true, problems })}${type}${selectField({ name: 'target', label: 'Looks at', value: fields.target, options: targets, problems })}${textField({ name: 'tag_slug', label: 'Assigns the tag', value: fields.tag_slug, placeholder: 'miracle_cure', hint: 'Lower-case letters, digits, _ and -.', problems })}</div>
${areaField({ name: 'config', label: 'Configuration (JSON)', value: fields.config, rows: 8, code: true, required: true, problems })}
${areaField({ name: 'scans', label: 'Test on these scans', value: fields.scans, rows: 2, code: true, placeholder: 'ids, or empty for the latest finished ones', problems })}
${mayChange && html`<div class="buttons">${button('Save', { name: 'intent', value: 'save' })}${button('Test', { name: 'intent', value: 'test', tone: 'plain' })}</div>`}</section></form>`;
  const back = rule ? link(`/rules/${rule.id}`) : '';
  const path = rule ? at`/custom-rules/${rule.id}` : '';
  const actions =
    rule &&
    mayChange &&
    html`${rule.is_active ? action(visit, { label: 'Switch off', method: 'PUT', path, body: { is_active: false }, done: 'saved', back }) : action(visit, { label: 'Switch on', method: 'PUT', path, body: { is_active: true }, done: 'saved', back })}${action(visit, { label: 'Delete', method: 'DELETE', path, done: 'deleted', back: link('/rules'), tone: 'danger', asks: 'Delete this rule? Its tag stays on the scans that have it.' })}`;
  return {
    title: rule ? rule.name : 'New rule',
    above: html`<a href="${link('/rules')}">Rules</a>${rule && ` · ${TYPES[rule.rule_type]?.label ?? rule.rule_type}`}`,
    actions,
    problems,
    body: html`${form}${tested && testResult(visit, tested)}`,
  };
}

function testResult({ link }: Visit, { batch, scans }: Tested): Html {
  const words = new Map(scans.map((scan) => [scan.id, scan.words]));
  const rows = batch.results.map((cell) => [
    html`<a href="${link(`/scans/${cell.scan_id}`)}"><bdi>${short(words.get(cell.scan_id) ?? cell.scan_id, 80)}</bdi></a>`,
    cell.error !== null
      ? html`${chip('medium', cell.error_code ?? 'failed')}<span class="meta"><bdi>${cell.error}</bdi></span>`
      : cell.matched
        ? chip('high', 'matched')
        : chip('off', 'no match'),
    cell.tags.map(({ tag_slug, detail }) => html`<code>${tag_slug}</code> <bdi>${short(detail, 160)}</bdi> `),
    `${number(cell.elapsed_ms)} ms`,
  ]);
  const { total, matched, failed } = batch.summary;
  const cost = batch.results.reduce((sum, { elapsed_ms }) => sum + elapsed_ms, 0);
  return card(
    'Test',
    html`<p>Nothing was saved, and no scan changed.</p>${table('Results', [{ label: 'Scan' }, { label: 'Result' }, { label: 'Where' }, { label: 'CPU', kind: 'number' }], rows)}`,
    {
      count: `${number(matched)} of ${counted(total, 'scan')} matched${failed > 0 ? `, ${failed} failed` : ''}, ${number(cost)} ms`,
    },
  );
}
