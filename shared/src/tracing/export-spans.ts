import { hostname } from 'node:os';
import { DiagLogLevel, diag, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  type SpanProcessor,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import ownPackage from '../../package.json' with { type: 'json' };
import type { Logger } from '../service/logger.ts';
import { withDeadline } from '../service/with-deadline.ts';
import { readHeaders, type TracedService, type TracingConfig } from './settings.ts';

/** Attributes and names are ours and short; this bounds what a mistake could send. */
const VALUE_LENGTH_MAX = 256;
const LAST_SPANS_MS = 3_000;

/**
 * Exports the spans of this process in batches; returns a function that exports the last ones, and waits 3 s for that
 * at most.
 */
export function exportSpans(service: TracedService, config: TracingConfig, logger: Logger): () => Promise<void> {
  const exporter = new OTLPTraceExporter({
    url: `${config.OTEL_EXPORTER_OTLP_ENDPOINT}/v1/traces`,
    headers: readHeaders(config.OTEL_EXPORTER_OTLP_HEADERS) ?? {},
  });
  const warn = (message: string) => logger.warn({ problem: message.slice(0, 500) }, 'spans were not exported');
  diag.setLogger(
    { error: warn, warn, info: () => undefined, debug: () => undefined, verbose: () => undefined },
    { logLevel: DiagLogLevel.WARN },
  );
  const provider = tracerProvider(
    service,
    Number(config.OTEL_TRACES_SAMPLER_ARG),
    new BatchSpanProcessor({ exporter }),
  );
  trace.setGlobalTracerProvider(provider);
  return async () => {
    try {
      await withDeadline(provider.shutdown(), LAST_SPANS_MS, 'exporting the last spans');
    } catch (cause) {
      logger.warn({ cause }, 'the last spans were not exported');
    }
  };
}

/**
 * A provider that records a `ratio` of the traces, decided by the trace id alone wherever a trace is not marked as
 * unsampled.
 */
export function tracerProvider(service: TracedService, ratio: number, processor: SpanProcessor): TracerProvider {
  const share = new TraceIdRatioBasedSampler(ratio);
  return new TracerProvider({
    resource: resourceFromAttributes({
      'service.namespace': 'adsweep',
      'service.name': service.name,
      'service.version': ownPackage.version,
      'service.instance.id': service.instance ?? `${hostname()}-${process.pid}`,
    }),
    sampler: new ParentBasedSampler({ root: share, remoteParentSampled: share }),
    spanLimits: { attributeValueLengthLimit: VALUE_LENGTH_MAX },
    spanProcessors: [processor],
  });
}
