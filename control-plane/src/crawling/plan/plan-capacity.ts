import type { TargetKind } from '@adsweep/shared/scan/target.ts';
import { NODES_MAX } from '../fleet/nodes.ts';
import { ASSUMED, COSTS, RECORD_BYTES, type ScanCost, WAITING_JOB_BYTES } from './measured.ts';

/**
 * What is planned. `peakFactor`: scans a second at the peak, as a multiple of the day's mean. `seconds`, `exitBytes`:
 * your own measurements.
 */
export type PlanRequest = {
  scansPerDay: number;
  kind: TargetKind;
  peakFactor: number;
  keepDays: number;
  seconds?: number | undefined;
  exitBytes?: number | undefined;
};

/**
 * A bound of one part. `scansPerDay`: the most that it does with this kind, peak and measurements; `remedy`: what
 * raises it.
 */
export type PlanLimit = { part: string; engine: string; scansPerDay: number; remedy: string };

export type CapacityPlan = ReturnType<typeof planCapacity>;

const DAY_SECONDS = 86_400;

/**
 * What so many scans a day need. Linear in the costs of a scan of each kind, by default those that a benchmark has
 * measured; rounded up to whole processes. Pure.
 */
export function planCapacity(
  { scansPerDay, kind, peakFactor, keepDays, seconds, exitBytes }: PlanRequest,
  costs: Readonly<Record<TargetKind, ScanCost>> = COSTS,
) {
  const { utilisation, node, mongo, s3, waitingShare } = ASSUMED;
  const cost = { ...costs[kind], ...(seconds && { seconds }), ...(exitBytes && { exitBytes }) };
  const mean = scansPerDay / DAY_SECONDS;
  const peak = mean * peakFactor;
  const coresFor = (cpu: number) => (peak * cpu) / utilisation;
  const slots = (peak * cost.seconds) / utilisation;
  const nodes = wholes(Math.max(slots / node.slots, coresFor(cost.nodeCpu) / node.cores));
  const recordBytes = scansPerDay * RECORD_BYTES;
  const fileBytes = scansPerDay * cost.fileBytes;
  const mongoShards = wholes(
    Math.max(
      (peak * mongo.writesPerScan) / (mongo.writesPerSecond * utilisation),
      (recordBytes * keepDays) / mongo.bytesPerShard,
    ),
  );
  return {
    meanPerSecond: mean,
    peakPerSecond: peak,
    slots: Math.ceil(slots),
    nodes: {
      count: nodes,
      cores: nodes * node.cores,
      memoryBytes: nodes * node.memoryBytes,
      usedCores: peak * cost.nodeCpu,
    },
    controlPlanes: { count: wholes(coresFor(cost.controlCpu)), usedCores: peak * cost.controlCpu },
    proxyRouters: { count: wholes(coresFor(cost.routerCpu)), usedCores: peak * cost.routerCpu },
    exits: { bytesPerDay: scansPerDay * cost.exitBytes, peakBitsPerSecond: peak * cost.exitBytes * 8 },
    redis: {
      shards: wholes(coresFor(cost.redisCpu)),
      usedCores: peak * cost.redisCpu,
      memoryBytes: scansPerDay * waitingShare * WAITING_JOB_BYTES,
    },
    mongodb: { shards: mongoShards, bytesPerDay: recordBytes, keptBytes: recordBytes * keepDays },
    files: { bytesPerDay: fileBytes, keptBytes: fileBytes * keepDays, putsPerSecond: peak * s3.filesPerScan },
    limits: limitsOf(cost, peakFactor),
  };
}

const wholes = (needed: number): number => Math.max(1, Math.ceil(needed));

/** What breaks first, second and so on, as the number of scans a day at which it does. */
function limitsOf(cost: ScanCost, peakFactor: number): PlanLimit[] {
  const { utilisation, node, mongo, s3 } = ASSUMED;
  /** Scans a day, for the number a second that a part does at the peak. */
  const aDay = (perSecond: number) => Math.floor((perSecond * DAY_SECONDS) / peakFactor);
  const oneMachine = utilisation * node.cores;
  const allCpu = cost.nodeCpu + cost.controlCpu + cost.routerCpu + cost.redisCpu;
  const limits = [
    {
      part: 'everything on one machine of 2 cores',
      engine: 'Chromium',
      scansPerDay: aDay(Math.min(oneMachine / allCpu, (node.slots * utilisation) / cost.seconds)),
      remedy: 'nodes on machines of their own',
    },
    {
      part: 'one process of the control plane',
      engine: 'Node.js; the embedded store is for one process',
      scansPerDay: aDay(utilisation / cost.controlCpu),
      remedy: 'MongoDB, and processes by role (ADSWEEP_ROLES)',
    },
    {
      part: 'one proxy-router',
      engine: 'Node.js',
      scansPerDay: aDay(utilisation / cost.routerCpu),
      remedy: 'further replicas',
    },
    {
      part: 'one Redis server',
      engine: 'Redis runs one script at a time',
      scansPerDay: aDay(utilisation / cost.redisCpu),
      remedy: 'a Redis Cluster and ADSWEEP_QUEUE_SHARDS',
    },
    {
      part: 'one MongoDB replica set',
      engine: 'MongoDB: writes of its primary',
      scansPerDay: aDay((mongo.writesPerSecond * utilisation) / mongo.writesPerScan),
      remedy: 'a sharded cluster, by organization and id',
    },
    {
      part: 'one prefix of the bucket',
      engine: 'S3: 3,500 writes a second for a prefix',
      scansPerDay: aDay((s3.putsPerSecond * utilisation) / s3.filesPerScan),
      remedy: 'S3 splits prefixes by itself as they grow; raise the load slowly',
    },
    {
      part: 'one farm',
      engine: `Adsweep keeps the reports of ${NODES_MAX.toLocaleString('en')} nodes`,
      scansPerDay: aDay(
        NODES_MAX * Math.min((node.slots * utilisation) / cost.seconds, (node.cores * utilisation) / cost.nodeCpu),
      ),
      remedy: 'larger nodes: slots grow with their cores; or several farms, by organization',
    },
  ];
  return limits.sort((a, b) => a.scansPerDay - b.scansPerDay);
}
