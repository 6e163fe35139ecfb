import { ApiError } from '../../http/api-error.ts';
import { ORGANIZATION_PERMISSIONS, PERMISSIONS } from '../../http/caller.ts';
import { type Html, html } from '../../http/pages/html.ts';
import { at } from '../api/console-api.ts';
import { linesIn } from '../api/lists-in-texts.ts';
import { itemsOf, type Listed, pageIn, type Schemas } from '../api/schemas.ts';
import { action } from '../components/actions.ts';
import { areaField, button, choice, choices, hidden, textField } from '../components/fields.ts';
import { changedAlone, loadedWith } from '../components/loaded-form.ts';
import { NO_PROBLEMS, type Problems, refusedForm } from '../components/problems.ts';
import { empty, pager, table } from '../components/tables.ts';
import { chip, number, showTime, unseen } from '../components/texts.ts';
import type { Page, PageResult, PageRoute, Visit } from '../visit.ts';
import { secretPage } from './secret-page.ts';

/** Keys, OAuth clients, roles, labels and the addresses of people. */
export const settingsPage: PageRoute = {
  method: 'GET',
  path: '/settings',
  handle: (visit) => settings(visit, NO_PROBLEMS),
};

async function settings(visit: Visit, problems: Problems): Promise<Page> {
  const { api, link } = visit;
  const [account, keys, clients, roles, labels] = await Promise.all([
    api.get<Schemas['Org']>(at`/account`),
    api.get<Schemas['ApiKey'][] | Listed<Schemas['ApiKey']>>(at`/account/api-keys`).then(itemsOf),
    api.get<Schemas['OAuthClient'][]>(at`/account/oauth-clients`),
    api.get<Schemas['Role'][]>(at`/account/roles`).then(itemsOf),
    api.get<Schemas['Label'][]>(at`/account/labels`),
  ]);
  return {
    title: 'Settings',
    problems,
    body: html`<nav aria-label="Parts of this page"><ul class="tabs">${[
      ['keys', 'API keys'],
      ['clients', 'OAuth clients'],
      ['roles', 'Roles'],
      ['organization', 'Organization and labels'],
    ].map(
      ([id, label]) => html`<li><a href="#${id}">${label}</a></li>`,
    )}<li><a href="${link('/settings/audit-log')}">Audit log</a></li></ul></nav>${keyCard(visit, keys, problems)}${clientCard(visit, clients, problems)}${roleCard(visit, roles, problems)}${organizationCard(visit, account, labels, problems)}`,
  };
}

const permissionChoices = ({ who, form }: Visit, problems: Problems, what: string): Html => {
  const isSent = form.get('what') === what;
  // A key of the operator may do what no role and no client of an organization may.
  const own = (what === 'key' ? PERMISSIONS : ORGANIZATION_PERMISSIONS).filter((one) =>
    (who.permissions as readonly string[]).includes(one),
  );
  return choices(
    'What it may do',
    own.map((value) =>
      choice('checkbox', {
        name: 'permissions',
        value,
        label: html`<code>${value}</code>`,
        checked: isSent && form.getAll('permissions').includes(value),
      }),
    ),
    isSent ? problems.of('permissions') : [],
  );
};

/** `of`: whose permissions they are. */
const permissionWords = (permissions: readonly string[], of: string): Html => {
  const words = permissions.map((one) => PERMISSION_WORDS.get(one) ?? permissionWord(one));
  return permissions.length > 3
    ? html`<details class="answer"><summary>${number(permissions.length)} permissions${unseen(of)}</summary>${words}</details>`
    : html`${words}`;
};

const permissionWord = (permission: string): Html => html`<code>${permission}</code> `;
/** An organization may have a thousand keys with all permissions. */
const PERMISSION_WORDS = new Map<string, Html>(ORGANIZATION_PERMISSIONS.map((one) => [one, permissionWord(one)]));

