import { Type } from 'typebox';
import { observationOf } from './observation-of.ts';

/** What is wrong with a certificate; `unknown`: Chromium refused it for another reason. */
const CERTIFICATE_PROBLEMS = [
  'expired',
  'not_yet_valid',
  'wrong_name',
  'self_signed',
  'untrusted_issuer',
  'unknown',
] as const;
export type CertificateProblem = (typeof CERTIFICATE_PROBLEMS)[number];

/** A document came with a certificate that a visitor's browser would have warned of. `host` with its port where it is not 443. */
export const InvalidCertificateObservation = observationOf('invalid_certificate', {
  host: Type.String({ maxLength: 300 }),
  reason: Type.Enum(CERTIFICATE_PROBLEMS),
});
