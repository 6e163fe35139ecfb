import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { GuardedPost } from '@adsweep/shared/egress/guarded-post.ts';
import { newId } from '@adsweep/shared/ids.ts';
import type { EventRecord } from '../../control-plane/src/delivery/events/event-store.ts';
import type { DeliveryRecord } from '../../control-plane/src/delivery/webhooks/delivery.ts';
import { dispatchEvents, startDispatchingEvents } from '../../control-plane/src/delivery/webhooks/dispatch-events.ts';
import { EVENT_TYPES } from '../../control-plane/src/delivery/webhooks/event-types.ts';
import { measureWebhooks } from '../../control-plane/src/delivery/webhooks/measure-webhooks.ts';
import { queueDeliveries } from '../../control-plane/src/delivery/webhooks/queue-deliveries.ts';
import { createWakeSignal } from '../../control-plane/src/platform/wake-signal.ts';
import { queueEvents } from '../../control-plane/test/support/queued-events.ts';
import { measureProcess } from './measure-process.ts';
import { barChart, bullVersion, machine, median, number, saveResult } from './report.ts';
import { openDispatcher, type StoreCalls } from './webhook-dispatcher.ts';

/**
 * What does a delivery cost beside a bare POST and beside BullMQ, what do slow and dead endpoints cost others, and what does an idle one cost?
 * `webhooks.ts [rounds]`
 */
const ROUNDS = Number(process.argv[2] ?? 5);
const [SENT_ENDPOINTS, SENT_SCANS] = [10, 200];
const SENT = SENT_ENDPOINTS * SENT_SCANS * EVENT_TYPES.length;
const SUBJECTS = { adsweep: 'Adsweep', bare: 'a bare loop of signed POSTs', bullmq: 'a sender on BullMQ' };

const receiver = fork(join(import.meta.dirname, 'webhook-receiver.ts'));
const [port] = (await once(receiver, 'message')) as [number];
const url = `http://127.0.0.1:${port}`;

const shown = (values: number[]): string =>
  `${number(median(values))} (${number(Math.min(...values))}-${number(Math.max(...values))})`;

type Speed = { perSecond: number; perCore: number };

/** Deliveries a second, and for each second of a core, in turn. */
async function speeds(): Promise<Record<keyof typeof SUBJECTS, Speed[]>> {
  const rounds: Record<keyof typeof SUBJECTS, Speed[]> = { adsweep: [], bare: [], bullmq: [] };
  for (let round = 0; round < ROUNDS; round += 1)
    for (const subject of Object.keys(rounds) as (keyof typeof SUBJECTS)[]) {
      const args = [subject, url, String(SENT_ENDPOINTS), String(SENT_SCANS)];
      const { seconds, cpu } = await measureProcess(join(import.meta.dirname, 'webhook-sender.ts'), args);
      rounds[subject].push({ perSecond: SENT / seconds, perCore: SENT / cpu });
    }
  return rounds;
}

