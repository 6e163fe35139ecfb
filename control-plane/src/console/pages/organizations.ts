import { ApiError } from '../../http/api-error.ts';
import { type Html, html } from '../../http/pages/html.ts';
import { at } from '../api/console-api.ts';
import type { Listed, Schemas } from '../api/schemas.ts';
import { button, selectField, textField } from '../components/fields.ts';
import { changedAlone, loadedWith } from '../components/loaded-form.ts';
import { NO_PROBLEMS, type Problems, refusedForm } from '../components/problems.ts';
import { card, pager, table } from '../components/tables.ts';
import { chip, number, showTime } from '../components/texts.ts';
import type { Page, PageRoute, Visit } from '../visit.ts';
import { auditTable } from './audit.ts';
import { queryOfPage } from './scans/list-page.ts';
import { numberOr } from './scans/scan-form.ts';
import { secretPage } from './secret-page.ts';

type Organization = Schemas['Organization'];

/** The organizations of the deployment and their quotas. */
export const organizationsPage: PageRoute = {
  method: 'GET',
  path: '/organizations',
  handle: (visit) => organizations(visit, NO_PROBLEMS),
};

async function organizations(visit: Visit, problems: Problems): Promise<Page> {
  const { api, link, token, now, form, query } = visit;
  const all = await api.get<Listed<Organization>>(at`/organizations`, queryOfPage(query));
  const quota = (value: number | null) => (value === null ? html`<span class="quiet">no limit</span>` : number(value));
  const rows = all.items.map((one) => [
    html`<a class="row-link" href="${link(`/organizations/${one.id}`)}"><bdi>${one.name}</bdi></a><span class="meta"><code>${one.id}</code></span>`,
    chip(one.status === 'active' ? 'clean' : 'medium', one.status),
    quota(one.checks_per_month),
    quota(one.concurrent_leases),
    quota(one.requests_per_minute),
    showTime(one.created_at, now),
  ]);
  const columns = [
    { label: 'Organization' },
    { label: 'Status' },
    ...['Checks a month', 'Leases at once', 'Requests a minute', 'Since'].map((label) => ({
      label,
      kind: 'number' as const,
    })),
  ];
  const create = html`<form class="form" method="post" action="${link('/organizations')}">${token()}<section class="card"><h2>New organization</h2>${textField({ name: 'name', label: 'Name', value: form.get('name'), required: true, problems })}<div class="buttons">${button('Create the organization')}</div></section></form>`;
  return {
    title: 'Organizations',
    problems,
    body: html`<section class="card flush">${table('Organizations', columns, rows)}${pager(visit, '/organizations', all, 'organizations')}</section>${create}`,
  };
}

export const createOrganization: PageRoute = {
  method: 'POST',
  path: '/organizations',
  handle: async (visit) => {
    const { api, form, link } = visit;
    try {
      const { api_key } = await api.send<Schemas['OrganizationNew']>('POST', at`/organizations`, {
        name: form.get('name') ?? '',
      });
      return secretPage('The first key of the organization', api_key, link('/organizations'));
    } catch (error) {
      return refusedForm(error, (problems) => organizations(visit, problems));
    }
  },
};

const QUOTAS = ['checks_per_month', 'concurrent_leases', 'requests_per_minute', 'check_price_micros'] as const;
const QUOTA_WORDS: Record<(typeof QUOTAS)[number], string> = {
  checks_per_month: 'Checks a month',
  concurrent_leases: 'Leases at once',
  requests_per_minute: 'Requests a minute',
  check_price_micros: 'Price of a check in micros',
};

/** What the form of an organization changes. */
const FIELDS = ['name', 'status', ...QUOTAS] as const;
type Field = (typeof FIELDS)[number];

/** The quotas and the status of an organization. */
export const organizationPage: PageRoute = {
  method: 'GET',
  path: '/organizations/{id}',
  handle: (visit) => organization(visit, NO_PROBLEMS),
};

