import type { TObject } from 'typebox';

/** What any program may know of its surroundings: programs, home, language, time, temporary folder, libraries, fonts, certificates. */
const NEUTRAL = [
  'PATH',
  'HOME',
  'LANG',
  'LC_ALL',
  'TZ',
  'TMPDIR',
  'LD_LIBRARY_PATH',
  'FONTCONFIG_FILE',
  'FONTCONFIG_PATH',
  'NODE_EXTRA_CA_CERTS',
  'NODE_OPTIONS',
];

/**
 * The whole environment of a process of the farm: what is `given` to it, the `settings` that it describes itself (a secret also as
 * `<NAME>_FILE`), and a few neutral variables; of the rest of `env` it learns nothing. What is given goes before what is in `env`, and
 * before its file.
 */
export function processEnvironment(
  settings: TObject | null,
  given: NodeJS.ProcessEnv,
  env: NodeJS.ProcessEnv = process.env,
): NodeJS.ProcessEnv {
  const own = Object.keys(settings?.properties ?? {}).filter((name) => !(name in given));
  const names = [...NEUTRAL, ...own.flatMap((name) => [name, `${name}_FILE`])];
  const known = names.filter((name) => env[name] !== undefined).map((name) => [name, env[name]]);
  return { ...Object.fromEntries(known), ...given };
}
