import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const read = (file: string): string => readFileSync(join(import.meta.dirname, 'test-certificate', file), 'utf8');

/**
 * A self-signed certificate and its private key, as PEM texts, for the demo and tests only: the key is public. It names the hosts of the ad
 * world, `publisher.example` and `localhost`. `test-certificate/openssl.cnf` says how it was made.
 */
export const TEST_CERTIFICATE = { key: read('private-key.pem'), cert: read('certificate.pem') };
