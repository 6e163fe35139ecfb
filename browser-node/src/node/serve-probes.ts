import type { ServerResponse } from 'node:http';
import { type Listening, listen } from '@adsweep/shared/service/listen.ts';
import { METRICS_REFUSAL, mayReadMetrics } from '@adsweep/shared/service/metrics.ts';
import type { Registry } from 'prom-client';

/** Whether the node takes work: not while it starts or drains. */
export type Readiness = () => 'ready' | 'starting' | 'draining';

/** Serves `/healthz`, `/readyz` and `/metrics`. Rejects when it cannot listen on the port. */
export async function serveProbes(
  host: string,
  port: number,
  readiness: Readiness,
  registry: Registry,
  metricsToken: string,
): Promise<Listening> {
  const server = await listen(host, port, 'ADSWEEP_METRICS_PORT');
  server.serve((request, response) => {
    switch (request.url) {
      case '/healthz':
        return send(response, 200, { status: 'ok' });
      case '/readyz':
        return send(response, readiness() === 'ready' ? 200 : 503, { status: readiness() });
      case '/metrics':
        if (!mayReadMetrics(request.headers.authorization, metricsToken)) return send(response, 401, METRICS_REFUSAL);
        return void sendMetrics(response, registry);
      default:
        return send(response, 404, { detail: 'There is nothing at this path.', code: 'not_found' });
    }
  });
  return server;
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

async function sendMetrics(response: ServerResponse, registry: Registry): Promise<void> {
  response.writeHead(200, { 'content-type': registry.contentType }).end(await registry.metrics());
}
