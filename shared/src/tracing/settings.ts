import { Type } from 'typebox';
import { urlSetting } from '../service/settings.ts';

/** Settings of a service that can export spans; their names are those of OpenTelemetry. */
export const tracingProperties = {
  OTEL_EXPORTER_OTLP_ENDPOINT: urlSetting({
    default: '',
    pattern: '^(https?://[^?#]*[^/?#])?$',
    mustBe: 'an http or https URL that does not end in /',
    description:
      'Base URL of an OpenTelemetry collector that spans are sent to (OTLP over HTTP, JSON, `<URL>/v1/traces`). Empty: nothing is traced.',
  }),
  OTEL_EXPORTER_OTLP_HEADERS: Type.Refine(
    Type.String({
      default: '',
      secret: true,
      description: 'Headers of these requests, such as a credential: `name=value`, separated by commas.',
    }),
    (text) => readHeaders(text) !== null,
    () => 'Must be headers such as authorization=Bearer%20..., separated by commas.',
  ),
  OTEL_TRACES_SAMPLER_ARG: Type.String({
    default: '1',
    pattern: '^(0(\\.[0-9]{1,9})?|1(\\.0{1,9})?)$',
    mustBe: 'a number from 0 to 1',
    description:
      'Share of the traces that are recorded, by their ids, so that all services record the same ones. A trace that a client marked as not sampled is not recorded.',
  }),
};

/**
 * The process whose spans these are; `instance`: its name among those of the service, by default its host and process
 * id.
 */
export type TracedService = { name: string; instance?: string };

export type TracingConfig = { [Name in keyof typeof tracingProperties]: string };

/** The headers, whose values may be percent-encoded as those of W3C Baggage; null: the text is invalid. */
export function readHeaders(text: string): Record<string, string> | null {
  const headers: Record<string, string> = {};
  for (const pair of text.split(',').filter((one) => one.trim() !== '')) {
    const [, name = '', value = ''] = /^\s*([A-Za-z0-9!#$%&'*+.^_`|~-]+)\s*=\s*([\x20-\x7e]*?)\s*$/.exec(pair) ?? [];
    const decoded = decode(value);
    if (name === '' || decoded === null || !/^[\x20-\x7e]*$/.test(decoded)) return null;
    headers[name.toLowerCase()] = decoded;
  }
  return headers;
}

function decode(value: string): string | null {
  try {
    return decodeURIComponent(value);
  } catch {
    return null;
  }
}
