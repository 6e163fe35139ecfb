import type { Issue } from '@adsweep/shared/validation/issue.ts';
import { type Html, html } from '../../http/pages/html.ts';
import { at } from '../api/console-api.ts';
import { linesIn, wordsIn } from '../api/lists-in-texts.ts';
import type { Listed, Schemas } from '../api/schemas.ts';
import { action } from '../components/actions.ts';
import { areaField, button, linkButton, selectField, textField } from '../components/fields.ts';
import { linkFor } from '../components/links.ts';
import { changedAlone, loadedWith } from '../components/loaded-form.ts';
import { NO_PROBLEMS, type Problems, refusedForm } from '../components/problems.ts';
import { card, empty, pager, table, tile } from '../components/tables.ts';
import { chip, counted, number, short } from '../components/texts.ts';
import type { Page, PageResult, PageRoute, Visit } from '../visit.ts';
import { queryOfPage } from './scans/list-page.ts';
import { numberOr } from './scans/scan-form.ts';

type Set = Schemas['PolicySet'];
type SetItem = Schemas['PolicySetItem'];

/** Policy sets and the state of their publication. */
export const policyList: PageRoute = {
  method: 'GET',
  path: '/policies',
  handle: async (visit) => {
    const { api, link, may, who, query } = visit;
    const sets = await api.get<Listed<SetItem>>(at`/policy-sets`, queryOfPage(query));
    const rows = sets.items.map((one) => [
      html`<a class="row-link" href="${link(`/policies/${one.id}`)}"><bdi>${short(one.name, 80)}</bdi></a>${one.is_default && html` ${chip('busy', 'default')}`}<span class="meta"><bdi>${short(one.description, 120)}</bdi></span>`,
      publication(one),
      one.organization_id === who.organization_id ? 'yours' : 'shared with you',
      `v${one.version}`,
    ]);
    const create = may('policies.manage') && linkButton('New policy set', link('/policies/new'), 'main');
    return {
      title: 'Policy sets',
      actions: create,
      body: html`<section class="card flush">${rows.length > 0 ? html`${table('Policy sets', [{ label: 'Policy set' }, { label: 'Publication' }, { label: 'Whose' }, { label: 'Version', kind: 'number' }], rows)}${pager(visit, '/policies', sets, 'policy sets')}` : empty('No policy sets', 'A policy set names what must not be found of the scans of a campaign.', create)}</section>`,
    };
  },
};

const publication = ({ visibility, is_approved }: SetItem): Html =>
  visibility === 'private'
    ? chip('off', 'private')
    : is_approved
      ? chip('clean', 'published')
      : chip('medium', 'awaits approval');

/**
 * Entries of a policy set as lines, such as `tag: auto_redirect @ US DE`; `entryOf` reads them again without a loss.
 */
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
  // The last @ of a line is that of the countries.
  const countries = entry.country_codes.length > 0 || value.includes('@') ? ` @ ${entry.country_codes.join(' ')}` : '';
  return `${entry.rule_type}: ${value}${countries}`;
};

/** The tiers of a path. What is too deep stays in the last one: without it the entry would match more. */
const tiersOf = ([tier1 = '', tier2 = null, tier3 = null, ...deeper]: (string | null)[]) => ({
  tier1,
  tier2,
  tier3,
  tier4: deeper.length > 0 ? deeper.join(' > ') : null,
});

/** The entry of a line; the API says what is wrong with one that is none. */
function entryOf(line: string): Record<string, unknown> {
  const [, head = line, countries = ''] = /^(.*)@([^@]*)$/s.exec(line) ?? [];
  const [type = '', ...rest] = head.split(':');
  const value = rest.join(':').trim();
  const [first = '', ...others] = value.split('>').map((one) => one.trim());
  const rule_type = type.trim();
  const codes = wordsIn(countries);
  const by: Record<string, object> = {
    tag: { tag_slug: value },
    brand: { brand: value },
    iab_v3: { iab_v3: tiersOf([first, ...others]) },
    ai_category: { ai_category: tiersOf([first, ...others]) },
    custom_taxonomy: { custom_taxonomy: { taxonomy_id: first, ...tiersOf(others) } },
  };
  return { rule_type, ...(Object.hasOwn(by, rule_type) ? by[rule_type] : {}), country_codes: codes };
}

/** Which entry is refused: all of them are in one field. */
const entryWords = ({ loc: [, field, index], msg }: Pick<Issue, 'loc' | 'msg'>): string =>
  field === 'entries' && typeof index === 'number' ? `Entry ${index + 1}: ${msg}` : msg;

export const newPolicy: PageRoute = {
  method: 'GET',
  path: '/policies/new',
  needs: 'policies.manage',
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
          days: numberOr(query.get('preview') ?? ''),
        })
      : null;
    return policyForm(visit, fieldsOfSet(set), NO_PROBLEMS, set, preview);
  },
};