function keyCard(visit: Visit, keys: Schemas['ApiKey'][], problems: Problems): Html {
  const { link, token, now, form, who, query } = visit;
  const isSent = form.get('what') === 'key';
  const shown = pageIn(keys.toReversed(), query);
  const rows = shown.items.map((key) => [
    html`<b><bdi>${key.name}</bdi></b>${key.id === who.key_id && html` ${chip('busy', 'this one')}`}${key.is_operators && html` ${chip('medium', "the operator's")}`}<span class="meta"><code>${key.key_prefix}…</code></span>`,
    permissionWords(key.permissions, `${key.name} ${key.key_prefix}`),
    showTime(key.last_used_at, now),
    key.expires_at === null ? html`<span class="quiet">never</span>` : showTime(key.expires_at, now),
    // The operator's key is one of the settings of the service, and ends with another one there.
    !key.is_operators &&
      html`<div class="decisions">${action(visit, {
        label: 'Revoke',
        method: 'DELETE',
        path: at`/account/api-keys/${key.id}`,
        done: 'deleted',
        back: link('/settings'),
        tone: 'danger',
        asks: 'Revoke this key? Programs that use it stop working within a second.',
        of: `${key.name} ${key.key_prefix}`,
      })}</div>`,
  ]);
  const own = isSent ? problems : NO_PROBLEMS;
  const create = html`<details class="fold inner"${isSent && html` open`}><summary>New key</summary><form class="form" method="post" action="${link('/settings')}">${token()}${hidden('what', 'key')}<div class="grid">${textField({ name: 'name', label: 'Name', value: isSent ? form.get('name') : '', required: true, problems: own })}${textField({ name: 'expires_at', label: 'Expires on', type: 'date', value: isSent ? form.get('expires_at') : '', hint: 'It works until the end of that day (UTC). Empty: it ends with your own key, or never.', problems: own })}</div>${permissionChoices(visit, problems, 'key')}<p class="hint">None chosen: the new key gets all permissions that you have now.</p><div class="buttons">${button('Create the key')}</div></form></details>`;
  return html`<section class="card flush" id="keys"><h2>API keys <span class="count">${number(keys.length)}</span></h2>${table('API keys', [{ label: 'Key' }, { label: 'May' }, { label: 'Last used', kind: 'number' }, { label: 'Expires', kind: 'number' }, { label: 'Revoke', kind: 'unseen' }], rows)}${shown.pages > 1 && pager(visit, '/settings', shown, 'keys')}${create}</section>`;
}

function clientCard(visit: Visit, clients: Schemas['OAuthClient'][], problems: Problems): Html {
  const { link, token, now, form } = visit;
  const isSent = form.get('what') === 'client';
  const own = isSent ? problems : NO_PROBLEMS;
  const rows = clients.map((one) => [
    html`<b><bdi>${one.name}</bdi></b><span class="meta"><code>${one.client_id}</code></span>`,
    permissionWords(one.permissions, one.name),
    html`<bdi>${one.redirect_uris.join(', ') || 'acts for itself'}</bdi>`,
    showTime(one.created_at, now),
    html`<div class="decisions">${action(visit, {
      label: 'Delete',
      method: 'DELETE',
      path: at`/account/oauth-clients/${one.id}`,
      done: 'deleted',
      back: link('/settings'),
      tone: 'danger',
      asks: 'Delete this client? Its tokens stop working within a second.',
      of: one.name,
    })}</div>`,
  ]);
  const create = html`<details class="fold inner"${isSent && html` open`}><summary>New OAuth client</summary><form class="form" method="post" action="${link('/settings')}">${token()}${hidden('what', 'client')}${textField({ name: 'client_name', path: 'name', label: 'Name', value: isSent ? form.get('client_name') : '', required: true, problems: own })}${areaField({ name: 'redirect_uris', label: 'Redirect URIs', rows: 2, value: isSent ? form.get('redirect_uris') : '', hint: 'One on each line; none: it acts for itself.', problems: own })}${permissionChoices(visit, problems, 'client')}<div class="buttons">${button('Create the client')}</div></form></details>`;
  const list =
    rows.length > 0
      ? table(
          'OAuth clients',
          [
            { label: 'Client' },
            { label: 'May' },
            { label: 'Returns to' },
            { label: 'Since', kind: 'number' },
            { label: 'Delete', kind: 'unseen' },
          ],
          rows,
        )
      : empty('No OAuth clients', 'A program that gets tokens of its own, or acts for people who sign in to it.');
  return html`<section class="card flush" id="clients"><h2>OAuth clients <span class="count">${number(clients.length)}</span></h2>${list}${create}</section>`;
}

