import type { Client, Schemas } from '../client.ts';
import { pause } from '../send-patiently.ts';
import { untilAnswered } from '../wait-for-scan.ts';
import type { Context } from './command.ts';
import { counts, EXIT_CODES, type FailOn, type Verdict } from './verdict.ts';

const POLL_MS = 2_000;
/** The longest filter that the API takes has 4,096 characters, a slug up to 100. */
const SLUGS_PER_REQUEST = 40;

const endedOf = ({ completed, failed, partial, cancelled }: Schemas['Run']): number =>
  completed + failed + partial + cancelled;

/** Follows a run until all of its scans have ended, and prints those with findings. Resolves to the exit code. */
export async function watchRun(api: Client, id: string, failOn: FailOn, context: Context): Promise<number> {
  const { json, terminal } = context;
  let run = await api.getRun(id);
  for (; endedOf(run) < run.total; run = await untilAnswered(() => api.getRun(id))) {
    terminal.bar(endedOf(run), run.total, `scans, ${run.failed} failed`);
    await pause(POLL_MS);
  }
  // Scans that are analysed again have ended before, and have no tags until then.
  for (let open = await countOpen(api, id); open > 0; open = await countOpen(api, id)) {
    terminal.bar(run.total - open, run.total, 'scans, the others are analysed again');
    await pause(POLL_MS);
  }
  const found = await scansWithFindings(api, id, failOn);
  const verdict: Verdict =
    found.length > 0 ? 'findings' : run.total > 0 && run.completed === run.total ? 'clean' : 'failed';
  if (json) terminal.json({ verdict, run, scans: found });
  else {
    if (found.length > 0)
      terminal.table(
        ['status', 'country', 'device', 'target', 'report'],
        found.map((one) => [
          ...[one.status, one.country_code, one.emulator_display_name],
          ...[one.url || (one.is_vast ? 'VAST tag' : 'ad tag'), one.public_report_url],
        ]),
      );
    const { total, completed, partial, failed, cancelled } = run;
    const ended = `${completed} of ${total} scans completed, ${partial} in part; ${failed} failed, ${cancelled} cancelled`;
    terminal.headline(verdict, `${found.length} scans with findings; ${ended}`);
  }
  return EXIT_CODES[verdict];
}

const countOpen = async (api: Client, run_id: string): Promise<number> =>
  (await untilAnswered(() => api.listScans({ run_id, status: 'checking,rechecking', limit: 1 }))).total;

/** The scans of a run with a tag of at least this severity: the list filters by tags, so that not every scan is asked for its own. */
async function scansWithFindings(api: Client, run_id: string, failOn: FailOn): Promise<Schemas['ScanBrief'][]> {
  const slugs = (await api.listTagDefinitions())
    .filter(({ severity }) => counts(severity, failOn))
    .map(({ slug }) => slug);
  const found = new Map<string, Schemas['ScanBrief']>();
  for (let at = 0; at < slugs.length; at += SLUGS_PER_REQUEST) {
    const tag = slugs.slice(at, at + SLUGS_PER_REQUEST).join(',');
    for await (const scan of api.listScans.each({ run_id, tag, limit: 200 })) found.set(scan.id, scan);
  }
  return [...found.values()];
}