async function organization(visit: Visit, problems: Problems): Promise<Page> {
  const { api, form: sent, params, link, token, now } = visit;
  const [one, audit] = await Promise.all([
    findOrganization(api, params.id!),
    api.get<Listed<Schemas['AuditEntry']>>(at`/organizations/${params.id!}/audit-log`, { limit: 20 }),
  ]);
  const loaded = fieldsOf(one);
  const value = (name: Field) => sent.get(name) ?? loaded[name];
  const [ofSettings, ofKey] = sent.has('key_name') ? [NO_PROBLEMS, problems] : [problems, NO_PROBLEMS];
  const fields = QUOTAS.map((name) =>
    textField({
      name,
      label: QUOTA_WORDS[name],
      type: 'number',
      min: 0,
      value: value(name),
      placeholder: name === 'check_price_micros' ? 'the usual price' : 'no limit',
      problems: ofSettings,
    }),
  );
  const form = html`<form class="form" method="post" action="${link(`/organizations/${one.id}`)}">${token()}${loadedWith(loaded, sent)}<section class="card"><div class="grid">${textField({ name: 'name', label: 'Name', value: value('name'), required: true, problems: ofSettings })}${selectField({ name: 'status', label: 'Status', value: value('status'), options: ['active', 'suspended'].map((status) => ({ value: status, label: status })), problems: ofSettings })}${fields}</div><p class="hint">An empty quota is no limit; without a price a check costs what it costs everybody.</p><div class="buttons">${button('Save')}</div></section></form>`;
  return {
    title: one.name,
    above: html`<a href="${link('/organizations')}">Organizations</a>`,
    problems,
    body: html`${form}${keyCard(visit, one, ofKey)}${card('Audit log', auditTable(audit.items, now))}`,
  };
}

/** A further key, for an organization that has lost its own. */
const keyCard = ({ link, token, form }: Visit, { id }: Organization, problems: Problems): Html =>
  html`<form class="form" method="post" action="${link(`/organizations/${id}/keys`)}">${token()}<section class="card"><h2>New key</h2>${textField({ name: 'key_name', path: 'name', label: 'Name of the key', value: form.get('key_name'), hint: 'It may do everything within the organization, and ends with your own key, or never.', required: true, problems })}<div class="buttons">${button('Create a key', { tone: 'plain' })}</div></section></form>`;

export const createOrganizationKey: PageRoute = {
  method: 'POST',
  path: '/organizations/{id}/keys',
  handle: async (visit) => {
    const { api, form, params, link } = visit;
    const [path, name] = [at`/organizations/${params.id!}/api-keys`, form.get('key_name') ?? ''];
    try {
      const { full_key } = await api.send<Schemas['ApiKeyNew']>('POST', path, { name });
      return secretPage('The new key of the organization', full_key, link(`/organizations/${params.id}`));
    } catch (error) {
      return refusedForm(error, (problems) => organization(visit, problems));
    }
  },
};

const fieldsOf = (one: Organization) =>
  Object.fromEntries(FIELDS.map((name) => [name, String(one[name] ?? '')])) as Record<Field, string>;

/** Throws 404 if there is none. */
async function findOrganization(api: Visit['api'], organizationId: string): Promise<Organization> {
  const isIt = ({ id }: Organization) => id === organizationId;
  const { items } = await api.askPages<Organization>(at`/organizations`, (found) => found.some(isIt));
  const one = items.find(isIt);
  if (!one) throw new ApiError('not_found', 'There is no such organization.');
  return one;
}

export const saveOrganization: PageRoute = {
  method: 'POST',
  path: '/organizations/{id}',
  handle: async (visit) => {
    const { api, form, params, link } = visit;
    const fields = Object.fromEntries(FIELDS.map((name) => [name, form.get(name) ?? ''])) as Record<Field, string>;
    const current = fieldsOf(await findOrganization(api, params.id!));
    try {
      const changes = changedAlone(fields, current, form).map((name) => [name, changeTo(name, fields[name])]);
      if (changes.length > 0) await api.send('PATCH', at`/organizations/${params.id!}`, Object.fromEntries(changes));
      return { redirect: link(`/organizations/${params.id}`, { done: 'saved' }) };
    } catch (error) {
      return refusedForm(error, (problems) => organization(visit, problems));
    }
  },
};

/** What is no number is sent as it is, so that the API refuses it: null would be no limit. */
const changeTo = (name: Field, text: string): string | number | null =>
  name === 'name' || name === 'status' ? text : text === '' ? null : numberOr(text);
