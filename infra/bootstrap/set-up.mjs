import { bringNode } from './bring-node.mjs';
import { withCheckoutLock } from './checkout-lock.mjs';
import { wantedNodeMajor } from './decide.mjs';
import { installPackages } from './install-packages.mjs';
import { installParts } from './install-parts.mjs';
import { say, seconds, showStep } from './show-step.mjs';

/**
 * Installs whatever `look` reports as missing. Concurrent set-ups in one checkout run one after the other, and each looks again before it
 * installs anything.
 * @template {{ node: import('./bring-node.mjs').Node24 | null, packages: boolean, missing: import('./decide.mjs').PartName[],
 *   complete: boolean }} Findings
 * @param {string} root @param {import('./decide.mjs').Machine} machine @param {() => Findings} look
 * @param {(findings: Findings, program: string) => NodeJS.ProcessEnv} environment
 */
export async function setUp(root, machine, look, environment) {
  const started = Date.now();
  const onWait = (/** @type {number} */ owner) =>
    say(`Another set-up of this checkout is running (process ${owner}); waiting for it.`);
  const work = async () => {
    const findings = look();
    if (findings.complete) return;
    say('Setting up what this machine lacks (the first time only):');
    // The step that may end in "type this yourself" comes before any long download.
    if (findings.missing.length > 0) await installParts(root, findings.missing, machine);
    const node =
      findings.node ??
      (await showStep(`Node.js ${wantedNodeMajor} from the npm registry`, () => bringNode(root, machine)));
    const env = environment(findings, node.program);
    if (!findings.packages) await showStep('npm packages', () => installPackages(root, machine, node, env));
    say(`Ready after ${seconds(started)}.\n`);
  };
  await withCheckoutLock(`${root}/.tools/bootstrap.lock`, work, { onWait });
}
