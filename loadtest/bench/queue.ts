import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '@adsweep/shared/service/logger.ts';
import { openRedis, redisReady } from '../../control-plane/src/platform/redis.ts';
import { type Subject, startBull, startOurs } from './queue-subjects.ts';
import { barChart, bullVersion, figure, machine, median, saveResult } from './report.ts';

/** Our queue beside BullMQ on one Redis, in turn. */
const ROUNDS = 5;
const JOBS = 2_000;
const CONCURRENCIES = [1, 10, 100];
/** With one at a time fewer jobs are enough. */
const jobsAt = (concurrency: number) => (concurrency === 1 ? JOBS / 4 : JOBS);
const CLAIMS = 100;

const folder = mkdtempSync(join(tmpdir(), 'adsweep-bench-'));
const socket = join(folder, 'redis.sock');
const server = spawn('redis-server', ['--port', '0', '--unixsocket', socket, '--save', '', '--dir', folder], {
  stdio: 'ignore',
});
const redis = openRedis(`unix://${socket}`, createLogger('bench', 'silent'));
await redisReady(redis, 10_000);

type Round = Record<string, number>;

const perSecond = async (jobs: number, work: () => Promise<void>): Promise<number> => {
  const began = performance.now();
  await work();
  return (1000 * jobs) / (performance.now() - began);
};

/** Commands that Redis ran, those within scripts too, and bytes over the wire both ways. */
async function redisWork(): Promise<{ commands: number; bytes: number }> {
  const [stats, wire] = [await redis.info('commandstats'), await redis.info('stats')];
  const commands = [...stats.matchAll(/calls=(\d+)/g)].reduce((sum, [, calls]) => sum + Number(calls), 0);
  const bytes = [...wire.matchAll(/total_net_(?:in|out)put_bytes:(\d+)/g)].reduce(
    (sum, [, each]) => sum + Number(each),
    0,
  );
  return { commands, bytes };
}

async function takeRound(subject: Subject): Promise<Round> {
  const round: Round = {};
  const before = await redisWork();
  round['adds a second, one by one'] = await perSecond(JOBS, () => subject.add(JOBS));
  await subject.processAll(JOBS, 100);
  const after = await redisWork();
  round['Redis commands for a job'] = (after.commands - before.commands) / JOBS;
  round['bytes to and from Redis for a job'] = (after.bytes - before.bytes) / JOBS;
  for (const concurrency of CONCURRENCIES) {
    const jobs = jobsAt(concurrency);
    round['adds a second, in bulk'] = await perSecond(jobs, () => subject.addBulk(jobs));
    round[`jobs a second, ${concurrency} at a time`] = await subject.processAll(jobs, concurrency);
  }
  round['adds a second, in bulk'] = await perSecond(JOBS, () => subject.addBulk(JOBS));
  round['jobs a second, 100 at a time, one a call'] = await subject.processAll(JOBS, 100, 1);
  const claims: number[] = [];
  for (let count = 0; count < CLAIMS; count += 1) claims.push(await subject.claimMs());
  claims.sort((a, b) => a - b);
  round['ms from adding to having a job, median'] = median(claims);
  round['ms from adding to having a job, p99'] = claims[Math.floor(CLAIMS * 0.99)]!;
  return round;
}

const shown = (values: number[]) =>
  `${figure(median(values))} (${figure(Math.min(...values))}-${figure(Math.max(...values))})`;

const url = `unix://${socket}`;
const subjects = [await startOurs(url), await startBull(url), await startBull(url, 5_000)];
try {
  const rounds = new Map(subjects.map(({ name }) => [name, [] as Round[]]));
  for (let round = 0; round <= ROUNDS; round += 1)
    for (const subject of round % 2 ? subjects : subjects.toReversed()) {
      const taken = await takeRound(subject);
      // The first round warms up the compilers.
      if (round > 0) rounds.get(subject.name)!.push(taken);
    }
  const all = subjects.map(({ name }) => rounds.get(name)!);
  const [ours, theirs] = all;
  const questions = Object.keys(ours![0]!);
  const of = (of: Round[], question: string) => of.map((round) => round[question]!);
  const rows = questions.map((question) => {
    const ratio = median(of(ours!, question)) / median(of(theirs!, question));
    return `| ${question} | ${all.map((one) => shown(of(one, question))).join(' | ')} | ${ratio.toFixed(2)} |`;
  });
  const atHundred = 'jobs a second, 100 at a time';
  saveResult('queue', [
    '# Our queue beside BullMQ',
    `${machine()}, Redis ${/redis_version:(\S+)/.exec(await redis.info('server'))?.[1]}, BullMQ ${bullVersion()}. Medians (and ranges) of ${ROUNDS} rounds in turn on one Redis over a socket, without files. A round adds and works off ${JOBS.toLocaleString('en')} jobs, ten organizations among them; jobs do nothing and are removed when they end. Ours are leased under a growing fence, organizations in turn, priority classes by weight and with a cap, up to eight with one call, and ended under their fence. BullMQ has one queue without any of that, with its defaults, and once with a lock of five seconds, about as soon as our leases run out. BullMQ does more than ours: it keeps each job's payload in Redis and writes a stream of events. The ratio is that to its defaults.`,
    [`| | ${subjects.map(({ name }) => name).join(' | ')} | ratio |`, '|---|--:|--:|--:|--:|', ...rows].join('\n'),
    barChart('jobs a second, 100 at a time', [
      ['Adsweep', median(of(ours!, atHundred))],
      ['BullMQ', median(of(theirs!, atHundred))],
    ]),
  ]);
} finally {
  for (const subject of subjects) await subject.stop();
  redis.disconnect();
  const ended = once(server, 'exit');
  server.kill('SIGKILL');
  await ended;
  rmSync(folder, { recursive: true, force: true });
}
