import type { Logger } from '../service/logger.ts';
import type { Stop } from '../service/shutdown.ts';
import type { TracedService, TracingConfig } from './settings.ts';

/**
 * Exports the spans of this process if a collector is configured; returns what to stop at the end. Without one, none of
 * OpenTelemetry's SDK is loaded.
 */
export async function startTracing(service: TracedService, config: TracingConfig, logger: Logger): Promise<Stop[]> {
  if (config.OTEL_EXPORTER_OTLP_ENDPOINT === '') return [];
  const { exportSpans } = await import('./export-spans.ts');
  return [['tracing', exportSpans(service, config, logger)]];
}
