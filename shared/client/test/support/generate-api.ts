import { writeFileSync } from 'node:fs';
import { runningApi } from '../../../../control-plane/test/support/running-api.ts';
import { GENERATED, generate } from './generate.ts';

/** `node shared/client/test/support/generate-api.ts`: writes the files that are generated from the OpenAPI document of today. */
const api = await runningApi();
const { body } = await api.get('/api/v1/openapi.json', { key: null });
await api.stop();
for (const [name, text] of Object.entries(await generate(body))) writeFileSync(new URL(name, GENERATED), text);