/** A dispatcher on a store of its own, while `use` runs. */
async function withDispatcher<T>(
  use: (dispatcher: Awaited<ReturnType<typeof openDispatcher>>) => Promise<T>,
  changePost: (post: GuardedPost['post']) => GuardedPost['post'] = (post) => post,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'adsweep-bench-'));
  const dispatcher = await openDispatcher(folder, changePost);
  try {
    return await use(dispatcher);
  } finally {
    await dispatcher.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

const sumOf = (calls: StoreCalls): number => [...calls.values()].reduce((sum, count) => sum + count, 0);
const cpuMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

/** Five organizations with 20 endpoints each; each of them has an event every 250 ms for all of its endpoints. */
const [ORGANIZATIONS, ENDPOINTS, EVERY_MS, LASTS_MS] = [5, 20, 250, 12_000];
const QUICK = '/ok';
type Others = { p50: number; p99: number; cpuMs: number; calls: number; deliveries: number };

/**
 * The time from an event to its delivery at the quick endpoints. `slow`: one of the 100 takes 14 s; `dead`: another
 * organization has 20 that never answer.
 */
async function othersBeside(beside: 'nothing' | 'slow' | 'dead'): Promise<Others> {
  const ms: number[] = [];
  const timed =
    (post: GuardedPost['post']): GuardedPost['post'] =>
    async (request) => {
      const answer = await post(request);
      if (request.url.endsWith(QUICK)) ms.push(Date.now() - Date.parse(JSON.parse(String(request.body)).timestamp));
      return answer;
    };
  return withDispatcher(async ({ store, calls, parts }) => {
    const wake = createWakeSignal();
    const queueing = { ...parts, queued: () => wake.raise() };
    const organizations = Array.from({ length: ORGANIZATIONS }, (_, at) => `organization-${at}`);
    for (const [at, organizationId] of organizations.entries()) {
      const urls = Array.from({ length: ENDPOINTS }, (_, which) =>
        beside === 'slow' && at + which === 0 ? `${url}/slow` : `${url}${QUICK}`,
      );
      await queueEvents(store, parts.secrets, { organizationId, urls, scans: 0 });
    }
    if (beside === 'dead') {
      const urls = Array.from({ length: ENDPOINTS }, () => `${url}/dead`);
      await queueEvents(store, parts.secrets, { organizationId: 'dead', urls, scans: 300 });
    }
    const loop = startDispatchingEvents(parts, wake);
    await sleep(3_000);
    ms.length = 0;
    calls.clear();
    const before = cpuMs();
    for (let at = 0; at < LASTS_MS / EVERY_MS; at += 1) {
      for (const organization_id of organizations) void emit(organization_id, at);
      await sleep(EVERY_MS);
    }
    await sleep(500);
    ms.sort((a, b) => a - b);
    const [deliveries, used] = [ms.length, cpuMs() - before];
    const result = {
      p50: median(ms),
      p99: ms[Math.floor(deliveries * 0.99)]!,
      cpuMs: used,
      calls: sumOf(calls),
      deliveries,
    };
    const over = loop.stop();
    await over;
    return result;

    /** Records an event, as the relay does. */
    async function emit(organization_id: string, at: number): Promise<void> {
      const { kind, sample } = EVENT_TYPES[at % EVENT_TYPES.length]!;
      const { sequence, ...payload } = sample.data;
      const of = { _id: newId(), organization_id, scan_id: newId(), campaign_id: null, occurred_at: new Date() };
      const event: EventRecord = { ...of, kind, sequence, payload: payload as never };
      await parts.events.add(event);
      await queueDeliveries(queueing, event);
    }
  }, timed);
}

/** An organization's endpoints have had so many deliveries in the last seven days; what is older is deleted. */
const [IDLE_ENDPOINTS, HISTORY] = [1_000, 100_000];
const PASSES = 300;

type Idle = { calls: number; microseconds: number };

/** What a look of the dispatcher, and one of the metrics, costs beside endpoints that have nothing to do. */
async function idleCost(endpoints: number): Promise<Idle> {
  return withDispatcher(async ({ store, calls, parts }) => {
    let left = endpoints;
    for (let at = 0; left > 0 || at === 0; at += 1) {
      const urls = Array.from({ length: Math.min(left, 20) }, () => `${url}${QUICK}`);
      left -= urls.length;
      const ids = await queueEvents(store, parts.secrets, { organizationId: `organization-${at}`, urls, scans: 0 });
      if (ids.length > 0) await remember(ids, `organization-${at}`);
    }
    while (await dispatchEvents(parts));
    calls.clear();
    const before = cpuMs();
    for (let pass = 0; pass < PASSES; pass += 1) await dispatchEvents(parts);
    await measureWebhooks(parts, new Date());
    const used = cpuMs() - before;
    return { calls: sumOf(calls), microseconds: (1000 * used) / PASSES };

    async function remember(ids: string[], organization_id: string): Promise<void> {
      const each = Math.round(HISTORY / endpoints);
      const made = ids.flatMap((endpoint_id) =>
        Array.from({ length: each }, (_, at): DeliveryRecord => {
          const occurred_at = new Date(Date.now() - at * 1_000);
          const of = {
            event_id: newId(),
            scan_id: newId(),
            campaign_id: null,
            kind: EVENT_TYPES[0]!.kind,
            sequence: 1,
          };
          const _id = `${of.event_id}:${endpoint_id}`;
          const state = { state: 'delivered' as const, attempts: 1, occurred_at, window_from: occurred_at };
          return { _id, organization_id, endpoint_id, ...of, ...state };
        }),
      );
      await parts.deliveries.add(made);
    }
  });
}

const speed = await speeds();
const beside: Record<'nothing' | 'slow' | 'dead', Others[]> = { nothing: [], slow: [], dead: [] };
for (let round = 0; round < ROUNDS; round += 1)
  for (const which of Object.keys(beside) as (keyof typeof beside)[]) beside[which].push(await othersBeside(which));
const [none, idle] = [await idleCost(0), await idleCost(IDLE_ENDPOINTS)];
receiver.disconnect();

const per = (subject: keyof typeof SUBJECTS, what: keyof Speed) => speed[subject].map((one) => one[what]);
const ratio = (a: number[], b: number[]) => (median(a) / median(b)).toFixed(2);
const speedRows = (Object.keys(SUBJECTS) as (keyof typeof SUBJECTS)[]).map(
  (subject) =>
    `| ${SUBJECTS[subject]} | ${shown(per(subject, 'perSecond'))} | ${shown(per(subject, 'perCore'))} | ${ratio(per(subject, 'perCore'), per('adsweep', 'perCore'))} |`,
);
const of = (which: keyof typeof beside, what: keyof Others) => beside[which].map((one) => one[what]);
const NAMES = {
  nothing: 'nothing',
  slow: 'one of the 100 that takes 14 s',
  dead: 'another organization with 20 that never answer',
};
const besideRows = (Object.keys(NAMES) as (keyof typeof NAMES)[]).map(
  (which) =>
    `| ${NAMES[which]} | ${shown(of(which, 'deliveries'))} | ${shown(of(which, 'p50'))} | ${shown(of(which, 'p99'))} | ${ratio(of(which, 'p99'), of('nothing', 'p99'))} | ${shown(of(which, 'cpuMs'))} | ${shown(of(which, 'calls'))} |`,
);
saveResult('webhooks', [
  '# Webhooks',
  `${machine()}, BullMQ ${bullVersion()}. Medians (and ranges).`,
  '## What a delivery costs',
  `${SENT.toLocaleString('en')} deliveries that wait, to ${SENT_ENDPOINTS} endpoints of one receiver, ${ROUNDS} rounds in turn. A sender is a process, with the programs that it starts; the receiver is not counted. Ours sends from the embedded store on a file, each write synced. The sender on BullMQ has the same guarantees: Redis syncs each write, each endpoint has a queue and a worker with 32 at a time, the events of a scan are a chain of jobs, failures are tried again, and what has ended is kept for a week with its answer. The bare loop writes nothing down.`,
  ['| sender | a second | a second of a core | beside ours |', '|---|--:|--:|--:|', ...speedRows].join('\n'),
  barChart(
    'deliveries for a second of a core',
    (Object.keys(SUBJECTS) as (keyof typeof SUBJECTS)[]).map(
      (one) => [SUBJECTS[one], median(per(one, 'perCore'))] as const,
    ),
  ),
  '## Slow and dead endpoints beside others',
  `${ORGANIZATIONS} organizations with ${ENDPOINTS} endpoints each, an event of each organization every ${EVERY_MS} ms, ${LASTS_MS / 1000} s. ms from an event to the answer of an endpoint that answers at once; CPU and calls of the store are of the whole process, which also records the events. Rounds in turn.`,
  [
    '| beside | deliveries | median ms | p99 ms | p99 beside nothing | CPU ms | calls of the store |',
    '|---|--:|--:|--:|--:|--:|--:|',
    ...besideRows,
  ].join('\n'),
  '## Idle endpoints',
  `${PASSES} looks of a dispatcher and one of the metrics, without endpoints and with ${IDLE_ENDPOINTS.toLocaleString('en')} that have nothing to do and had ${HISTORY.toLocaleString('en')} deliveries in the seven days that are kept: all that is left of a year.`,
  [
    '| endpoints | calls of the store | microseconds of CPU a look |',
    '|---|--:|--:|',
    `| none | ${none.calls} | ${none.microseconds.toFixed(0)} |`,
    `| ${IDLE_ENDPOINTS.toLocaleString('en')} idle | ${idle.calls} | ${idle.microseconds.toFixed(0)} |`,
  ].join('\n'),
]);
process.exit();
