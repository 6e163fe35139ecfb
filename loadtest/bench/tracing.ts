import { trace } from '@opentelemetry/api';
import { NoopSpanProcessor } from '@opentelemetry/sdk-trace';
import { tracerProvider } from '../../shared/src/tracing/export-spans.ts';
import { inSpan, inTrace, recordSpan, SpanKind } from '../../shared/src/tracing/spans.ts';
import { medianAndRange, saveResult } from './report.ts';

/**
 * What the spans of a scan cost in CPU time: where nothing is traced, where a client's context is handed on, and where they are recorded.
 *
 *     npm run bench tracing
 */
const SCANS = 20_000;
const ROUNDS = 7;
/** A page scan takes more than this much CPU on a node alone (`npm run bench capture`), in µs. */
const SCAN_CPU_US = 1_000_000;
const PARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const PARTS = [
  'queue wait',
  'attempt',
  'POST /exits',
  'capture',
  'navigation',
  'upload',
  'analysis',
  'inspect',
  'outbox',
];
const attributes = { 'adsweep.scan.id': 'b54adc00-67f9-11d9-9669-0800200c9a66', 'adsweep.attempt': 0 };
const [from, to] = [new Date(1_000), new Date(2_000)];

const nothing = async () => undefined;

/** The spans of a scan, with no work in them. */
const scan = (parent: string | null) =>
  inTrace('POST /api/v1/scans', parent, { kind: SpanKind.SERVER, attributes }, async ({ traceparent }) => {
    for (const name of PARTS) await inSpan(name, traceparent, { attributes }, nothing);
    recordSpan('lease', traceparent, { attributes, from, to });
  });

/** CPU time of a scan's spans, in µs. */
async function cpuOf(parent: string | null): Promise<number> {
  const before = process.cpuUsage();
  for (let done = 0; done < SCANS; done += 1) await scan(parent);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / SCANS;
}

const cases = {
  'nothing is traced': { parent: null, isRecorded: false },
  "a client's context is handed on": { parent: PARENT, isRecorded: false },
  'every span is recorded (without its export)': { parent: PARENT, isRecorded: true },
};
const figures = new Map<string, number[]>(Object.keys(cases).map((name) => [name, []]));
for (let round = 0; round < ROUNDS; round += 1)
  for (const [name, { parent, isRecorded }] of Object.entries(cases)) {
    if (isRecorded) trace.setGlobalTracerProvider(tracerProvider({ name: 'bench' }, 1, new NoopSpanProcessor()));
    figures.get(name)?.push(await cpuOf(parent));
    trace.disable();
  }

const rows = [...figures].map(([name, values]) => {
  const share = (Math.max(...values) / SCAN_CPU_US) * 100;
  return `| ${name} | ${medianAndRange(values.slice(1))} | ${share.toFixed(4)} % |`;
});
saveResult('tracing', [
  '# Spans',
  `CPU time of the ${PARTS.length + 2} spans of a scan, with attributes and without work in them: ${ROUNDS - 1} rounds of ${SCANS.toLocaleString('en')} scans, the median and the range.`,
  ['| | µs a scan | of the CPU time of a scan at most |', '| --- | ---: | ---: |', ...rows].join('\n'),
]);
