/**
 * Decides what this machine lacks and what to do about it, as pure functions: nothing here reads or changes the machine.
 * All of infra/bootstrap runs on Node.js >= 18 without dependencies, because it installs everything else.
 *
 * @typedef {'start' | 'test' | 'check' | 'bench' | 'loadtest' | 'corpus' | 'spec-coverage' | 'adsweep' | 'test:containers'
 *   | 'move-files' | 'backup' | 'restore'} Verb
 * @typedef {'chromium' | 'redis' | 'ffmpeg'} PartName
 * @typedef {'debian' | 'ubuntu' | 'fedora' | 'arch' | 'other'} Distribution
 * @typedef {{ platform: string, arch: string, nodeVersion: string, distribution: Distribution, release: string,
 *   isRoot: boolean, env: Record<string, string | undefined> }} Machine `release`: such as "debian-12"
 * @typedef {{ what: string, setting: string | null, settingIsPath: boolean, places: string[], names: string[],
 *   debian: string, fedora: string, arch: string, brew: string, optional: boolean }} Part `debian` and so on: its package there
 */

export const wantedNodeMajor = 24;

/** The first minor version with every API that we call: `worker.cpuUsage()` was added in v24.6.0. */
export const wantedNodeMinor = 6;

/** The program that each verb runs, and the system parts that it needs. @type {Record<Verb, { entry: string, parts: PartName[] }>} */
export const verbs = {
  start: { entry: 'infra/farm/start.ts', parts: ['chromium', 'redis'] },
  test: { entry: 'infra/checks/run-tests.ts', parts: ['chromium', 'redis', 'ffmpeg'] },
  backup: { entry: 'control-plane/src/commands/backup.ts', parts: [] },
  restore: { entry: 'control-plane/src/commands/restore.ts', parts: [] },
  'move-files': { entry: 'control-plane/src/commands/move-files.ts', parts: [] },
  'test:containers': { entry: 'infra/docker/test/all.ts', parts: [] },
  check: { entry: 'infra/checks/check.ts', parts: [] },
  'spec-coverage': { entry: 'infra/checks/spec-coverage.ts', parts: [] },
  bench: { entry: 'loadtest/bench/run.ts', parts: ['chromium', 'redis'] },
  loadtest: { entry: 'loadtest/load/run.ts', parts: ['chromium', 'redis'] },
  corpus: { entry: 'loadtest/corpus/run.ts', parts: ['chromium'] },
  adsweep: { entry: 'shared/client/bin/adsweep.js', parts: [] },
};

/** The parts, in the order in which they are printed. `setting`: an environment variable that replaces the part. @type {Record<PartName, Part>} */
export const parts = {
  chromium: {
    what: 'Chromium or Google Chrome (the headless shell is enough)',
    setting: 'CHROMIUM_PATH',
    settingIsPath: true,
    places: [
      '/usr/lib/chromium/chromium-headless-shell',
      '/usr/lib64/chromium-browser/headless_shell',
      '/Applications/Chromium.app/Contents/MacOS/Chromium',
      '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
    ],
    names: ['chromium-headless-shell', 'chrome-headless-shell', 'chromium', 'google-chrome', 'google-chrome-stable'],
    debian: 'chromium-headless-shell',
    fedora: 'chromium-headless',
    arch: 'chromium',
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
    fedora: 'redis',
    // Arch has Valkey, Redis' successor, which includes a redis-server.
    arch: 'valkey',
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
    fedora: 'ffmpeg-free',
    arch: 'ffmpeg',
    brew: 'ffmpeg',
    optional: true,
  },
};

/** Whether everything runs on this Node.js, such as `v24.6.0` or a later one. @param {string} version */
export function isNodeRecentEnough(version) {
  const [major = 0, minor = 0] = version.replace(/^v/, '').split('.').map(Number);
  return major > wantedNodeMajor || (major === wantedNodeMajor && minor >= wantedNodeMinor);
}

/** @param {string} osRelease @param {string} name */
function releaseField(osRelease, name) {
  return osRelease.match(new RegExp(`^${name}="?([^"\n]*)"?$`, 'm'))?.[1] ?? '';
}

/** Reads /etc/os-release: whose packages this machine takes. @param {string} osRelease @returns {Distribution} */
export function distributionOf(osRelease) {
  const ids = `${releaseField(osRelease, 'ID')} ${releaseField(osRelease, 'ID_LIKE')}`.split(' ');
  const known = /** @type {const} */ (['ubuntu', 'debian', 'fedora', 'arch']);
  return known.find((name) => ids.includes(name)) ?? 'other';
}

/** Reads /etc/os-release: the release whose packages fit here, such as "debian-12". @param {string} osRelease */
export function releaseOf(osRelease) {
  const version = releaseField(osRelease, 'VERSION_ID') || releaseField(osRelease, 'VERSION_CODENAME');
  return (
    [releaseField(osRelease, 'ID'), version]
      .filter(Boolean)
      .join('-')
      .replace(/[^\w.-]/g, '_') || 'unknown'
  );
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
 * How a missing part gets here: `install` with apt-get as root, `unpack` into the checkout from the distribution's
 * packages, `unpack-debian` from Debian's, or `type` by the person at the terminal.
 * @typedef {'install' | 'unpack' | 'unpack-debian' | 'type'} Way
 * @param {PartName} name @param {Machine} machine @returns {Way}
 */
export function wayTo(name, { distribution, isRoot }) {
  if (distribution !== 'debian' && distribution !== 'ubuntu') return 'type';
  // Ubuntu's own package installs a snap, which neither a container nor a service can run.
  if (distribution === 'ubuntu' && name === 'chromium') return 'unpack-debian';
  return isRoot ? 'install' : 'unpack';
}

/** Whether the missing parts require a set-up: not if all are optional and none can be installed. @param {PartName[]} missing @param {Machine} machine */
export function worthInstalling(missing, machine) {
  return missing.some((name) => !parts[name].optional || wayTo(name, machine) !== 'type');
}

/** The commands that a user must type where the bootstrap cannot install a part. @param {PartName[]} missing @param {Machine} machine */
export function whatToType(missing, machine) {
  const sudo = machine.isRoot ? '' : 'sudo ';
  const packages = (/** @type {'fedora' | 'arch' | 'brew'} */ from) => missing.map((name) => parts[name][from]);
  const lines = [];
  if (machine.platform === 'darwin') lines.push(...packages('brew').map((name) => `  brew install ${name}`));
  else if (machine.distribution === 'fedora') lines.push(`  ${sudo}dnf install -y ${packages('fedora').join(' ')}`);
  else if (machine.distribution === 'arch') lines.push(`  ${sudo}pacman -S --needed ${packages('arch').join(' ')}`);
  else lines.push(...missing.map((name) => `  install ${parts[name].what} with your system's package tool`));
  const settings = missing.map((name) => parts[name].setting).filter((setting) => setting !== null);
  return [...lines, ...settings.map((setting) => `  (or set ${setting} to one that you already have)`)];
}

/**
 * The lines of a failed command's output that contain the cause: npm prints it first, before its usage; other commands print it
 * last. @param {string} output @param {number} count
 */
export function causeLines(output, count) {
  const lines = output.split('\n').filter((line) => line.trim() !== '' && line.trim() !== 'npm error');
  const cause = lines.findIndex((line) => line.startsWith('npm error'));
  return cause === -1 ? lines.slice(-count) : lines.slice(cause, cause + count);
}
