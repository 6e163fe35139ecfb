import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type Captured, CaptureWorld } from '../../browser-node/test/support/capture-world.ts';
import type { Site } from '../../browser-node/test/support/site.ts';
import { videoOf } from '../../control-plane/src/crawling/captures/present-vast.ts';
import { corpusData } from '../../shared/test/support/corpus-data.ts';
import { type Corpus, type CorpusCase, leftOut } from './corpus.ts';

const DATA = corpusData('vast');
const SPOT = join(import.meta.dirname, '../../infra/demo/web/video.adserver.example/spot.mp4');
/** The base URL that the documents use for their own files. */
const FOLDERS = ['', 'static/', 'static/special-cases/', 'test/webdriver/content/canned_ads/'];

/** A document with the result of another parser; `video` null: it has no ad. */
type Expected = {
  file: string;
  class: string;
  ads?: { followAdditionalWrappers?: string | null }[];
  video: {
    vastVersion: string;
    adSystem: string;
    durationSeconds: number | null;
    mediaFileUrls: string[];
  } | null;
  wrapperResolution?: { depth: number | null; loop?: boolean; unresolved?: string | null; chain: string[] };
};

/**
 * VAST documents of other projects, played by a real browser: each must end as its class says, with the `video` that another parser read. Media
 * files are all the same short video.
 */
export const vastDocuments: Corpus = { name: 'vast', open };

async function open() {
  if (DATA.skip) return leftOut('vast', DATA.skip);
  const all: Expected[] = JSON.parse(readFileSync(join(DATA.path, 'expected.json'), 'utf8'));
  const world = await CaptureWorld.start();
  serve(world.site, all);
  return { cases: all.map((expected) => documentCase(world, expected, all)), close: () => world.close() };
}

function documentCase(world: CaptureWorld, expected: Expected, all: Expected[]): CorpusCase {
  return {
    subject: `vast_${expected.class.replaceAll('-', '_')}`,
    name: basename(expected.file, '.xml'),
    expected: outcomeOf(expected, all),
    run: async () => outcomeSeen(await world.captureAsNode(urlOf(expected.file), { kind: 'vast_tag' }), expected, all),
  };
}

const urlOf = (file: string, folder = ''): string =>
  `http://${(file.split('/')[1] as string).toLowerCase().replaceAll('_', '-')}.example/${folder}${basename(file)}`;

function serve(site: Site, all: Expected[]): void {
  const spot = readFileSync(SPOT);
  const media = (url: string) =>
    site.setRoute(url.replaceAll('|', '%7C'), (_, response) => {
      response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': spot.length }).end(spot);
    });
  for (const { file, video } of all) {
    const own = urlOf(file);
    const text = readFileSync(join(DATA.path, file), 'utf8').replaceAll('http://localhost:8000', new URL(own).origin);
    for (const folder of FOLDERS) site.setText(urlOf(file, folder), 'application/xml', text);
    for (const url of video?.mediaFileUrls ?? [])
      if (/^http/.test(url)) media(url.replace('http://localhost:8000', new URL(own).origin));
  }
}

/** How a document must end: without an ad, or with one whose metadata are these. */
function outcomeOf(expected: Expected, all: Expected[]): string[] {
  const end = endOf(expected, all);
  if (typeof end === 'string') return [end];
  const { video } = end;
  if (!video || isChoice(end)) return ['an ad'];
  return [
    'an ad',
    `VAST ${video.vastVersion}`,
    `by ${video.adSystem}`,
    `${Math.round((video.durationSeconds ?? 0) * 1_000)} ms`,
    'its media',
  ];
}

/** Of several ads the standard lets a player choose, so the first ad of the other parser need not be played. */
const isChoice = (expected: Expected): boolean => expected.class === 'adpod-or-buffet';

/** The document that an ad comes from, or the failure of the scan. */
function endOf(expected: Expected, all: Expected[]): Expected | string {
  const { wrapperResolution: resolution, ads = [] } = expected;
  if (expected.class === 'no-ad') return 'vast: NO_AD';
  if (expected.class === 'malformed' || expected.class === 'vmap') return 'vast: INVALID';
  if (expected.class !== 'wrapper' || !resolution) return expected;
  if (resolution.loop) return 'vast: WRAPPER_LIMIT';
  if (resolution.unresolved) return 'vast: WRAPPER_UNREACHABLE';
  if (ads[0]?.followAdditionalWrappers === 'false' && (resolution.depth ?? 0) > 1) return 'vast: NO_AD';
  const last = all.find(({ file }) => file === resolution.chain.at(-1));
  return last && last !== expected ? endOf(last, all) : expected;
}

/** The actual outcome in the same form. The media file is one of the document's, or none if it has none. */
function outcomeSeen(captured: Captured, expected: Expected, all: Expected[]): string[] {
  if (captured.failure) return [captured.failure];
  const end = endOf(expected, all);
  const seen = captured.outcome.capture.vast;
  const video = seen && videoOf(seen);
  if (!video) return [];
  if (typeof end === 'string' || !end.video || isChoice(end)) return ['an ad'];
  const names = end.video.mediaFileUrls.map((url) => basename(url.split('?')[0] as string));
  const isOwn =
    names.length === 0
      ? video.mediafile_url === ''
      : names.includes(basename(video.mediafile_url.split('?')[0] as string));
  const media = isOwn ? 'its media' : `media ${video.mediafile_url}`;
  return ['an ad', `VAST ${video.vast_version}`, `by ${video.ad_system}`, `${video.duration_ms} ms`, media];
}
