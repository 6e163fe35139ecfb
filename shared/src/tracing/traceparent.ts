import { isSpanContextValid, type SpanContext, TraceFlags } from '@opentelemetry/api';

/**
 * Version, trace id, parent id and flags; a later version may append fields after another dash (W3C Trace Context,
 * 3.2).
 */
const FORM = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** Longer headers are not looked at: those of version 00 have 55 characters. */
const LENGTH_MAX = 200;

/**
 * The context in a `traceparent` header of a request, in the form of version 00 with no flag but `sampled`; null if
 * there is none or it is invalid, and then the trace begins anew (W3C Trace Context, 4.2).
 */
export function readTraceparent(header: string | string[] | undefined): string | null {
  if (typeof header !== 'string' || header.length > LENGTH_MAX) return null;
  const [, version = '', traceId = '', spanId = '', flags = '', more] = FORM.exec(header) ?? [];
  if (version === 'ff' || (version === '00' && more !== undefined)) return null;
  return traceparentOf({ traceId, spanId, traceFlags: Number.parseInt(flags, 16) });
}

/** A span's context as a `traceparent`; null if it has none, because nothing is traced. */
export function traceparentOf(context: SpanContext): string | null {
  if (!isSpanContextValid(context)) return null;
  const flags = context.traceFlags & TraceFlags.SAMPLED ? '01' : '00';
  return `00-${context.traceId}-${context.spanId}-${flags}`;
}

/** The context of a `traceparent` that {@link readTraceparent} or {@link traceparentOf} returned. */
export function contextOf(traceparent: string): SpanContext {
  const [, traceId = '', spanId = '', flags = ''] = traceparent.split('-');
  const traceFlags = flags === '01' ? TraceFlags.SAMPLED : TraceFlags.NONE;
  return { traceId, spanId, traceFlags, isRemote: true };
}
