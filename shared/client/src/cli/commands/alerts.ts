import { AdsweepError, messageOf } from '../../adsweep-error.ts';
import type { Client, Schemas } from '../../client.ts';
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
  async run(words, _, { api: client, json, terminal }) {
    const [status, ...ids] = expectWords(words, '<status>', '<alert>...');
    const known = STATUSES.find((one) => one === status);
    if (!known) throw new UsageError(`the status must be one of ${STATUSES.join(', ')}`);
    const api = await client();
    const changed = await api.changeAlertsStatusInBulk({ status: known, ids });
    if (json) terminal.json(changed);
    else terminal.print(`${changed.updated} changed, ${changed.skipped} skipped`);
    const problems = changed.skipped > 0 ? await problemsOf(api, known, [...new Set(ids)]) : [];
    for (const problem of problems) terminal.note(problem);
    return problems.length > 0 ? 1 : 0;
  },
});

/** Why alerts do not have a status. One that has it already is skipped too, but the same status again is no problem. */
async function problemsOf(api: Client, status: Status, ids: string[]): Promise<string[]> {
  const problems: string[] = [];
  for (const id of ids)
    await api.updateAlertStatus(id, { status }).catch((error: unknown) => {
      if (!(error instanceof AdsweepError && [404, 422].includes(error.status))) throw error;
      problems.push(`${id}: ${messageOf(error)}`);
    });
  return problems;
}
