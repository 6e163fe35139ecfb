import { command, expectWords } from '../command.ts';
import { listRows } from '../list-rows.ts';
import { failOnOf, SCAN_OPTIONS } from '../target.ts';
import { watchRun } from '../watch-run.ts';

export const runs = command({
  name: 'runs',
  args: '<campaign>',
  summary: 'list the runs of a campaign',
  options: {},
  async run(words, _, context) {
    const [id] = expectWords(words, '<campaign>');
    const api = await context.api();
    return listRows(context, api.listCampaignRuns.each(id!), {
      created: (one) => one.created_at,
      trigger: (one) => one.trigger,
      scans: (one) => String(one.total),
      completed: (one) => String(one.completed),
      failed: (one) => String(one.failed + one.partial),
      id: (one) => one.id,
    });
  },
});

export const watch = command({
  name: 'runs watch',
  args: '<run>',
  summary: 'follow a run to its end; the exit code is the verdict',
  options: { 'fail-on': SCAN_OPTIONS['fail-on'] },
  async run(words, values, context) {
    const [id] = expectWords(words, '<run>');
    const failOn = failOnOf(values['fail-on']);
    return watchRun(await context.api(), id!, failOn, context);
  },
});