function roleCard(visit: Visit, roles: Schemas['Role'][], problems: Problems): Html {
  const { link, token, form } = visit;
  const isSent = form.get('what') === 'role';
  const rows = roles.map((one) => [
    html`<b><bdi>${one.name}</bdi></b>${one.is_system && html` ${chip('off', 'built in')}`}`,
    permissionWords(one.permissions, one.name),
  ]);
  const create = html`<details class="fold inner"${isSent && html` open`}><summary>New role</summary><form class="form" method="post" action="${link('/settings')}">${token()}${hidden('what', 'role')}${textField({ name: 'role_name', path: 'name', label: 'Name', value: isSent ? form.get('role_name') : '', required: true, problems: isSent ? problems : NO_PROBLEMS })}${permissionChoices(visit, problems, 'role')}<div class="buttons">${button('Create the role')}</div></form></details>`;
  return html`<section class="card flush" id="roles"><h2>Roles <span class="count">${number(roles.length)}</span></h2>${table('Roles', [{ label: 'Role' }, { label: 'May' }], rows)}${create}</section>`;
}

function organizationCard(
  { link, token, form }: Visit,
  account: Schemas['Org'],
  labels: Schemas['Label'][],
  problems: Problems,
): Html {
  const isAccount = form.get('what') === 'account';
  const isLabels = form.get('what') === 'labels';
  const lines = labelLines(labels);
  const asLoaded = (isSent: boolean) => (isSent ? form : new URLSearchParams());
  return html`<div class="columns-2 equal" id="organization"><form class="form" method="post" action="${link('/settings')}">${token()}${hidden('what', 'account')}${loadedWith(accountFields(account), asLoaded(isAccount))}<section class="card"><h2>Organization</h2>${textField({ name: 'organization_name', path: 'name', label: 'Name', value: isAccount ? form.get('organization_name') : account.name, required: true, problems: isAccount ? problems : NO_PROBLEMS })}${areaField({ name: 'contact_emails', label: 'Addresses of people', rows: 3, value: isAccount ? form.get('contact_emails') : account.contact_emails.join('\n'), hint: 'They get mails about the account and its webhooks. One on each line.', problems: isAccount ? problems : NO_PROBLEMS })}<div class="buttons">${button(html`Save${unseen('the organization')}`)}</div></section></form>
<form class="form" method="post" action="${link('/settings')}">${token()}${hidden('what', 'labels')}${loadedWith({ labels: lines }, asLoaded(isLabels))}<section class="card"><h2>Labels</h2>${areaField({ name: 'labels', label: 'Labels', rows: 6, code: true, value: isLabels ? form.get('labels') : lines, placeholder: 'team = Team', hint: html`<code>key = name</code> on each line; with <code>(auto)</code> at its end the AI model fills it in.`, problems: isLabels ? problems : NO_PROBLEMS })}<div class="buttons">${button(html`Save${unseen('the labels')}`)}</div></section></form></div>`;
}

type Label = Pick<Schemas['Label'], 'key' | 'display_name' | 'auto_extract'>;

/** A label as a line, which is read again when the form is sent. */
const labelLine = ({ key, display_name, auto_extract }: Label): string =>
  `${key} = ${display_name}${auto_extract ? ' (auto)' : ''}`;

