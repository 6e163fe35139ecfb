import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';

/** A span as it arrived: its service, and its times in ms. `parentId` '': it is the first of its trace. */
export type CollectedSpan = {
  service: string;
  instance: string;
  name: string;
  kind: number;
  traceId: string;
  spanId: string;
  parentId: string;
  attributes: Record<string, unknown>;
  isFailed: boolean;
  from: number;
  to: number;
};

type Sent = { key: string; value: Record<string, unknown> }[];
const ERROR = 2;

/** An OpenTelemetry collector that keeps the spans it is sent (OTLP over HTTP, JSON). */
export async function startTraceCollector() {
  const spans: CollectedSpan[] = [];
  const requests: { url: string; headers: http.IncomingHttpHeaders }[] = [];
  const server = http.createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString();
    requests.push({ url: request.url ?? '', headers: request.headers });
    for (const { resource, scopeSpans } of JSON.parse(body).resourceSpans) {
      const about = valuesOf(resource.attributes);
      const of = { service: String(about['service.name']), instance: String(about['service.instance.id']) };
      for (const { spans: sent } of scopeSpans) for (const one of sent) spans.push({ ...of, ...spanOf(one) });
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    requests,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}

// biome-ignore lint/suspicious/noExplicitAny: what another program sent
function spanOf(sent: any): Omit<CollectedSpan, 'service' | 'instance'> {
  return {
    ...{ name: sent.name, kind: sent.kind, traceId: sent.traceId, spanId: sent.spanId },
    parentId: sent.parentSpanId ?? '',
    attributes: valuesOf(sent.attributes),
    isFailed: sent.status?.code === ERROR,
    ...{
      from: Number(BigInt(sent.startTimeUnixNano) / 1_000_000n),
      to: Number(BigInt(sent.endTimeUnixNano) / 1_000_000n),
    },
  };
}

const valuesOf = (attributes: Sent): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
