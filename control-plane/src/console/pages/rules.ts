import { ApiError } from '../../http/api-error.ts';
import { type Html, html } from '../../http/pages/html.ts';
import { parseJson } from '../../http/read-body.ts';
import { API_BODY } from '../../http/serve-routes.ts';
import { at } from '../api/console-api.ts';
import { linesIn, wordsIn } from '../api/lists-in-texts.ts';
import { itemsOf, type Listed, type Schemas } from '../api/schemas.ts';
import { action } from '../components/actions.ts';
import { areaField, button, hidden, linkButton, selectField, textField } from '../components/fields.ts';
import { NO_PROBLEMS, type Problems, problemsOf } from '../components/problems.ts';
import { card, empty, table, tile } from '../components/tables.ts';
import { chip, counted, number, short, showTime } from '../components/texts.ts';
import type { Page, PageResult, PageRoute, Visit } from '../visit.ts';

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
  handle: async (visit) => {
    const { api, link, may, now } = visit;
    const [found, foundTaxonomies] = await Promise.all([
      api.get<Rule[] | Listed<Rule>>(at`/custom-rules`, { limit: 200 }),
      api.get<Schemas['TaxonomyItem'][] | Listed<Schemas['TaxonomyItem']>>(at`/custom-taxonomies`),
    ]);
    const rows = itemsOf(found).map((rule) => [
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
      body: html`<section class="card flush">${rows.length > 0 ? table('Detection rules', columns, rows) : none}</section><section class="card flush"><h2>Taxonomies <span class="count">${number(taxonomies.length)}</span></h2>${taxonomies.length > 0 ? table('Taxonomies', [{ label: 'Taxonomy' }, { label: 'Slug' }, { label: 'Nodes', kind: 'number' }, { label: 'Version', kind: 'number' }, { label: 'State' }], taxonomies) : html`<p class="quiet">Category trees of your own, by which a model classifies scans.</p>`}${may('custom_taxonomies.manage') && taxonomyForm(visit)}</section>`,
    };
  },
};

function taxonomyForm({ link, token }: Visit): Html {
  return html`<details class="fold inner"><summary>New taxonomy</summary><form class="form" method="post" action="${link('/rules/taxonomies')}">${token()}${textField({ name: 'name', label: 'Name', required: true })}${areaField({ name: 'text', label: 'Categories', rows: 6, code: true, required: true, placeholder: 'Health\n  Supplements\n  Clinics', hint: 'One on each line, those below another indented by two spaces.' })}<div class="buttons">${button('Create the taxonomy')}</div></form></details>`;
}

/** Creates a taxonomy of a pasted tree. */
export const createTaxonomy: PageRoute = {
  method: 'POST',
  path: '/rules/taxonomies',
  handle: async ({ api, form, link }) => {
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
  },
};

type RuleFields = { name: string; rule_type: string; config: string; target: string; tag_slug: string; scans: string };

const fieldsOf = (form: URLSearchParams): RuleFields => {
  const type = form.get('rule_type') ?? 'stopword_content';
  return {
    ...{
      name: form.get('name') ?? '',
      rule_type: type,
      target: form.get('target') ?? 'page',
      tag_slug: form.get('tag_slug') ?? '',
    },
    config: form.get('config') ?? readableJson(TYPES[type as Rule['rule_type']]?.config ?? {}),
    scans: form.get('scans') ?? '',
  };
};

const fieldsOfRule = (rule: Rule): RuleFields => ({
  ...{ name: rule.name, rule_type: rule.rule_type, target: rule.target, tag_slug: rule.tag_slug ?? '' },
  ...{ config: readableJson(rule.config), scans: '' },
});

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

/** The configuration in the form; what is no JSON is sent as a text, so that the API says what it expects. */
async function configOf(text: string): Promise<unknown> {
  return parseJson(Buffer.from(text), API_BODY).catch((error: unknown) => {
    if (error instanceof ApiError) return text;
    throw error;
  });
}

