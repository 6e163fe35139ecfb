import { randomBytes } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type Captured, CaptureWorld } from '../../browser-node/test/support/capture-world.ts';
import { detect } from '../../control-plane/src/analysis/detectors/detect.ts';
import { NO_EVIDENCE } from '../../control-plane/src/analysis/evidence/evidence.ts';
import type { Corpus, CorpusCase } from './corpus.ts';

const PAGES = join(import.meta.dirname, '../../browser-node/test/pages/behaviors');
/** More bytes than an ad may load. */
const HEAVY_BYTES = 5_000_000;
const MEDIA = ['sound.webm', 'film-with-sound.webm'];
/** How long the response to `answers-late` takes. */
const LATE_MS = 4_000;
/** An ad may load five of these, not six. */
const PART_BYTES = 800_000;

/**
 * The pages of `browser-node/test/pages/behaviors/<behaviour>/`, captured by a real browser and judged by all detectors. A page lists
 * its expected tags in `<meta name="expected-tags">`; a page without is a harmless look-alike. `<meta name="emulator">` names a device,
 * `<meta name="scheme">` is `https` where the page needs a secure context, `<meta name="host">` the host that serves it.
 */
export const behaviorPages: Corpus = { name: 'behaviors', open };

async function open() {
  const world = await CaptureWorld.start();
  serveResources(world);
  const files = globSync('*/*.html', { cwd: PAGES }).filter((file) => dirname(file) !== 'frames');
  return { cases: files.sort().map((file) => pageCase(world, file)), close: () => world.close() };
}

function pageCase(world: CaptureWorld, file: string): CorpusCase {
  const html = readFileSync(join(PAGES, file), 'utf8');
  const [subject, name] = [dirname(file), basename(file, '.html')];
  const scheme = metaOf(html, 'scheme') || 'http';
  const origin = `${scheme}://${metaOf(html, 'host') || `${name}.${subject}.example`}`;
  world.site.setPage(`${origin}/`, html);
  serveFilesOfOrigin(world, origin);
  const expected = metaOf(html, 'expected-tags').split(' ').filter(Boolean);
  const emulator = metaOf(html, 'emulator') || 'windows_edge';
  return {
    subject: subject.replaceAll('-', '_'),
    name,
    expected,
    run: async () => judge(await world.captureAsNode(`${origin}/`, { emulator })),
  };
}

const metaOf = (html: string, name: string): string =>
  new RegExp(`<meta name="${name}" content="([^"]*)">`).exec(html)?.[1] ?? '';

/** The bytes of a file of the pages. */
export const readPageFile = (file: string): Buffer => readFileSync(join(PAGES, file));

/** Serves what pages request from their own origin. */
export function serveFilesOfOrigin({ site }: CaptureWorld, origin: string): void {
  site.setText(`${origin}/replace-everything.js`, 'text/javascript', readPageFile('replace-everything.js'));
  for (const media of MEDIA) site.setText(`${origin}/${media}`, 'video/webm', readPageFile(`../media/${media}`));
  site.setRoute(`${origin}/answers-late`, (_, response) => {
    setTimeout(() => response.writeHead(200).end('late'), LATE_MS);
  });
  site.setRoute(`${origin}/never-answers`, () => undefined);
}

/** Serves the resources and targets of the pages. */
export function serveResources({ site }: CaptureWorld): void {
  for (const path of ['out', 'landing', 'window', 'frame', 'taken'])
    site.setPage(`http://elsewhere.example/${path}`, '<title>elsewhere</title>');
  site.setPage('http://elsewhere.example/subscribed', '<title>done</title><p>You are now subscribed to Games Club.');
  const pixel = Buffer.from('R0lGODlhAQABAAAAACwAAAAAAQABAAA=', 'base64');
  for (const picture of ['pictures.example/point.gif', 'www.facebook.com/tr', 't.paypal.com/ts'])
    site.setText(`http://${picture}`, 'image/gif', pixel);
  const banner =
    '<svg xmlns="http://www.w3.org/2000/svg" width="300" height="250"><rect width="300" height="250"/></svg>';
  for (const picture of [
    'pictures.example/banner.svg',
    'www.paypal.com/logo.svg',
    'www.netflix.com/gift.svg',
    'aadcdn.msauth.net/shared/logo.svg',
  ])
    site.setText(`http://${picture}`, 'image/svg+xml', banner);
  for (const file of globSync('scripts/*.js', { cwd: PAGES }))
    site.setText(`http://scripts.example/${basename(file)}`, 'text/javascript', readPageFile(file));
  for (const file of globSync('frames/*.html', { cwd: PAGES }))
    for (const scheme of ['http', 'https'])
      site.setPage(`${scheme}://frames.example/${basename(file, '.html')}`, readPageFile(file).toString());
  site.setPage('http://appgallery.huawei.com/app/C1', '<title>a store</title>');
  const heavy = randomBytes(HEAVY_BYTES);
  site.setText('http://pictures.example/heavy.bin', 'application/octet-stream', heavy);
  site.setText('http://pictures.example/part.bin', 'application/octet-stream', heavy.subarray(0, PART_BYTES));
  const pdf = '%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF';
  site.setText('http://files.example/report.pdf', 'application/pdf', pdf);
  site.setRoute('http://files.example/saved.pdf', (_, response) => {
    response.writeHead(200, { 'content-type': 'application/pdf', 'content-disposition': 'attachment' }).end(pdf);
  });
  site.setRoute('http://files.example/setup.exe', (_, response) => {
    const headers = { 'content-type': 'application/octet-stream', 'content-disposition': 'attachment' };
    response.writeHead(200, headers).end('not a program');
  });
}

/** The slugs of the tags that detection finds, and the failure of the capture, if any. */
export function judge(captured: Captured): string[] {
  const { landings, requests, observations } = captured.outcome.capture;
  const [documents, bodies] = [captured.documents(), captured.bodies()];
  const { findings, failed } = detect({ ...NO_EVIDENCE, landings, requests, observations, documents, bodies });
  // All test pages have our self-signed certificate.
  const found = findings.map(({ tag_slug }) => tag_slug).filter((slug) => slug !== 'invalid_certificate');
  const faults = [captured.failure ?? [], failed.map(({ name }) => `detector ${name}`)].flat();
  return [...new Set([...found, ...faults])];
}
