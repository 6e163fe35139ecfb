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
    standardOutput(),
  );
}

/** Bytes of lines that are kept while they cannot be written, as on a full disk; further lines are lost. */
const UNWRITTEN_BYTES_MAX = 4 * 1024 * 1024;

/** A line that cannot be written does not throw where it is logged: in a timer, that would end the process. */
function standardOutput() {
  const output = pino.destination({ dest: 1, sync: true, maxLength: UNWRITTEN_BYTES_MAX });
  // Only what cannot be written waits, and pino would wait for it in a loop after each `fatal`.
  output.flushSync = () => undefined;
  return output.on('error', () => undefined);
}
