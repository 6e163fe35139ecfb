import { type Html, html } from '../../http/pages/html.ts';
import { at } from '../api/console-api.ts';
import type { Listed, Schemas } from '../api/schemas.ts';
import { pager, table } from '../components/tables.ts';
import { short, shortId, showTime } from '../components/texts.ts';
import type { PageRoute } from '../visit.ts';
import { queryOfPage } from './scans/list-page.ts';

/** Who changed what in the organization. */
export const auditPage: PageRoute = {
  method: 'GET',
  path: '/settings/audit-log',
  handle: async (visit) => {
    const { api, link, now, query } = visit;
    const log = await api.get<Listed<Schemas['AuditEntry']>>(at`/account/audit-log`, queryOfPage(query));
    return {
      title: 'Audit log',
      above: html`<a href="${link('/settings')}">Settings</a>`,
      body: html`<section class="card flush">${auditTable(log.items, now)}${pager(visit, '/settings/audit-log', log, 'changes')}</section>`,
    };
  },
};

/** Who changed what. */
export function auditTable(entries: readonly Schemas['AuditEntry'][], now: Date): Html {
  if (entries.length === 0) return html`<p class="quiet">Nothing was changed yet.</p>`;
  const rows = entries.map(({ action: what, actor, subject_id, changes, at: when }) => [
    html`<code>${what}</code><span class="meta"><bdi>${short(JSON.stringify(changes), 200)}</bdi></span>`,
    html`${actor.kind.replace('_', ' ')} ${shortId(actor.client_id ?? actor.key_id)}`,
    shortId(subject_id),
    showTime(when, now),
  ]);
  return table(
    'Audit log',
    [{ label: 'Change' }, { label: 'By' }, { label: 'Of' }, { label: 'When', kind: 'number' }],
    rows,
  );
}
