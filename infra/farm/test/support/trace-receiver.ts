import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';

/** A span as OTLP has it in JSON. */
export type Span = { traceId: string; spanId: string; parentSpanId?: string; name: string; service: string };
export type Received = { url: string; headers: http.IncomingHttpHeaders; text: string };

/** Receives spans (OTLP over HTTP, `/v1/traces`), and keeps every other request. */
export type TraceReceiver = { url: string; spans: Span[]; requests: Received[]; close(): void };

type Batch = {
  resourceSpans: {
    resource: { attributes: { key: string; value: { stringValue?: string } }[] };
    scopeSpans: { spans: Omit<Span, 'service'>[] }[];
  }[];
};

export async function startTraceReceiver(): Promise<TraceReceiver> {
  const [spans, requests]: [Span[], Received[]] = [[], []];
  const server = http.createServer(async (request, response) => {
    let text = '';
    for await (const part of request.setEncoding('utf8')) text += part;
    if (request.url === '/v1/traces') spans.push(...spansIn(JSON.parse(text) as Batch));
    else requests.push({ url: request.url!, headers: request.headers, text });
    response.setHeader('content-type', 'application/json').end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    ...{ url, spans, requests },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

function spansIn({ resourceSpans }: Batch): Span[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = resource.attributes.find(({ key }) => key === 'service.name')?.value.stringValue ?? '';
    return scopeSpans.flatMap(({ spans }) => spans.map((span) => ({ ...span, service })));
  });
}
