import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { checkTexts } from './check-texts.ts';
import { billOfMaterials, knownVulnerabilities, type Outcome, undeclaredPackages } from './dependencies.ts';
import { checkDirections } from './import-directions.ts';

/**
 * `npm run check`: types, lint and format, import directions, texts, dependencies. All run at once; any breach gives exit code 1. Checks that
 * query a registry are skipped, with a message, if none answers.
 */

const root = join(import.meta.dirname, '../..');

interface Check {
  name: string;
  run: () => Promise<Outcome>;
}

const checks: Check[] = [
  { name: 'types', run: () => tool('tsc', ['-p', '.']) },
  {
    name: 'lint and format',
    run: () => tool('biome', ['check', '--colors=off', '--diagnostic-level=warn', '--error-on-warnings', '.']),
  },
  { name: 'import directions', run: async () => ({ breaches: checkDirections(root) }) },
  { name: 'texts', run: async () => ({ breaches: checkTexts(root) }) },
  { name: 'declared packages', run: async () => ({ breaches: undeclaredPackages(root) }) },
  { name: 'vulnerabilities', run: () => knownVulnerabilities(root) },
  { name: 'bill of materials', run: () => billOfMaterials(root) },
];

function tool(name: string, args: string[]): Promise<Outcome> {
  const child = spawn(join(root, 'node_modules/.bin', name), args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      resolve({ breaches: code === 0 ? [] : [output.trim() || `${name} ended with exit code ${code}`] });
    });
  });
}

async function runCheck({ name, run }: Check): Promise<boolean> {
  const started = performance.now();
  const outcome = await run();
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  if ('skipped' in outcome) {
    console.log(`skipped ${name.padEnd(20)} ${seconds} s: ${outcome.skipped}`);
    return true;
  }
  const { breaches } = outcome;
  console.log(`${breaches.length > 0 ? 'FAILED ' : 'ok     '} ${name.padEnd(20)} ${seconds} s`);
  if (breaches.length > 0) console.log(`\n${breaches.join('\n')}\n`);
  return breaches.length === 0;
}

const results = await Promise.all(checks.map(runCheck));
if (results.includes(false)) process.exitCode = 1;
