import { measureCertificates } from '@adsweep/shared/service/certificates-in-use.ts';
import { EXIT_REFUSALS, GATEWAY_OUTCOMES, LEASE_REFUSALS } from '@adsweep/shared/targeting/exit-ticket.ts';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** All metrics of this service. Labels are from closed sets. */
export type RouterMetrics = ReturnType<typeof createMetrics>;

export function createMetrics(registry: Registry) {
  const registers = [registry];
  measureCertificates(registry);
  const perPool = ['provider', 'proxy_type'];
  const tickets = new Counter({
    name: 'adsweep_exit_tickets_total',
    help: 'Requests for an exit ticket, by outcome: issued, or the code of the refusal; `LEASE_REQUIRED`, `LEASE_SPENT`: of an enrolled node beyond what its leases need.',
    labelNames: ['outcome'],
    registers,
  });
  const connections = new Counter({
    name: 'adsweep_gateway_connections_total',
    help: 'Connections to targets that ended or could not be made, by outcome.',
    labelNames: ['outcome'],
    registers,
  });
  const bytes = new Counter({
    name: 'adsweep_gateway_bytes_total',
    help: 'Bytes exchanged with targets, by direction as seen from the browser.',
    labelNames: ['direction'],
    registers,
  });
  // rate() misses the first event of a series that did not exist before it.
  for (const outcome of ['issued', ...EXIT_REFUSALS, ...LEASE_REFUSALS]) tickets.inc({ outcome }, 0);
  for (const outcome of GATEWAY_OUTCOMES) connections.inc({ outcome }, 0);
  for (const direction of ['sent', 'received']) bytes.inc({ direction }, 0);
  return {
    tickets,
    connections,
    bytes,
    openConnections: new Gauge({
      name: 'adsweep_gateway_open_connections',
      help: 'Connections to targets that are open now.',
      registers,
    }),
    refusedCredentials: new Counter({
      name: 'adsweep_gateway_refused_credentials_total',
      help: 'Requests without a valid ticket, answered 407.',
      registers,
    }),
    providerBytes: new Counter({
      name: 'adsweep_provider_bytes_total',
      help: 'Bytes exchanged with targets through exits of a provider, by proxy type and direction.',
      labelNames: [...perPool, 'direction'],
      registers,
    }),
    providerCost: new Counter({
      name: 'adsweep_provider_cost_total',
      help: 'What these bytes cost at the price_per_gb of the exits file, in its currency.',
      labelNames: perPool,
      registers,
    }),
    providerFailures: new Counter({
      name: 'adsweep_provider_failures_total',
      help: 'Failures of exits and accounts of a provider, by outcome.',
      labelNames: ['provider', 'outcome'],
      registers,
    }),
    exitChecks: new Counter({
      name: 'adsweep_exit_checks_total',
      help: 'Checks of new exit sessions, by outcome: verified, garbled (another answer than the service gives), unanswered or failed (by the exit).',
      labelNames: ['provider', 'outcome'],
      registers,
    }),
    requestSeconds: new Histogram({
      name: 'adsweep_http_request_duration_seconds',
      help: 'Time to answer a request of the API.',
      labelNames: ['method', 'route', 'status'],
      buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5],
      registers,
    }),
  };
}

/** Reports the state of the providers at each scrape, as `read` returns it then. */
export function measureProviders(registry: Registry, read: () => ProviderMeasures[]): void {
  const registers = [registry];
  new Gauge({
    name: 'adsweep_exits',
    help: 'Exits of a provider by the state that they have for all nodes; the account of a vendor counts as one.',
    labelNames: ['provider', 'state'],
    registers,
    collect() {
      this.reset();
      for (const { provider, exits } of read())
        for (const [state, count] of Object.entries(exits)) this.set({ provider, state }, count);
    },
  });
  new Gauge({
    name: 'adsweep_provider_catalogue_refreshed_timestamp_seconds',
    help: 'Unix time at which the places of a provider were last verified; 0: not yet.',
    labelNames: ['provider'],
    registers,
    collect() {
      this.reset();
      for (const { provider, refreshedAt } of read()) this.set({ provider }, (refreshedAt?.getTime() ?? 0) / 1000);
    },
  });
}

type ProviderMeasures = { provider: string; exits: Record<string, number>; refreshedAt: Date | null };
