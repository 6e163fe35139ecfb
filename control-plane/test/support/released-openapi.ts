import { join } from 'node:path';

/** The OpenAPI document of the last release. */
export const RELEASED_OPENAPI = join(import.meta.dirname, '../fixtures/released-openapi.json');
