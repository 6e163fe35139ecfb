/**
 * What this machine lacks and what to do about it: decisions only, nothing here looks at or changes the machine.
 * All of infra/bootstrap runs on Node.js >= 18 without a dependency, for it is what brings everything else.
 *
 * @typedef {'start' | 'test' | 'check' | 'bench' | 'spec-coverage'} Verb
 * @typedef {'chromium' | 'redis' | 'ffmpeg'} PartName
 * @typedef {'debian' | 'ubuntu' | 'other'} Distribution
 * @typedef {{ platform: string, arch: string, nodeVersion: string, distribution: Distribution, isRoot: boolean,
 *   env: Record<string, string | undefined> }} Machine
 * @typedef {{ what: string, setting: string | null, settingIsPath: boolean, places: string[], names: string[],
 *   debian: string, ubuntu: string | null, brew: string, optional: boolean }} Part
 */

export const wantedNodeMajor = 24;

/** What each verb runs, and which system parts it cannot do without. @type {Record<Verb, { entry: string, parts: PartName[] }>} */
export const verbs = {
  start: { entry: 'infra/farm/start.ts', parts: ['chromium', 'redis'] },
  test: { entry: 'infra/checks/run-tests.ts', parts: ['chromium', 'redis', 'ffmpeg'] },
  check: { entry: 'infra/checks/check.ts', parts: [] },
  'spec-coverage': { entry: 'infra/checks/spec-coverage.ts', parts: [] },
  bench: { entry: 'loadtest/bench/run.ts', parts: ['chromium', 'redis'] },
};

/** The parts, in the order they are named to people. `setting` is the environment variable that stands in for one. @type {Record<PartName, Part>} */
export const parts = {
  chromium: {
    what: 'Chromium or Google Chrome (the headless shell is enough)',
    setting: 'CHROMIUM_PATH',
    settingIsPath: true,
    places: [
      '/usr/lib/chromium/chromium-headless-shell',
      '/Applications/Chromium.app/Contents/MacOS/Chromium',
      '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
    ],
    names: ['chromium-headless-shell', 'chrome-headless-shell', 'chromium', 'google-chrome', 'google-chrome-stable'],
    debian: 'chromium-headless-shell',
    // Ubuntu's own package only points at a snap, which neither a container nor a service can run.
    ubuntu: null,
    brew: '--cask google-chrome',
    optional: false,
  },
  redis: {
    what: 'Redis 7 (redis-server)',
    setting: 'REDIS_URL',
    settingIsPath: false,
    places: [],
    names: ['redis-server'],
    debian: 'redis-server',
    ubuntu: 'redis-server',
    brew: 'redis',
    optional: false,
  },
  ffmpeg: {
    what: 'ffmpeg (makes the media that video tests play)',
    setting: null,
    settingIsPath: false,
    places: [],
    names: ['ffmpeg'],
    debian: 'ffmpeg',
    ubuntu: 'ffmpeg',
    brew: 'ffmpeg',
    optional: true,
  },
};

/** `v20.1.0` -> 20. @param {string} version */
export function majorOf(version) {
  return Number.parseInt(version.replace(/^v/, ''), 10);
}

/** Reads /etc/os-release. @param {string} osRelease @returns {Distribution} */
export function distributionOf(osRelease) {
  const field = (/** @type {string} */ name) =>
    osRelease.match(new RegExp(`^${name}="?([^"\n]*)"?$`, 'm'))?.[1]?.split(' ') ?? [];
  const ids = [...field('ID'), ...field('ID_LIKE')];
  if (ids.includes('ubuntu')) return 'ubuntu';
  return ids.includes('debian') ? 'debian' : 'other';
}

/**
 * Where a part is on this machine: its file, the setting's value, or null when it is missing.
 * A setting that names a file which cannot be run is an error: silently using another browser would be a surprise.
 * @param {PartName} name @param {Machine} machine @param {(file: string) => boolean} canRun
 */
export function locatePart(name, machine, canRun) {
  const part = parts[name];
  const set = part.setting ? machine.env[part.setting] : undefined;
  if (set && part.settingIsPath && !canRun(set))
    throw new Error(`${part.setting} names ${set}, which is not a program that can be run`);
  if (set) return set;
  const folders = (machine.env.PATH ?? '').split(':').filter(Boolean);
  const candidates = [...part.places, ...part.names.flatMap((file) => folders.map((folder) => `${folder}/${file}`))];
  return candidates.find(canRun) ?? null;
}

/**
 * The Debian packages that bring what is missing, or null when this machine is not ours to install on
 * (not root, not Debian or Ubuntu, or a part that has no package here).
 * @param {PartName[]} missing @param {Machine} machine @returns {string[] | null}
 */
export function packagesToInstall(missing, machine) {
  if (!machine.isRoot) return null;
  const packages = debianPackages(missing, machine.distribution);
  return packages.length === missing.length ? packages : null;
}

/** Whether the missing parts are a reason to stop and set up: not when all can be done without and none can be brought. @param {PartName[]} missing @param {Machine} machine */
export function worthInstalling(missing, machine) {
  return (
    missing.some((name) => !parts[name].optional) ||
    (missing.length > 0 && packagesToInstall(missing, machine) !== null)
  );
}

/** @param {PartName[]} missing @param {Distribution} distribution */
function debianPackages(missing, distribution) {
  if (distribution === 'other') return [];
  return missing.map((name) => parts[name][distribution]).filter((name) => name !== null);
}

/** The lines that tell a person exactly what to type, when it cannot be done for them. @param {PartName[]} missing @param {Machine} machine */
export function whatToType(missing, machine) {
  const lines = [];
  const packages = debianPackages(missing, machine.distribution);
  const sudo = machine.isRoot ? '' : 'sudo ';
  if (packages.length > 0)
    lines.push(`  ${sudo}apt-get update && ${sudo}apt-get install -y --no-install-recommends ${packages.join(' ')}`);
  const byHand = missing.filter(
    (name) => machine.distribution === 'other' || parts[name][machine.distribution] === null,
  );
  if (machine.platform === 'darwin') lines.push(...byHand.map((name) => `  brew install ${parts[name].brew}`));
  else lines.push(...byHand.map((name) => `  install ${parts[name].what} with your system's package tool`));
  for (const name of missing) {
    const setting = parts[name].setting;
    if (setting) lines.push(`  (or set ${setting} to one that you have already)`);
  }
  return lines;
}

/**
 * The lines of a failed command's output that say why, for people: npm says it first and then goes on about its usage,
 * others say it last. @param {string} output @param {number} count
 */
export function tellingLines(output, count) {
  const lines = output.split('\n').filter((line) => line.trim() !== '' && line.trim() !== 'npm error');
  const cause = lines.findIndex((line) => line.startsWith('npm error'));
  return cause === -1 ? lines.slice(-count) : lines.slice(cause, cause + count);
}