const labelLines = (labels: Label[]): string => labels.map(labelLine).join('\n');

/**
 * The label of a line. One that was not changed stays as it is: its name may end with "(auto)" although nothing fills
 * it in.
 */
function labelOf(line: string, known: Label[]): Label {
  const same = known.find((label) => labelLine(label) === line);
  if (same) return { key: same.key, display_name: same.display_name, auto_extract: same.auto_extract };
  const [key = '', ...rest] = line.split('=');
  const name = rest.join('=').trim();
  return { key: key.trim(), display_name: name.replace(/\s*\(auto\)$/, ''), auto_extract: name.endsWith('(auto)') };
}

const accountFields = ({ name, contact_emails }: Schemas['Org']) => ({
  organization_name: name,
  contact_emails: contact_emails.join('\n'),
});

const linesOf = (text: string | null): string[] => linesIn(text ?? '');

/** What each form of the page sends. */
const SENDERS: Record<string, (visit: Visit) => Promise<PageResult>> = {
  async key({ api, form, link }) {
    const permissions = form.getAll('permissions');
    const expires = form.get('expires_at') ?? '';
    const body = {
      name: form.get('name') ?? '',
      ...(permissions.length > 0 && { permissions }),
      ...(expires !== '' && { expires_at: `${expires}T23:59:59Z` }),
    };
    const { full_key } = await api.send<Schemas['ApiKeyNew']>('POST', at`/account/api-keys`, body);
    return secretPage('The new key', full_key, link('/settings'));
  },
  async client({ api, form, link }) {
    const uris = linesOf(form.get('redirect_uris'));
    const body = {
      name: form.get('client_name') ?? '',
      permissions: form.getAll('permissions'),
      ...(uris.length > 0 && { redirect_uris: uris }),
    };
    const { client_secret } = await api.send<Schemas['OAuthClientNew']>('POST', at`/account/oauth-clients`, body);
    return secretPage('The secret of the client', client_secret, link('/settings'));
  },
  async role({ api, form, link }) {
    await api.send('POST', at`/account/roles`, {
      name: form.get('role_name') ?? '',
      permissions: form.getAll('permissions'),
    });
    return { redirect: link('/settings', { done: 'created' }) };
  },
  async account({ api, form, link }) {
    const text = (name: string) => form.get(name) ?? '';
    const fields = { organization_name: text('organization_name'), contact_emails: text('contact_emails') };
    const changed = changedAlone(fields, accountFields(await api.ask<Schemas['Org']>(at`/account`)), form);
    const body = {
      ...(changed.includes('organization_name') && { name: fields.organization_name }),
      ...(changed.includes('contact_emails') && { contact_emails: linesOf(fields.contact_emails) }),
    };
    if (changed.length > 0) await api.send('PATCH', at`/account`, body);
    return { redirect: link('/settings', { done: 'saved' }) };
  },
  async labels({ api, form, link }) {
    const known = await api.ask<Schemas['Label'][]>(at`/account/labels`);
    const labels = linesOf(form.get('labels')).map((line) => labelOf(line, known));
    const changed = changedAlone({ labels: form.get('labels') ?? '' }, { labels: labelLines(known) }, form);
    if (changed.length > 0) await api.send('PUT', at`/account/labels`, { labels });
    return { redirect: link('/settings', { done: 'saved' }) };
  },
};

export const saveSettings: PageRoute = {
  method: 'POST',
  path: '/settings',
  handle: async (visit) => {
    const what = visit.form.get('what') ?? '';
    const send = Object.hasOwn(SENDERS, what) ? SENDERS[what] : undefined;
    if (!send) throw new ApiError('not_found', 'There is no such form.');
    try {
      return await send(visit);
    } catch (error) {
      return refusedForm(error, (problems) => settings(visit, problems));
    }
  },
};
