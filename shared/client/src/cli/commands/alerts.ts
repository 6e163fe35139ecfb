import type { Schemas } from '../../client.ts';
import { command, expectWords, UsageError } from '../command.ts';
import { listRows } from '../list-rows.ts';

type Status = Schemas['Alert']['status'];
const STATUSES: readonly Status[] = ['open', 'escalated', 'resolved', 'dismissed'];

export const alerts = command({
  name: 'alerts',
  args: '',
  summary: 'list alerts, newest first',
  options: {
    status: { type: 'string', means: 'statuses, separated by commas (open,escalated)', values: STATUSES },
    campaign: { type: 'string', means: 'of this campaign' },
    tag: { type: 'string', means: 'of these tags, separated by commas' },
  },
  async run(words, { status = 'open,escalated', campaign, tag }, context) {
    expectWords(words);
    const api = await context.api();
    const filter = { ...(campaign !== undefined && { campaign_id: campaign }), ...(tag !== undefined && { tag }) };
    return listRows(context, api.listAlerts.each({ status, limit: 200, ...filter }), {
      status: (one) => one.status,
      tag: (one) => one.tag_slug,
      country: (one) => one.country_code,
      created: (one) => one.created_at,
      target: (one) => one.scan_url || one.offer_url,
      id: (one) => one.id,
    });
  },
});

export const setAlerts = command({
  name: 'alerts set',
  args: `<${STATUSES.join(' | ')}> <alert>...`,
  summary: 'change the status of alerts',
  words: STATUSES,
  options: {},
  async run(words, _, { api, json, terminal }) {
    const [status, ...ids] = expectWords(words, '<status>', '<alert>...');
    const known = STATUSES.find((one) => one === status);
    if (!known) throw new UsageError(`the status must be one of ${STATUSES.join(', ')}`);
    const changed = await (await api()).changeAlertsStatusInBulk({ status: known, ids });
    if (json) terminal.json(changed);
    else terminal.print(`${changed.updated} changed, ${changed.skipped} skipped`);
    return changed.skipped > 0 ? 1 : 0;
  },
});
