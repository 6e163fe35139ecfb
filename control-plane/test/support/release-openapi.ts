import { writeFileSync } from 'node:fs';
import { RELEASED_OPENAPI } from './released-openapi.ts';
import { runningApi } from './running-api.ts';

/** `node control-plane/test/support/release-openapi.ts`: keeps the OpenAPI document of today as that of the release. */
const api = await runningApi();
const { body } = await api.get('/api/v1/openapi.json', { key: null });
writeFileSync(RELEASED_OPENAPI, `${JSON.stringify(body, null, 1)}\n`);
await api.stop();
