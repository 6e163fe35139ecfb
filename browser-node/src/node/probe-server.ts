import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';

/** Whether the node takes work: not while it starts or drains. */
export type Readiness = () => 'ready' | 'starting' | 'draining';

/** Serves `/healthz`, `/readyz` and `/metrics`. */
export class ProbeServer {
  readonly #server: Server;

  constructor(readiness: Readiness, registry: Registry) {
    this.#server = createServer((request, response) => {
      switch (request.url) {
        case '/healthz':
          return send(response, 200, { status: 'ok' });
        case '/readyz':
          return send(response, readiness() === 'ready' ? 200 : 503, { status: readiness() });
        case '/metrics':
          return void sendMetrics(response, registry);
        default:
          return send(response, 404, { detail: 'Not found' });
      }
    });
  }

  /** The port it listens on. */
  async listen(host: string, port: number): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, host, resolve);
    });
    return (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

async function sendMetrics(response: ServerResponse, registry: Registry): Promise<void> {
  response.writeHead(200, { 'content-type': registry.contentType }).end(await registry.metrics());
}