export const newRule: PageRoute = {
  method: 'GET',
  path: '/rules/new',
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
    const { api, form, link, params } = visit;
    const fields = fieldsOf(form);
    const rule = params.id === undefined ? null : await api.ask<Rule>(at`/custom-rules/${params.id}`);
    const own = {
      name: fields.name,
      config: await configOf(fields.config),
      target: fields.target,
      ...(fields.tag_slug !== '' && { tag_slug: fields.tag_slug }),
    };
    try {
      if (form.get('intent') === 'test') {
        const scans = await scansToTest(visit, fields.scans);
        const tested = {
          rule_type: fields.rule_type,
          config: own.config,
          target: fields.target,
          ...(fields.rule_type === 'llm' && { name: fields.name }),
          ...(fields.tag_slug !== '' && { tag_slug: fields.tag_slug }),
        };
        const batch = await api.send<Schemas['Batch']>('POST', at`/custom-rules/test-batch`, {
          rules: [tested],
          scan_ids: scans.map(({ id }) => id),
        });
        return workbench(visit, fields, NO_PROBLEMS, rule, { batch, scans });
      }
      const saved = rule
        ? await api.send<Rule>('PUT', at`/custom-rules/${rule.id}`, own)
        : await api.send<Rule>('POST', at`/custom-rules`, { ...own, rule_type: fields.rule_type });
      return { redirect: link(`/rules/${saved.id}`, { done: rule ? 'saved' : 'created' }) };
    } catch (error) {
      if (!(error instanceof ApiError) || error.status === 401) throw error;
      return { ...workbench(visit, fields, problemsOf(error), rule, null), status: error.status };
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
  return items.map(({ id, url }) => ({ id, words: url || id }));
}

type Tested = { batch: Schemas['Batch']; scans: { id: string; words: string }[] };

function workbench(
  visit: Visit,
  fields: RuleFields,
  problems: Problems,
  rule: Rule | null,
  tested: Tested | null,
): Page {
  const { link, token, may } = visit;
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
  const form = html`<form class="form" method="post" action="${link(rule ? `/rules/${rule.id}` : '/rules/new')}">${token()}<section class="card">${examples}<div class="grid">${textField({ name: 'name', label: 'Name', value: fields.name, required: true, problems })}${type}${selectField({ name: 'target', label: 'Looks at', value: fields.target, options: targets, problems })}${textField({ name: 'tag_slug', label: 'Assigns the tag', value: fields.tag_slug, placeholder: 'miracle_cure', problems })}</div>
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
    above: html`<a href="${link('/rules')}">Rules</a>`,
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

type Set = Schemas['PolicySet'];
type SetItem = Schemas['PolicySetItem'];

/** Policy sets and the state of their publication. */
export const policyList: PageRoute = {
  method: 'GET',
  path: '/policies',
  handle: async ({ api, link, may, who }) => {
    const sets = itemsOf(await api.get<SetItem[] | Listed<SetItem>>(at`/policy-sets`));
    const rows = sets.map((one) => [
      html`<a class="row-link" href="${link(`/policies/${one.id}`)}"><bdi>${short(one.name, 80)}</bdi></a>${one.is_default && html` ${chip('busy', 'default')}`}<span class="meta"><bdi>${short(one.description, 120)}</bdi></span>`,
      publication(one),
      one.organization_id === who.organization_id ? 'yours' : 'shared with you',
      `v${one.version}`,
    ]);
    const create = may('policies.manage') && linkButton('New policy set', link('/policies/new'), 'main');
    return {
      title: 'Policy sets',
      actions: create,
      body: html`<section class="card flush">${rows.length > 0 ? table('Policy sets', [{ label: 'Policy set' }, { label: 'Publication' }, { label: 'Whose' }, { label: 'Version', kind: 'number' }], rows) : empty('No policy sets', 'A policy set names what must not be found of the scans of a campaign.', create)}</section>`,
    };
  },
};

const publication = ({ visibility, is_approved }: SetItem): Html =>
  visibility === 'private'
    ? chip('off', 'private')
    : is_approved
      ? chip('clean', 'published')
      : chip('medium', 'awaits approval');

/** Entries of a policy set as lines, such as `tag auto_redirect US DE`. */
const entryLine = (entry: Schemas['PolicyEntry']): string => {
  const tiers = (one: Schemas['PolicyTiers']) =>
    [one.tier1, one.tier2, one.tier3, one.tier4].filter(Boolean).join(' > ');
  const value =
    entry.tag_slug ??
    entry.brand ??
    (entry.iab_v3
      ? tiers(entry.iab_v3)
      : entry.ai_category
        ? tiers(entry.ai_category)
        : entry.custom_taxonomy
          ? `${entry.custom_taxonomy.taxonomy_id} > ${tiers(entry.custom_taxonomy)}`
          : '');
  return `${entry.rule_type}: ${value}${entry.country_codes.length > 0 ? ` @ ${entry.country_codes.join(' ')}` : ''}`;
};

/** The entry of a line; the API says what is wrong with one that is none. */
function entryOf(line: string): Record<string, unknown> {
  const [head = '', countries = ''] = line.split('@', 2);
  const [type = '', ...rest] = head.split(':');
  const value = rest.join(':').trim();
  const [tier1 = '', tier2 = null, tier3 = null, tier4 = null] = value.split('>').map((one) => one.trim());
  const rule_type = type.trim();
  const codes = wordsIn(countries);
  const by: Record<string, object> = {
    tag: { tag_slug: value },
    brand: { brand: value },
    iab_v3: { iab_v3: { tier1, tier2, tier3, tier4 } },
    ai_category: { ai_category: { tier1, tier2, tier3, tier4 } },
    custom_taxonomy: { custom_taxonomy: { taxonomy_id: tier1, tier1: tier2 ?? '', tier2: tier3, tier3: tier4 } },
  };
  return { rule_type, ...(Object.hasOwn(by, rule_type) ? by[rule_type] : {}), country_codes: codes };
}

export const newPolicy: PageRoute = {
  method: 'GET',
  path: '/policies/new',
  handle: (visit) => policyForm(visit, { name: '', description: '', entries: '' }, NO_PROBLEMS, null, null),
};

export const policyPage: PageRoute = {
  method: 'GET',
  path: '/policies/{id}',
  handle: async (visit) => {
    const { api, params, query } = visit;
    const set = await api.get<Set>(at`/policy-sets/${params.id!}`);
    const preview = query.has('preview')
      ? await api.send<Schemas['PolicyPreview']>('POST', at`/policy-sets/${set.id}/preview`, {
          days: Number(query.get('preview')),
        })
      : null;
    return policyForm(
      visit,
      { name: set.name, description: set.description, entries: set.entries.map(entryLine).join('\n') },
      NO_PROBLEMS,
      set,
      preview,
    );
  },
};

export const savePolicy: PageRoute[] = ['/policies/new', '/policies/{id}'].map((path) => ({
  method: 'POST',
  path,
  handle: async (visit): Promise<PageResult> => {
    const { api, form, link, params } = visit;
    const fields = {
      name: form.get('name') ?? '',
      description: form.get('description') ?? '',
      entries: form.get('entries') ?? '',
    };
    const lines = linesIn(fields.entries);
    const set = params.id === undefined ? null : await api.ask<Set>(at`/policy-sets/${params.id}`);
    const body = { name: fields.name, description: fields.description, entries: lines.map(entryOf) };
    try {
      const saved = set
        ? await api.send<Set>('PUT', at`/policy-sets/${set.id}`, body)
        : await api.send<Set>('POST', at`/policy-sets`, body);
      return { redirect: link(`/policies/${saved.id}`, { done: set ? 'saved' : 'created', preview: 7 }) };
    } catch (error) {
      if (!(error instanceof ApiError) || error.status === 401) throw error;
      return { ...(await policyForm(visit, fields, problemsOf(error), set, null)), status: error.status };
    }
  },
}));

type PolicyFields = { name: string; description: string; entries: string };

function policyForm(
  visit: Visit,
  fields: PolicyFields,
  problems: Problems,
  set: Set | null,
  preview: Schemas['PolicyPreview'] | null,
): Page {
  const { link, token, may, who } = visit;
  const isOwn = !set || set.organization_id === who.organization_id;
  const mayChange = may('policies.manage') && isOwn;
  const form = html`<form class="form" method="post" action="${link(set ? `/policies/${set.id}` : '/policies/new')}">${token()}<section class="card">${textField({ name: 'name', label: 'Name', value: fields.name, required: true, problems })}${textField({ name: 'description', label: 'Description', value: fields.description, problems })}${areaField({ name: 'entries', label: 'What must not be found', value: fields.entries, rows: 10, code: true, required: true, placeholder: 'tag: auto_redirect\nbrand: Acme @ US DE\niab_v3: Gambling', hint: html`One on each line: <code>tag</code>, <code>brand</code>, <code>iab_v3</code>, <code>ai_category</code> or <code>custom_taxonomy</code>, a colon and the value; tiers joined with <code>&gt;</code>; countries after <code>@</code>.`, problems })}${mayChange && html`<div class="buttons">${button('Save')}</div>`}</section></form>`;
  const side =
    set &&
    html`<div class="stack">${previewCard(visit, set, preview)}${publicationCard(visit, set, mayChange)}${campaignsCard(visit, set)}</div>`;
  const back = set ? link(`/policies/${set.id}`) : '';
  const actions =
    set &&
    mayChange &&
    html`${!set.is_default && action(visit, { label: 'Make it the default', method: 'POST', path: at`/policy-sets/${set.id}/set-default`, body: { is_default: true }, done: 'default', back })}${action(visit, { label: 'Delete', method: 'DELETE', path: at`/policy-sets/${set.id}`, done: 'deleted', back: link('/policies'), tone: 'danger', asks: 'Delete this policy set?' })}`;
  return {
    title: set ? set.name : 'New policy set',
    above: html`<a href="${link('/policies')}">Policy sets</a>`,
    actions,
    problems,
    body: html`<div class="columns-${set ? 2 : 1}">${form}${side}</div>`,
  };
}

function previewCard({ link }: Visit, set: Set, preview: Schemas['PolicyPreview'] | null): Html {
  const choose = html`<form class="filters" method="get" action="${link(`/policies/${set.id}`)}">${selectField({ name: 'preview', label: 'Finished scans of the last', value: '7', options: [1, 7, 30].map((days) => ({ value: String(days), label: counted(days, 'day') })) })}<div class="filter-buttons"><button class="button plain">Try</button></div></form>`;
  if (!preview)
    return card('Preview', html`<p class="quiet">What alerts it would have raised. Nothing is saved.</p>${choose}`);
  const names = new Map(set.entries.map((entry) => [entry.id, entryLine(entry)]));
  const rows = preview.by_entry.map(({ entry_id, alerts }) => [
    html`<code>${names.get(entry_id) ?? entry_id}</code>`,
    number(alerts),
  ]);
  const samples = preview.sample_scan_ids
    .slice(0, 5)
    .map((id, index) => html`${index > 0 && ', '}<a href="${link(`/scans/${id}`)}">${id.slice(0, 8)}</a>`);
  return card(
    'Preview',
    html`<div class="tiles">${tile(number(preview.alerts), 'alerts', { tone: preview.alerts > 0 ? 'high' : '' })}${tile(number(preview.scans), 'finished scans')}</div>${table('Alerts by entry', [{ label: 'Entry' }, { label: 'Alerts', kind: 'number' }], rows)}${samples.length > 0 && html`<p class="note">For example ${samples}</p>`}${choose}`,
  );
}

function publicationCard(visit: Visit, set: Set, mayChange: boolean): Html {
  const { link, may } = visit;
  const back = link(`/policies/${set.id}`);
  const buttons = html`${mayChange && set.visibility === 'private' && action(visit, { label: 'Request publication', method: 'POST', path: at`/policy-sets/${set.id}/request-approval`, done: 'requested', back })}${mayChange && set.visibility === 'public' && action(visit, { label: 'End publication', method: 'POST', path: at`/policy-sets/${set.id}/unpublish`, done: 'unpublished', back })}${may('organizations.manage') && set.visibility === 'public' && !set.is_approved && action(visit, { label: 'Approve', method: 'POST', path: at`/policy-sets/${set.id}/approve`, body: { version: set.version }, done: 'saved', back, tone: 'main' })}`;
  return card(
    'Publication',
    html`<p>${publication(set)} version ${set.version}</p>${set.moderation_note !== null && html`<p class="wrong"><bdi>${set.moderation_note}</bdi></p>`}<div class="buttons">${buttons}</div>`,
  );
}

const campaignsCard = ({ link }: Visit, set: Set): Html =>
  card(
    'Campaigns',
    set.campaigns.length > 0
      ? html`<ul class="plain-list">${set.campaigns.map(({ id, name }) => html`<li><a href="${link(`/campaigns/${id}`)}"><bdi>${name}</bdi></a></li>`)}</ul>`
      : html`<p class="quiet">None is bound to it.</p>`,
    { count: number(set.campaigns_total) },
  );
