import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { delimiter, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findNode } from './bring-node.mjs';
import { distributionOf, parts, releaseOf, verbs, wantedNodeMajor, worthInstalling } from './decide.mjs';
import { handOver } from './hand-over.mjs';
import { packagesAreInstalled } from './install-packages.mjs';
import { findParts } from './install-parts.mjs';
import { Interrupted, SetupProblem } from './setup-problem.mjs';
import { say } from './show-step.mjs';
import { programFolders } from './unpacked-programs.mjs';

/**
 * `node infra/bootstrap/run.mjs start|test|check|bench|loadtest|corpus [arguments]`: installs what this machine lacks, then runs the verb
 * with Node.js 24. If nothing is missing, it prints nothing and costs a few milliseconds.
 */

/** @typedef {import('./decide.mjs').Verb} Verb */

const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');

/** @returns {import('./decide.mjs').Machine} */
function thisMachine() {
  const text = process.platform === 'linux' ? osRelease() : '';
  const kind = { platform: process.platform, arch: process.arch, release: releaseOf(text) };
  return {
    ...kind,
    nodeVersion: process.version,
    distribution: distributionOf(text),
    isRoot: process.getuid?.() === 0,
    // The machine's own programs take precedence over those unpacked into the checkout.
    env: { ...process.env, PATH: [process.env.PATH, ...programFolders(root, kind)].filter(Boolean).join(delimiter) },
  };
}

function osRelease() {
  try {
    return readFileSync('/etc/os-release', 'utf8');
  } catch {
    return ''; // an unknown Linux: nothing is installed automatically
  }
}

/** What is installed and what is missing, for one verb. @param {Verb} verb @param {import('./decide.mjs').Machine} machine */
function look(verb, machine) {
  const found = findParts(verbs[verb].parts, machine);
  const node = findNode(root, machine);
  const packages = packagesAreInstalled(root, machine);
  const missing = [...found].filter(([, place]) => place === null).map(([name]) => name);
  const complete = node !== null && packages && !worthInstalling(missing, machine);
  return { node, packages, found, missing, complete };
}

/** @typedef {ReturnType<typeof look>} Findings */

/** @param {import('./decide.mjs').Machine} machine @param {Findings} findings @param {string} program @returns {NodeJS.ProcessEnv} */
function environment(machine, findings, program) {
  const chromium = findings.found.get('chromium');
  return {
    ...machine.env,
    PATH: [dirname(program), machine.env.PATH].join(delimiter),
    // Processes that start later, also those of the next run, need not compile again what one has compiled.
    NODE_COMPILE_CACHE: machine.env.NODE_COMPILE_CACHE ?? `${root}/.tools/cache/compiled`,
    ...(chromium ? { CHROMIUM_PATH: chromium } : {}),
  };
}

/** @param {string | undefined} word @returns {word is Verb} */
function isVerb(word) {
  return word !== undefined && Object.hasOwn(verbs, word);
}

async function main() {
  const [verb, ...rest] = process.argv.slice(2);
  if (!isVerb(verb)) throw new SetupProblem(`say what to do: ${Object.keys(verbs).join(', ')}`);
  const machine = thisMachine();
  let findings = look(verb, machine);
  if (!findings.complete) {
    const { setUp } = await import('./set-up.mjs');
    await setUp(root, machine, () => look(verb, machine), environment.bind(null, machine));
    findings = look(verb, machine);
  }
  if (findings.node === null) throw new SetupProblem(`Node.js ${wantedNodeMajor} is still missing after the set-up`);
  for (const name of findings.missing) say(`warning: ${parts[name].what} is missing; what needs it is left out`);
  const { program } = findings.node;
  return handOver(program, [`${root}/${verbs[verb].entry}`, ...rest], environment(machine, findings, program));
}

/** @param {unknown} error */
function explain(error) {
  if (error instanceof Interrupted) {
    say('Stopped. Run the same command again to go on.');
    return 128 + constants.signals[error.signal];
  }
  if (!(error instanceof SetupProblem)) throw error;
  say(`\nAdsweep cannot go on: ${error.message}`);
  for (const line of error.lines) say(line);
  return 1;
}

process.exitCode = await main().catch(explain);
