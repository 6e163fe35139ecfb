import type { Registry } from 'prom-client';
import { describeProviders } from '../exits/describe-providers.ts';
import type { ExitHealth } from '../exits/exit-health.ts';
import type { ExitSource } from '../exits/exit-source.ts';

export type OverviewDependencies = { source: ExitSource; health: ExitHealth; registry: Registry };

type Sample = { value: number; labels: Record<string, string | number> };

/** An operator's view of this replica: the state of each provider, and its activity since the start of the process. */
export async function overview({ source, health, registry }: OverviewDependencies): Promise<object> {
  const now = Date.now();
  const samples = (name: string) => samplesOf(registry, name);
  const [tickets, bytes, cost, failures] = await Promise.all([
    samples('adsweep_exit_tickets_total'),
    samples('adsweep_provider_bytes_total'),
    samples('adsweep_provider_cost_total'),
    samples('adsweep_provider_failures_total'),
  ]);
  const providers = describeProviders(source, health, performance.now()).map(
    ({ provider, exits, places, refreshedAt, omittedFields }) => {
      const own = ({ labels }: Sample) => labels.provider === provider;
      return {
        provider,
        exits,
        catalogue: {
          places,
          refreshed_at: refreshedAt?.toISOString() ?? null,
          age_seconds: refreshedAt && Math.floor((now - refreshedAt.getTime()) / 1000),
          fields_not_sent: omittedFields,
        },
        pools: poolsOf(bytes.filter(own), cost.filter(own)),
        failures: byLabel(failures.filter(own), 'outcome'),
      };
    },
  );
  return { picks: byLabel(tickets, 'outcome'), providers };
}

async function samplesOf(registry: Registry, name: string): Promise<Sample[]> {
  const metric = (await registry.getSingleMetric(name)?.get()) as { values?: Sample[] } | undefined;
  return metric?.values ?? [];
}

const byLabel = (samples: Sample[], label: string): Record<string, number> =>
  Object.fromEntries(samples.map(({ labels, value }) => [String(labels[label]), value]));

/** Bytes by direction and their cost, by proxy type. */
function poolsOf(bytes: Sample[], cost: Sample[]): Record<string, Record<string, number>> {
  const pools: Record<string, Record<string, number>> = {};
  const add = ({ labels, value }: Sample, key: string) => {
    const type = String(labels.proxy_type);
    pools[type] = { ...pools[type], [key]: value };
  };
  for (const sample of bytes) add(sample, `bytes_${sample.labels.direction}`);
  for (const sample of cost) add(sample, 'cost');
  return pools;
}