export const savePolicy: PageRoute[] = ['/policies/new', '/policies/{id}'].map((path) => ({
  method: 'POST',
  path,
  handle: async (visit): Promise<PageResult> => {
    const { api, form, link, params, may } = visit;
    const fields = {
      name: form.get('name') ?? '',
      description: form.get('description') ?? '',
      entries: form.get('entries') ?? '',
    };
    const set = params.id === undefined ? null : await api.ask<Set>(at`/policy-sets/${params.id}`);
    const bodyOf = ({ entries, ...words }: PolicyFields) => ({ ...words, entries: linesIn(entries).map(entryOf) });
    try {
      if (!set) {
        const { id } = await api.send<Set>('POST', at`/policy-sets`, bodyOf(fields));
        // A key may create policy sets without seeing them.
        return {
          redirect: may('policies.read')
            ? link(`/policies/${id}`, { done: 'created', preview: 7 })
            : link(path, { done: 'created' }),
        };
      }
      const current = fieldsOfSet(set);
      const changed = changedAlone(fields, current, form);
      const next = { ...current, ...Object.fromEntries(changed.map((name) => [name, fields[name]])) };
      // A set is replaced as a whole, and one that is public awaits approval again then.
      if (changed.length > 0) await api.send('PUT', at`/policy-sets/${set.id}`, bodyOf(next));
      return { redirect: link(`/policies/${set.id}`, { done: 'saved', preview: 7 }) };
    } catch (error) {
      return refusedForm(error, (problems) => policyForm(visit, fields, problems, set, null), entryWords);
    }
  },
}));

type PolicyFields = { name: string; description: string; entries: string };

const fieldsOfSet = ({ name, description, entries }: Set): PolicyFields => ({
  name,
  description,
  entries: entries.map(entryLine).join('\n'),
});

function policyForm(
  visit: Visit,
  fields: PolicyFields,
  problems: Problems,
  set: Set | null,
  preview: Schemas['PolicyPreview'] | null,
): Page {
  const { link, token, may, who, form: sent } = visit;
  const isOwn = !set || set.organization_id === who.organization_id;
  const mayChange = may('policies.manage') && isOwn;
  const form = html`<form class="form" method="post" action="${link(set ? `/policies/${set.id}` : '/policies/new')}">${token()}${set && loadedWith(fieldsOfSet(set), sent)}<section class="card">${textField({ name: 'name', label: 'Name', value: fields.name, required: true, problems })}${areaField({ name: 'description', label: 'Description', value: fields.description, rows: 2, problems })}${areaField({ name: 'entries', label: 'What must not be found', value: fields.entries, rows: 10, code: true, required: true, placeholder: 'tag: auto_redirect\nbrand: Acme @ US DE\niab_v3: Gambling', hint: html`One on each line: <code>tag</code>, <code>brand</code>, <code>iab_v3</code>, <code>ai_category</code> or <code>custom_taxonomy</code>, a colon and the value; tiers joined with <code>&gt;</code>; countries after <code>@</code>.`, problems })}${mayChange && html`<div class="buttons">${button('Save')}</div>`}</section></form>`;
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

function previewCard(visit: Visit, set: Set, preview: Schemas['PolicyPreview'] | null): Html {
  const { link, query } = visit;
  const choose = html`<form class="filters" method="get" action="${link(`/policies/${set.id}`)}">${selectField({ name: 'preview', label: 'Finished scans of the last', value: query.get('preview') ?? '7', options: [1, 7, 30].map((days) => ({ value: String(days), label: counted(days, 'day') })) })}<div class="filter-buttons"><button class="button plain">Try</button></div></form>`;
  if (!preview)
    return card('Preview', html`<p class="quiet">What alerts it would have raised. Nothing is saved.</p>${choose}`);
  const names = new Map(set.entries.map((entry) => [entry.id, entryLine(entry)]));
  const rows = preview.by_entry.map(({ entry_id, alerts }) => [
    html`<code>${names.get(entry_id) ?? entry_id}</code>`,
    number(alerts),
  ]);
  const samples = preview.sample_scan_ids
    .slice(0, 5)
    .map((id, index) => html`${index > 0 && ', '}${linkFor(visit, 'scans.read', `/scans/${id}`, id.slice(0, 8))}`);
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

const campaignsCard = (visit: Visit, set: Set): Html =>
  card(
    'Campaigns',
    set.campaigns.length > 0
      ? html`<ul class="plain-list">${set.campaigns.map(({ id, name }) => html`<li>${linkFor(visit, 'campaigns.read', `/campaigns/${id}`, html`<bdi>${name}</bdi>`)}</li>`)}</ul>`
      : html`<p class="quiet">None is bound to it.</p>`,
    { count: number(set.campaigns_total) },
  );
