import type { ChildProcess } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { type CrashSubject, crashBull, crashFarm, crashOurs } from './crash-subjects.ts';
import { startServices } from './measured-services.ts';
import { barChart, bullVersion, machine, median, saveResult } from './report.ts';
import { killProcess } from './simulated-fleet.ts';

/** How many seconds after SIGKILL of a worker does its job run again? */
const JOBS = 8;
/** Pages that a node of the whole farm loads. */
const PAGES = 4;
/** Workers are killed this far apart, so that their leases are of any age between two renewals. */
const APART_MS = 700;
/** Each lease was renewed by then. */
const SETTLED_MS = 4_000;
const GIVE_UP_MS = 180_000;

/** Each job has its own worker, which is killed while another worker waits for jobs. Seconds from each kill to the job's next run. */
async function secondsToRerun({ add, start }: CrashSubject): Promise<number[]> {
  const began = new Map<string, { worker: number; at: number }[]>();
  const workers: ChildProcess[] = [];
  const startWorker = (name: string, slots: number) => {
    const worker = workers.length;
    const leased = (jobId: string) =>
      began.set(jobId, [...(began.get(jobId) ?? []), { worker, at: performance.now() }]);
    workers.push(start(name, slots, leased));
  };
  const deadline = performance.now() + GIVE_UP_MS;
  const runOf = async (jobId: string, ordinal: number) => {
    for (;;) {
      const run = began.get(jobId)?.[ordinal];
      if (run) return run;
      if (performance.now() > deadline) throw new Error('a job was not run again');
      await pause(10);
    }
  };
  try {
    for (let count = 0; count < JOBS; count += 1) startWorker(`victim-${count}`, 1);
    const jobs = await Promise.all(Array.from({ length: JOBS }, add));
    await Promise.all(jobs.map((job) => runOf(job, 0)));
    startWorker('heir', JOBS);
    await pause(SETTLED_MS);
    return await Promise.all(
      jobs.map(async (job, at) => {
        await pause(at * APART_MS);
        const killedAt = performance.now();
        workers[(await runOf(job, 0)).worker]!.kill('SIGKILL');
        return ((await runOf(job, 1)).at - killedAt) / 1000;
      }),
    );
  } finally {
    for (const worker of workers) await killProcess(worker);
  }
}

const services = await startServices();
const subjects = [crashOurs(services), crashBull(services.redis.url)];
try {
  // The times of leases and locks decide, not the processor: both at once.
  const [ours, theirs] = await Promise.all(subjects.map(secondsToRerun));
  const onFarm = await crashFarm(PAGES, APART_MS);
  const row = (name: string, seconds: number[]) =>
    `| ${name} | ${[median(seconds), Math.min(...seconds), Math.max(...seconds)].map((one) => one.toFixed(1)).join(' | ')} |`;
  const results: [string, number[]][] = [
    ['Adsweep, simulated nodes', ours!],
    ['Adsweep, the whole farm', onFarm],
    ['BullMQ', theirs!],
  ];
  saveResult('crash', [
    '# Seconds from SIGKILL of a worker to the re-run of its job',
    `${machine()}, BullMQ ${bullVersion()}. ${JOBS} jobs each; leases and locks last as long as they do by default. Of our queue and BullMQ, on one Redis and at the same time, each job has a worker process of its own; these are killed one after the other while another process waits for work. Ours are simulated nodes that speak to the control plane over HTTP. Of the whole farm one of two browser nodes is killed while it loads ${PAGES} pages; the time ends when a page is asked for again, by a new browser through a new exit.`,
    ['| | median | least | most |', '|---|--:|--:|--:|', ...results.map(([name, each]) => row(name, each))].join('\n'),
    barChart(
      'seconds, the longest',
      results.map(([name, seconds]) => [name, Math.max(...seconds)]),
    ),
  ]);
} finally {
  for (const subject of subjects) await subject.stop();
  await services.stop();
}
