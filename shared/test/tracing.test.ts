import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { trace } from '@opentelemetry/api';
import { InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace';
import { Type } from 'typebox';
import { loadConfig } from '../src/service/load-config.ts';
import { createLogger } from '../src/service/logger.ts';
import { tracerProvider } from '../src/tracing/export-spans.ts';
import { readHeaders, tracingProperties } from '../src/tracing/settings.ts';
import { beginTrace, carried, inSpan, inTrace, recordSpan } from '../src/tracing/spans.ts';
import { startTracing } from '../src/tracing/start-tracing.ts';
import { readTraceparent } from '../src/tracing/traceparent.ts';

const [TRACE, SPAN] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'];
const PARENT = `00-${TRACE}-${SPAN}-01`;

describe('a traceparent header', () => {
  it('is accepted as W3C Trace Context defines it, without flags that we do not know, and in later versions', () => {
    assert.equal(readTraceparent(PARENT), PARENT);
    assert.equal(readTraceparent(`00-${TRACE}-${SPAN}-00`), `00-${TRACE}-${SPAN}-00`);
    assert.equal(readTraceparent(`00-${TRACE}-${SPAN}-ff`), PARENT);
    assert.equal(readTraceparent(`cc-${TRACE}-${SPAN}-01-what-the-future-brings`), PARENT);
  });

  for (const [reason, header] of [
    ['is missing', undefined],
    ['is empty', ''],
    ['was sent twice', `${PARENT}, ${PARENT}`],
    ['was sent twice, as Node.js lists it', [PARENT, PARENT]],
    ['has no trace id', `00-${'0'.repeat(32)}-${SPAN}-01`],
    ['has no parent id', `00-${TRACE}-${'0'.repeat(16)}-01`],
    ['has capital letters', PARENT.toUpperCase()],
    ['has the forbidden version', `ff-${TRACE}-${SPAN}-01`],
    ['has more than its version allows', `${PARENT}-more`],
    ['is cut off', PARENT.slice(0, -1)],
    ['is no hexadecimal number', PARENT.replace('4', 'g')],
    ['holds a line break', `${PARENT}\r\nx-injected: 1`],
    ['holds markup', '<script>alert(1)</script>'],
    ['is very long', `cc-${TRACE}-${SPAN}-01-${'x'.repeat(10_000)}`],
  ] as const)
    it(`is ignored if it ${reason}`, () => {
      assert.equal(readTraceparent(header as string | string[] | undefined), null);
    });
});

describe('tracing that is off', () => {
  it('is the default: nothing is to be stopped, and no span has a context', async () => {
    const config = loadConfig(Type.Object(tracingProperties), {});
    const { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS, OTEL_TRACES_SAMPLER_ARG } = config;
    const settings = { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_HEADERS, OTEL_TRACES_SAMPLER_ARG };
    assert.deepEqual(await startTracing({ name: 'a test' }, settings, createLogger('a test', 'silent')), []);
    assert.equal(beginTrace('scan created', {}), null);
    assert.equal(await inSpan('work', null, {}, async ({ traceparent }) => traceparent), null);
    assert.deepEqual(carried(null), {});
  });

  it("hands on a client's context unchanged", async () => {
    assert.equal(await inTrace('request', PARENT, {}, async ({ traceparent }) => traceparent), PARENT);
    assert.equal(await inTrace('request', null, {}, async ({ traceparent }) => traceparent), null);
  });
});

describe('tracing that is on', () => {
  /** What is recorded while `work` runs, when this share of the traces is. */
  const recorded = async (ratio: number, work: () => Promise<unknown>) => {
    const exporter = new InMemorySpanExporter();
    const provider = tracerProvider({ name: 'a test' }, ratio, new SimpleSpanProcessor({ exporter }));
    trace.setGlobalTracerProvider(provider);
    try {
      await work();
      await provider.forceFlush();
      return exporter.getFinishedSpans();
    } finally {
      trace.disable();
    }
  };

  it('records spans below the one of the client, each with its own parent', async () => {
    const spans = await recorded(1, () =>
      inTrace('request', PARENT, {}, (request) =>
        inSpan('work', request.traceparent, { attributes: { 'adsweep.scan.id': 'one' } }, async () => {
          const [from, to] = [new Date(1_000), new Date(3_000)];
          recordSpan('queue wait', request.traceparent, { from, to });
        }),
      ),
    );
    const [wait, work, request] = spans;
    assert.deepEqual(
      spans.map(({ name }) => name),
      ['queue wait', 'work', 'request'],
    );
    assert.ok(spans.every((span) => span.spanContext().traceId === TRACE));
    assert.equal(request?.parentSpanContext?.spanId, SPAN);
    assert.equal(work?.parentSpanContext?.spanId, request?.spanContext().spanId);
    assert.equal(wait?.parentSpanContext?.spanId, request?.spanContext().spanId);
    assert.deepEqual([wait?.startTime[0], wait?.endTime[0]], [1, 3]);
  });

  it('records of an error its name and never its message, and throws it', async () => {
    const failing = async () => {
      throw new TypeError('https://user:secret@site.example/');
    };
    const spans = await recorded(1, () => assert.rejects(inTrace('work', null, {}, failing), TypeError));
    assert.equal(spans[0]?.attributes['error.type'], 'TypeError');
    assert.doesNotMatch(JSON.stringify([spans[0]?.status, spans[0]?.attributes, spans[0]?.events]), /secret/);
  });

  it('records a share of the traces, the same ones in every service, and none that a client has excluded', async () => {
    const work = (parent: string) => inTrace('request', parent, {}, async ({ traceparent }) => traceparent);
    assert.deepEqual(await recorded(0, () => work(PARENT)), []);
    assert.deepEqual(await recorded(1, () => work(`00-${TRACE}-${SPAN}-00`)), []);
    const parents = Array.from({ length: 200 }, (_, index) => {
      const id = ((index + 1) * 21_000_000).toString(16).padStart(8, '0').padEnd(32, '0');
      return `00-${id}-${SPAN}-01`;
    });
    const all = () => Promise.all(parents.map(work));
    const namesOf = (spans: Awaited<ReturnType<typeof recorded>>) =>
      spans.map((span) => span.spanContext().traceId).toSorted();
    const [first, second] = [namesOf(await recorded(0.5, all)), namesOf(await recorded(0.5, all))];
    assert.deepEqual(first, second);
    assert.ok(first.length > 0 && first.length < parents.length, `${first.length}`);
  });
});

describe('the headers for a collector', () => {
  it('are names and percent-encoded values, and what is no header is refused', () => {
    assert.deepEqual(readHeaders('authorization=Bearer%20a%3Db, X-Team = ads'), {
      authorization: 'Bearer a=b',
      'x-team': 'ads',
    });
    assert.deepEqual(readHeaders(''), {});
    for (const text of ['no value', 'a b=c', '=c', 'a=%0d%0ax: y', 'a=%E0%A4%A'])
      assert.equal(readHeaders(text), null, text);
  });
});
