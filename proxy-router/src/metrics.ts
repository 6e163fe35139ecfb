import { EXIT_REFUSALS, GATEWAY_OUTCOMES } from '@adsweep/shared/targeting/exit-ticket.ts';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** Everything this service measures. Labels are from closed sets. */
export type RouterMetrics = ReturnType<typeof createMetrics>;

export function createMetrics(registry: Registry) {
  const registers = [registry];
  const tickets = new Counter({
    name: 'adsweep_exit_tickets_total',
    help: 'Requests for an exit ticket, by outcome: issued, or the code of the refusal.',
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
  // A series that appears with its first event hides that event from rate().
  for (const outcome of ['issued', ...EXIT_REFUSALS]) tickets.inc({ outcome }, 0);
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
    requestSeconds: new Histogram({
      name: 'adsweep_http_request_duration_seconds',
      help: 'Time to answer a request of the API.',
      labelNames: ['method', 'route', 'status'],
      buckets: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5],
      registers,
    }),
  };
}
