import { CaptureWorld } from '../../../browser-node/test/support/capture-world.ts';
import { judge, readPageFile, serveFilesOfOrigin, serveResources } from '../behavior-pages.ts';
import type { Corpus, CorpusCase } from '../corpus.ts';
import { readControl } from './control-page.ts';
import { type DisguiseName, disguiseOf } from './disguises.ts';
import { ROWS } from './rows.ts';

const JUNK_FILES = 64;
/** The most that the contents of one resource may have. */
const JUNK = `/*${' '.repeat(128 * 1024 - 4)}*/`;

/**
 * The rows of a table: a page with a known outcome in a disguise, captured by a real browser and judged by all detectors. At least nine of ten
 * expected tags must be found, and no other tag.
 */
export const evasions: Corpus = { name: 'evasions', recallMin: 0.9, open };

async function open() {
  const world = await CaptureWorld.start();
  serveResources(world);
  serveScripts(world);
  return { cases: ROWS.map((row, at) => rowCase(world, row, at)), close: () => world.close() };
}

function rowCase(world: CaptureWorld, [control, name]: (typeof ROWS)[number], at: number): CorpusCase {
  const page = readControl(control);
  const { adds = [], emulator = 'windows_edge', make } = disguiseOf(name);
  const origin = `${page.scheme}://${page.host || `row-${at}.example`}`;
  const { html, further = {} } = make(page);
  serveFilesOfOrigin(world, origin);
  world.site.setPage(`${origin}/`, html);
  for (const [path, text] of Object.entries(further)) world.site.setPage(`${origin}${path}`, text);
  return {
    subject: subjectOf(name),
    name: control,
    expected: [...page.expected, ...adds],
    run: async () => judge(await world.captureAsNode(`${origin}/`, { emulator })),
  };
}

const subjectOf = (name: DisguiseName): string => name.replace(/[^a-z]+/gi, '_').toLowerCase();

function serveScripts({ site }: CaptureWorld): void {
  const skimmer = readPageFile('scripts/skimmer.js');
  const large = Buffer.concat([Buffer.from(`${JUNK}\n`), skimmer]);
  site.setText('http://scripts.example/skimmer-above-the-size-limit.js', 'text/javascript', large);
  for (let at = 0; at < JUNK_FILES; at++) site.setText(`http://junk-${at}.example/junk.js`, 'text/javascript', JUNK);
}
