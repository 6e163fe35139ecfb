import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { checkTexts } from './check-texts.ts';
import { checkDirections } from './import-directions.ts';

/** `npm run check`: types, lint and format, import directions, texts. All run at once; any breach gives exit code 1. */

const root = join(import.meta.dirname, '../..');

interface Check {
  name: string;
  /** What is wrong, ready to print; empty when nothing is. */
  run: () => Promise<string>;
}

const checks: Check[] = [
  { name: 'types', run: () => tool('tsc', ['-p', '.']) },
  {
    name: 'lint and format',
    run: () => tool('biome', ['check', '--colors=off', '--diagnostic-level=warn', '--error-on-warnings', '.']),
  },
  { name: 'import directions', run: async () => checkDirections(root).join('\n') },
  { name: 'texts', run: async () => checkTexts(root).join('\n') },
];

function tool(name: string, args: string[]): Promise<string> {
  const child = spawn(join(root, 'node_modules/.bin', name), args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve(code === 0 ? '' : output.trim() || `${name} ended with exit code ${code}`));
  });
}

async function runCheck({ name, run }: Check): Promise<boolean> {
  const started = performance.now();
  const breaches = await run();
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`${breaches ? 'FAILED' : 'ok    '}  ${name.padEnd(20)} ${seconds} s`);
  if (breaches) console.log(`\n${breaches}\n`);
  return breaches === '';
}

const results = await Promise.all(checks.map(runCheck));
if (results.includes(false)) process.exitCode = 1;
