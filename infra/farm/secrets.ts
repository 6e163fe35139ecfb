import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newApiKey, newSecret } from '@adsweep/shared/ids.ts';
import { Type } from 'typebox';
import { Value } from 'typebox/value';

const SecretsSchema = Type.Object({
  api_key: Type.String({ minLength: 8 }),
  node_token: Type.String({ minLength: 16 }),
  lease_secret: Type.String({ minLength: 16 }),
  ticket_secret: Type.String({ minLength: 16 }),
});

/** The farm's own secrets, made at the first start and kept in `<data dir>/secrets.json`, readable by its owner alone. */
export function farmSecrets(dataDir: string) {
  const file = join(dataDir, 'secrets.json');
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    text = JSON.stringify({
      api_key: newApiKey(),
      node_token: newSecret(32),
      lease_secret: newSecret(32),
      ticket_secret: newSecret(32),
    });
    writeFileSync(`${file}.new`, text, { mode: 0o600 });
    renameSync(`${file}.new`, file);
  }
  return Value.Parse(SecretsSchema, JSON.parse(text));
}
