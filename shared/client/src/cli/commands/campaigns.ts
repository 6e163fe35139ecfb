import { command, expectWords } from '../command.ts';
import { listRows } from '../list-rows.ts';
import { showUnlessDone } from '../show-unless-done.ts';
import { failOnOf, SCAN_OPTIONS } from '../target.ts';
import { watchRun } from '../watch-run.ts';

export const campaigns = command({
  name: 'campaigns',
  args: '',
  summary: 'list campaigns',
  options: {
    search: { type: 'string', short: 's', means: 'part of the name' },
    archived: { type: 'boolean', means: 'the archived ones' },
  },
  async run(words, { search, archived = false }, context) {
    expectWords(words);
    const api = await context.api();
    const all = api.listCampaigns.each({ archived, ...(search !== undefined && { q: search }) });
    return listRows(context, all, {
      name: (one) => one.name,
      type: (one) => one.campaign_type,
      countries: (one) => one.country_codes.join(','),
      'last run': (one) => one.last_run_at ?? '',
      'next run': (one) => one.next_run_at ?? '',
      id: (one) => one.id,
    });
  },
});

export const runCampaign = command({
  name: 'campaigns run',
  args: '<campaign>',
  summary: 'run a campaign now',
  options: { wait: SCAN_OPTIONS.wait, 'fail-on': SCAN_OPTIONS['fail-on'] },
  async run(words, values, context) {
    const [id] = expectWords(words, '<campaign>');
    const failOn = failOnOf(values['fail-on']);
    const api = await context.api();
    const run = await api.runCampaign(id!);
    const show = () => {
      if (context.json) context.terminal.json(run);
      else context.terminal.print(`run ${run.id}, ${run.total} scans`);
    };
    if (values.wait) return showUnlessDone(watchRun(api, run.id, failOn, context), show);
    show();
    return 0;
  },
});
