import { type Attributes, ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { contextOf, traceparentOf } from './traceparent.ts';

export { SpanKind };

/** What is known of a span when it starts. `from`: when it started, if not now. */
export type SpanDetails = { kind?: SpanKind; attributes?: Attributes; from?: Date };

/** A span that runs. `traceparent`: the context for its children; null: it is not traced. */
export type OpenSpan = {
  traceparent: string | null;
  add(attributes: Attributes): void;
  /**
   * Marks it as failed. `type`: a code or the name of an error, never a message, which may contain a URL or a secret.
   */
  fail(type: string): void;
};

/**
 * Runs `work` in a span below `parent`, the `traceparent` of another one; without a parent nothing is recorded. While
 * no process records spans, a client's context is handed on unchanged.
 */
export function inSpan<T>(
  name: string,
  parent: string | null | undefined,
  details: SpanDetails,
  work: (span: OpenSpan) => Promise<T>,
): Promise<T> {
  return parent ? run(startBelow(name, parent, details), work) : work(UNTRACED);
}

/** Runs `work` in a span below `parent`, or in the first span of a new trace. */
export function inTrace<T>(
  name: string,
  parent: string | null,
  details: SpanDetails,
  work: (span: OpenSpan) => Promise<T>,
): Promise<T> {
  return run(parent ? startBelow(name, parent, details) : startTrace(name, details), work);
}

/** Records a span below `parent` that has ended. */
export function recordSpan(
  name: string,
  parent: string | null | undefined,
  details: SpanDetails & { to: Date; failure?: string },
): void {
  if (!parent) return;
  const span = startBelow(name, parent, details);
  if (details.failure !== undefined) fail(span, details.failure);
  span.end(details.to);
}

/** Begins a trace whose first span ends at once; null if nothing is traced. */
export function beginTrace(name: string, details: SpanDetails): string | null {
  const span = startTrace(name, details);
  span.end();
  return traceparentOf(span.spanContext());
}

/** The context of a record to spread into it, nothing if it is not traced. */
export const carried = (traceparent: string | null | undefined): { traceparent?: string } =>
  traceparent ? { traceparent } : {};

const UNTRACED: OpenSpan = { traceparent: null, add: () => undefined, fail: () => undefined };

const tracer = () => trace.getTracer('adsweep');

const startTrace = (name: string, { from, ...options }: SpanDetails): Span =>
  tracer().startSpan(name, { ...options, ...(from && { startTime: from }) }, ROOT_CONTEXT);

const startBelow = (name: string, parent: string, { from, ...options }: SpanDetails): Span =>
  tracer().startSpan(
    name,
    { ...options, ...(from && { startTime: from }) },
    trace.setSpanContext(ROOT_CONTEXT, contextOf(parent)),
  );

function fail(span: Span, type: string): void {
  span.setAttribute('error.type', type);
  span.setStatus({ code: SpanStatusCode.ERROR });
}

async function run<T>(span: Span, work: (span: OpenSpan) => Promise<T>): Promise<T> {
  try {
    return await work({
      traceparent: traceparentOf(span.spanContext()),
      add: (attributes) => void span.setAttributes(attributes),
      fail: (type) => fail(span, type),
    });
  } catch (error) {
    fail(span, error instanceof Error ? error.name : 'unknown');
    throw error;
  } finally {
    span.end();
  }
}
