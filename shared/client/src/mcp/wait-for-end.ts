import type { Client, Schemas } from '../client.ts';
import { pause } from '../send-patiently.ts';
import { isFinal } from '../wait-for-scan.ts';

/** Told how far work is: `done` of `total` (absent: unknown), in words. */
export type Report = (done: number, total: number | undefined, message: string) => void;

/** What waiting ends with: the last answer, and whether the work has ended. */
export type Waited = { answer: unknown; hasEnded: boolean };

const POLL_MS = 2_000;
/** Interval of progress reports to a caller that waits: clients give up a silent request after a minute. */
const REPORT_MS = 5_000;
/** The states of a scan in their order. */
const STATES = ['pending', 'running', 'crawled', 'checking', 'completed'];

type Waiting = { seconds: number; signal: AbortSignal; report: Report };

/** Waits until a scan has ended, for at most some seconds. Rejects with an `AdsweepError`, or the signal's reason. */
export async function waitForScanEnd(api: Client, id: string, { seconds, signal, report }: Waiting): Promise<Waited> {
  const over = AbortSignal.timeout(seconds * 1_000);
  let message = 'pending';
  const tell = () => report(Math.max(0, STATES.indexOf(message)), STATES.length - 1, `The scan is ${message}.`);
  const timer = setInterval(tell, REPORT_MS);
  try {
    const onState = ({ status }: { status: string }) => {
      message = status;
      tell();
    };
    const answer = await api.scans.wait(id, { signal: AbortSignal.any([signal, over]), onState });
    return { answer, hasEnded: true };
  } catch (error) {
    if (!over.aborted || signal.aborted) throw error;
    const answer = await api.getScan(id, undefined, { signal });
    return { answer, hasEnded: isFinal(answer) };
  } finally {
    clearInterval(timer);
  }
}

const endedOf = ({ completed, failed, partial, cancelled }: Schemas['Run']): number =>
  completed + failed + partial + cancelled;

/** The same for a run, which is asked for every few seconds. */
export async function waitForRunEnd(api: Client, id: string, { seconds, signal, report }: Waiting): Promise<Waited> {
  const until = performance.now() + seconds * 1_000;
  for (;;) {
    const run = await api.getRun(id, undefined, { signal });
    const [ended, total] = [endedOf(run), run.total];
    if (ended >= total || performance.now() >= until) return { answer: run, hasEnded: ended >= total };
    report(ended, total, `${ended} of ${total} scans have ended.`);
    await pause(Math.min(POLL_MS, Math.max(0, until - performance.now())), signal);
  }
}
