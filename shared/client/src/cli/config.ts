import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

const DEFAULT_URL = 'http://127.0.0.1:8080';

/** What the command line reads from its environment, and the file of `adsweep login`. */
export type Config = {
  url: string;
  /** null: it has to be asked for. */
  key: string | null;
  /** Where `adsweep login` keeps URL and key. */
  file: string;
  /** The secret that `adsweep webhooks listen` signs with; null: a new one. */
  webhookSecret: string | null;
  color: boolean;
  showsPictures: boolean;
};

/**
 * `ADSWEEP_URL` and `ADSWEEP_API_KEY` come first, then the file. The key in the file is for the URL in it: it is never sent to another. Throws an
 * `Error` if others can read the file.
 */
export function readConfig(env: NodeJS.ProcessEnv): Config {
  const file = join(env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'adsweep', 'credentials.json');
  const saved = env.ADSWEEP_API_KEY ? null : readSaved(file);
  const url = env.ADSWEEP_URL || saved?.url || DEFAULT_URL;
  return {
    url,
    file,
    key: env.ADSWEEP_API_KEY || (saved?.url === url ? saved.key : null),
    webhookSecret: env.ADSWEEP_WEBHOOK_SECRET || null,
    color: !env.NO_COLOR,
    showsPictures: ['iTerm.app', 'WezTerm'].includes(env.TERM_PROGRAM ?? ''),
  };
}

type Saved = { url: string; key: string };

function readSaved(file: string): Saved | null {
  let mode: number;
  try {
    mode = statSync(file).mode;
  } catch {
    return null; // There is none.
  }
  if (process.platform !== 'win32' && (mode & 0o077) !== 0)
    throw new Error(`others can read ${file}, which has your key: chmod 600 ${file}`);
  try {
    const { url, key } = JSON.parse(readFileSync(file, 'utf8')) as Partial<Saved>;
    return typeof url === 'string' && typeof key === 'string' ? { url, key } : null;
  } catch {
    // Without what the parser says: it would repeat a part of the key.
    throw new Error(`cannot read ${file}: delete it, and run adsweep login`);
  }
}

/** Keeps URL and key in a file that only its owner can read. */
export function saveConfig(file: string, saved: Saved): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  // One that others can read would stay so.
  rmSync(file, { force: true });
  writeFileSync(file, `${JSON.stringify(saved)}\n`, { mode: 0o600 });
}
