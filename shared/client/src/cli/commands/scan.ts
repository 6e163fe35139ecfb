import { spawn } from 'node:child_process';
import type { Client, Schemas } from '../../client.ts';
import { type Context, command, expectWords, UsageError } from '../command.ts';
import { followScans } from '../follow-scans.ts';
import { showOutcomes } from '../show-outcomes.ts';
import { showUnlessDone } from '../show-unless-done.ts';
import { failOnOf, fieldsOf, SCAN_OPTIONS, targetOf } from '../target.ts';
import { EXIT_CODES, verdictOf } from '../verdict.ts';

const PICTURE_PIXELS = 800;

export const scan = command({
  name: 'scan',
  args: '<url | file | ->',
  summary: 'scan a page, an ad tag or a VAST tag',
  options: {
    country: { type: 'string', short: 'c', means: 'the country, such as US' },
    ...SCAN_OPTIONS,
    open: { type: 'boolean', short: 'o', means: 'open the report in the browser' },
    picture: { type: 'boolean', means: 'show the screenshot, in iTerm2 and WezTerm' },
  },
  async run(words, values, context) {
    const [word] = expectWords(words, '<url | file | ->');
    if (values.country === undefined) throw new UsageError('--country is missing; adsweep api listGeos lists them');
    const failOn = failOnOf(values['fail-on']);
    const body = { ...(await targetOf(word!, values.as)), ...fieldsOf(values), country_code: values.country };
    const api = await context.api();
    if (values['dry-run']) return showEstimate(context, await api.createScan(body, { query: { dry_run: true } }));

    const created = await api.createScan(body);
    if (values.open) openInBrowser(created.public_report_url);
    if (!values.wait) return showCreated(context, created);
    const ids = [created.id, ...(created.repeat_scan_ids ?? [])];
    const show = () => showCreated(context, created);
    const outcomes = await showUnlessDone(followScans(api, ids, context.terminal), show);
    const verdict = verdictOf(outcomes, failOn);
    if (context.json) context.terminal.json({ verdict, scans: outcomes });
    else {
      if (values.picture) await showPicture(api, created.id, context);
      showOutcomes(context, outcomes, failOn);
    }
    return EXIT_CODES[verdict];
  },
});

/** Answers what a request would cost. */
export function showEstimate({ json, terminal }: Context, estimate: Schemas['Estimate']): number {
  const { scans, cost_micros, routable, warnings } = estimate;
  if (json) terminal.json(estimate);
  else {
    const [min, max] = [cost_micros.min / 1e6, cost_micros.max / 1e6];
    terminal.print(`scans: ${scans}, price: ${min === max ? min : `${min} to ${max}`}`);
    if (routable === false) terminal.print('No exit serves them.');
    for (const warning of warnings) terminal.print(warning);
  }
  return 0;
}

function showCreated({ json, terminal }: Context, created: Schemas['Scan']): number {
  if (json) terminal.json({ verdict: null, scans: [{ scan: created, tags: [] }] });
  else terminal.headline(created.status, created.id);
  if (!json) terminal.print(created.public_report_url);
  return 0;
}

/** Opens a page without a shell, and only if it is one: the URL comes from the server. */
function openInBrowser(url: string): void {
  if (!/^https?:\/\//.test(url)) return;
  const [program, ...args] =
    process.platform === 'darwin'
      ? ['open', url]
      : process.platform === 'win32'
        ? ['explorer', url]
        : ['xdg-open', url];
  // Without a browser, as on a server, the URL is printed all the same.
  spawn(program!, args, { detached: true, stdio: 'ignore' })
    .once('error', () => {})
    .unref();
}

/** The picture by the protocol of iTerm2, which WezTerm has too; other terminals would show its bytes. */
async function showPicture(api: Client, id: string, { terminal }: Context): Promise<void> {
  if (!terminal.showsPictures) return terminal.note('This terminal shows no pictures.');
  const picture = await api.getScanScreenshot(id, { w: PICTURE_PIXELS });
  const bytes = Buffer.from(await picture.arrayBuffer());
  terminal.bytes(
    Buffer.from(`\u001b]1337;File=inline=1;width=60;size=${bytes.length}:${bytes.toString('base64')}\u0007\n`),
  );
}
