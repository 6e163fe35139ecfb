import { TARGET_KINDS } from '@adsweep/shared/scan/target.ts';
import { type Static, Type } from 'typebox';
import type { Caller } from '../../http/caller.ts';
import { ok, type Route, route } from '../../http/route.ts';
import { type CapacityPlan, planCapacity } from './plan-capacity.ts';

const Count = Type.Integer({ minimum: 0 });
const Amount = Type.Number({ minimum: 0 });

const CapacityPlanSchema = Type.Object(
  {
    scans_per_second: Type.Object({ mean: Amount, peak: Amount }),
    slots: Count,
    nodes: Type.Object(
      { count: Count, cores: Count, memory_gb: Amount, used_cores: Amount },
      { description: 'Of 2 cores, 10 slots and 3 GB each.' },
    ),
    control_planes: Type.Object({ count: Count, used_cores: Amount }),
    proxy_routers: Type.Object({ count: Count, used_cores: Amount }),
    exits: Type.Object({ gb_per_day: Amount, peak_mbit_per_second: Amount }),
    redis: Type.Object(
      { shards: Count, used_cores: Amount, memory_gb: Amount },
      { description: 'With a twentieth of a day’s scans waiting.' },
    ),
    mongodb: Type.Object({ shards: Count, gb_per_day: Amount, kept_gb: Amount }),
    files: Type.Object({ gb_per_day: Amount, kept_gb: Amount, peak_writes_per_second: Amount }),
    limits: Type.Array(
      Type.Object({
        part: Type.String(),
        engine: Type.String({ description: 'Whose limit it is.' }),
        scans_per_day: Type.Integer({ description: 'The most that it does.' }),
        exceeded: Type.Boolean(),
        remedy: Type.String(),
      }),
      { description: 'What breaks first, second and so on.' },
    ),
  },
  { title: 'CapacityPlan' },
);

const query = {
  scans_per_day: Type.Integer({ minimum: 1, maximum: 1_000_000_000 }),
  kind: Type.Optional(Type.Enum(TARGET_KINDS, { default: 'url', description: 'What is scanned.' })),
  peak_factor: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 100,
      default: 3,
      description: 'Scans a second at the peak, as a multiple of the mean of the day.',
    }),
  ),
  keep_days: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 3_650, default: 30, description: 'Days for which scans are kept.' }),
  ),
  seconds: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 600,
      description: 'Seconds that your scans occupy a slot. Default: as measured with the ad world.',
    }),
  ),
  exit_megabytes: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1_000,
      description: 'Megabytes through the exit for each of your scans. Default: as measured with the ad world.',
    }),
  ),
};

/** The operation that plans the capacity of a farm. */
export function planRoutes(): Route<Caller>[] {
  return [
    route({
      method: 'GET',
      group: 'Fleet',
      permission: 'fleet.read',
      path: '/api/v1/fleet/plan',
      summary: 'Plan the capacity of a farm',
      description:
        'Nodes, cores, memory, storage and traffic for a number of scans a day, computed from measured costs of a scan, and what breaks first. The state of this farm plays no part. The pages of the web are heavier than those that were measured: send `seconds` and `exit_megabytes` of yours.',
      query: Type.Object(query, { additionalProperties: false }),
      replies: { 200: { description: 'The plan.', schema: CapacityPlanSchema } },
      handle: async ({ query: asked }) => {
        const {
          scans_per_day: scansPerDay,
          kind = 'url',
          peak_factor: peakFactor = 3,
          keep_days: keepDays = 30,
        } = asked;
        const { seconds, exit_megabytes } = asked;
        const exitBytes = exit_megabytes === undefined ? undefined : exit_megabytes * 1e6;
        return ok(
          presentPlan(planCapacity({ scansPerDay, kind, peakFactor, keepDays, seconds, exitBytes }), scansPerDay),
        );
      },
    }),
  ];
}

function presentPlan(plan: CapacityPlan, scansPerDay: number): Static<typeof CapacityPlanSchema> {
  const { nodes, controlPlanes, proxyRouters, exits, redis, mongodb, files, limits } = plan;
  return {
    scans_per_second: { mean: short(plan.meanPerSecond), peak: short(plan.peakPerSecond) },
    slots: plan.slots,
    nodes: {
      count: nodes.count,
      cores: nodes.cores,
      memory_gb: gb(nodes.memoryBytes),
      used_cores: short(nodes.usedCores),
    },
    control_planes: { count: controlPlanes.count, used_cores: short(controlPlanes.usedCores) },
    proxy_routers: { count: proxyRouters.count, used_cores: short(proxyRouters.usedCores) },
    exits: { gb_per_day: gb(exits.bytesPerDay), peak_mbit_per_second: short(exits.peakBitsPerSecond / 1e6) },
    redis: { shards: redis.shards, used_cores: short(redis.usedCores), memory_gb: gb(redis.memoryBytes) },
    mongodb: { shards: mongodb.shards, gb_per_day: gb(mongodb.bytesPerDay), kept_gb: gb(mongodb.keptBytes) },
    files: {
      gb_per_day: gb(files.bytesPerDay),
      kept_gb: gb(files.keptBytes),
      peak_writes_per_second: short(files.putsPerSecond),
    },
    limits: limits.map(({ scansPerDay: most, ...limit }) => ({
      ...limit,
      scans_per_day: most,
      exceeded: scansPerDay > most,
    })),
  };
}

/** Three digits: the measurements have no more. */
const short = (value: number): number => Number(value.toPrecision(3));
const gb = (bytes: number): number => short(bytes / 1e9);
