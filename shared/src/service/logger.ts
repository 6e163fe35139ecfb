import { type Logger, pino } from 'pino';

export type { Logger };

/** Fields that are never logged: credentials, cookies and ad tags. */
const REDACTED = [
  'authorization',
  'cookie',
  'password',
  'token',
  'api_key',
  'ad_tag',
  'vast_tag',
  '*.authorization',
  '*.cookie',
  '*.password',
  '*.token',
  '*.api_key',
  '*.ad_tag',
  '*.vast_tag',
];

/**
 * A process' logger: JSON lines on standard output, `service` on each, secrets redacted. `level` as pino's. A line is
 * written before the call returns: a crash loses none, and no write of another thread is under way while the log is
 * rotated (`rotate-log.ts`).
 */
export function createLogger(service: string, level = 'info'): Logger {
  return pino(
    {
      level,
      base: { service },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: REDACTED, censor: '[redacted]' },
      serializers: { cause: pino.stdSerializers.err },
    },
    pino.destination({ dest: 1, sync: true }),
  );
}
