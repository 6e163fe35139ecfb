import { CREATIVE_HTML } from '@adsweep/shared/capture/artifacts.ts';
import { type Captured, CaptureWorld } from '../../browser-node/test/support/capture-world.ts';
import { type Creative, PUBLISHER } from '../../browser-node/test/support/creatives/creative.ts';
import { capturedFacts, expectedFacts } from '../../browser-node/test/support/creatives/creative-facts.ts';
import { CREATIVE_GROUPS } from '../../browser-node/test/support/creatives/creative-groups.ts';
import { compareRequests, type RequestAgreement } from '../../browser-node/test/support/creatives/request-agreement.ts';
import { serveCreative } from '../../browser-node/test/support/creatives/serve-creative.ts';
import { Site } from '../../browser-node/test/support/site.ts';
import { detect } from '../../control-plane/src/analysis/detectors/detect.ts';
import { NO_EVIDENCE } from '../../control-plane/src/analysis/evidence/evidence.ts';
import { evidenceOf } from '../../control-plane/src/crawling/captures/present-evidence.ts';
import type { Corpus, CorpusCase } from './corpus.ts';

/**
 * The creatives of `browser-node/test/support/creatives`, each captured by a real browser in an ad world of its own: what is rendered, captured
 * in a screenshot and opened, its chain, the system tags about it, and the requests of the record beside those of the servers' log.
 */
export const creatives: Corpus = { name: 'creatives', open };

async function open() {
  const world = await CaptureWorld.start();
  const rows = new Map<string, CreativeRow>();
  const cases = CREATIVE_GROUPS.flatMap(({ name, creatives: own }) =>
    own.map((creative) => creativeCase(world, name, creative, (row) => rows.set(creative.kind, row))),
  );
  return { cases, describeLast: () => creativeTable([...rows.values()]), close: () => world.close() };
}

function creativeCase(
  world: CaptureWorld,
  group: string,
  creative: Creative,
  report: (row: CreativeRow) => void,
): CorpusCase {
  const expected = [...expectedFacts(creative), ...expectedTags(creative), chainRoot(creative)];
  const run = async () => {
    const site = await Site.start();
    try {
      serveCreative(site, creative);
      const { kind, tag, emulator } = creative;
      const options = { kind: 'ad_tag' as const, referrer: PUBLISHER, site, ...(emulator && { emulator }) };
      const captured = await world.captureAsNode(tag, options);
      const found = [...capturedFacts(captured, site, creative), ...tagsOf(captured), rootOf(captured)];
      report({ group, kind, expected, found, requests: compareRequests(captured, site) });
      return found;
    } finally {
      await site.close();
    }
  };
  return { subject: `creatives_${group}`, name: creative.kind, expected, run };
}

/** The tags about the creative itself. */
function expectedTags({ size, inert, tags = [] }: Creative): string[] {
  return [
    ...tags.map((slug) => `tag ${slug}`),
    ...(inert ? ['tag creative_interactive'] : []),
    ...(size ? [] : ['tag creative_empty']),
  ];
}

function tagsOf(captured: Captured): string[] {
  const { landings, requests, observations, creative = null } = captured.outcome.capture;
  const [documents, bodies] = [captured.documents(), captured.bodies()];
  const creativeHtml = Buffer.from(captured.file(CREATIVE_HTML)?.bytes ?? '').toString();
  const evidence = { ...NO_EVIDENCE, landings, requests, observations, creative, creativeHtml, documents, bodies };
  const { findings, failed } = detect(evidence);
  const slugs = findings.map(({ tag_slug }) => `tag ${tag_slug}`);
  return [...new Set([...slugs, ...failed.map(({ name }) => `detector ${name} failed`)])];
}

/** Where `creative_redirect_chain` ends: at the document that shows the creative; empty if nothing was requested. */
function chainRoot({ document = PUBLISHER, asksNothing }: Creative): string {
  return asksNothing ? 'chain empty' : `chain rooted at ${document}`;
}

function rootOf(captured: Captured): string {
  const { creative } = evidenceOf({ capture: captured.outcome.capture, artifacts: [] });
  const root = creative?.redirect_chain.at(-1);
  const requested = captured.requests.filter(({ surface }) => surface === 'creative').length;
  if (!root) return requested === 0 ? 'chain empty' : 'chain missing';
  return `chain rooted at ${root.url}`;
}

/** The expected and the found facts of one capture of a creative, and its requests compared with the servers' log. */
export type CreativeRow = {
  group: string;
  kind: string;
  expected: string[];
  found: string[];
  requests: RequestAgreement;
};

const HEADER = [
  'group',
  'creative',
  'expected',
  'captured',
  'requests in the log',
  'in the record',
  'in one alone',
  'answered in the browser',
];

/** A table with a row for each creative. Pure. */
function creativeTable(rows: CreativeRow[]): string {
  const lines = [HEADER, HEADER.map(() => '---'), ...rows.map(cells)].map((line) => `| ${line.join(' | ')} |`);
  return [`## What was captured of ${rows.length} creatives, by the last run`, lines.join('\n')].join('\n\n');
}

function cells({ group, kind, expected, found, requests }: CreativeRow): string[] {
  const { logged, recorded, answered, onlyLogged, onlyRecorded } = requests;
  const alone = [...onlyLogged, ...onlyRecorded];
  return [
    group,
    kind,
    listed(expected),
    isSame(expected, found) ? 'the same' : listed(found),
    `${logged}`,
    `${recorded}`,
    alone.length > 0 ? listed(alone) : '0',
    `${answered}`,
  ];
}

const isSame = (a: string[], b: string[]): boolean => [...a].sort().join('\n') === [...b].sort().join('\n');
const listed = (facts: string[]): string => facts.map((fact) => fact.replaceAll('|', '\\|')).join('; ');
