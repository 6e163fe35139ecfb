import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { buildReport } from '../src/scanning/reports/build-report.ts';
import { reportPage } from '../src/scanning/reports/report-page.ts';
import type { EvidenceVast } from '../src/scanning/scans/api/evidence.ts';
import { HOSTILE, sampleEvidence, sampleLanding, sampleScan, sampleTagWords } from './support/sample-scan.ts';

const ASSETS = { stylesheet: 'assets/report.css', icon: 'assets/icon.svg' };

type Wrapper = EvidenceVast['wrappers'][number];
const document = (depth: number, changes: Partial<Wrapper> = {}): Wrapper => ({
  parent: depth === 0 ? null : depth - 1,
  depth,
  outcome: 'ads',
  url: `https://ads.example/document-${depth}.xml`,
  status_code: 200,
  content_type: 'application/xml',
  bytes: 900,
  readable: true,
  vast_version: '4.2',
  ad_system: `System ${depth}`,
  at_ms: 10 * depth,
  elapsed_ms: 9,
  ...changes,
});

type Tracker = EvidenceVast['trackers'][number];
const tracker = (event: string, at: number | null, status_code: number, changes: Partial<Tracker> = {}): Tracker => ({
  ad: 0,
  wrapper: 1,
  part: 'linear',
  event,
  offset: null,
  url: `https://track.example/${event}`,
  requested_url: `https://track.example/${event}`,
  requested_at_ms: at,
  playhead_ms: at,
  status_code,
  ...changes,
});

const VAST: EvidenceVast = {
  video: null,
  wrappers: [document(0), document(1)],
  ads: [
    {
      id: 'ad',
      sequence: null,
      title: 'Lamps',
      advertiser: '',
      shown: 'video',
      duration_ms: 4_000,
      played_ms: 3_900,
      error_code: null,
      wrapper_depth: 1,
      media: [],
    },
  ],
  trackers: [
    tracker('complete', 4_000, 200),
    tracker('start', 100, 200),
    tracker('midpoint', 2_000, 404),
    tracker('pause', null, 0),
  ],
};

function render(changes: Partial<EvidenceVast> = {}): string {
  const target = { kind: 'vast_tag' as const, value: 'https://private.example/tag' };
  const evidence = {
    ...sampleEvidence([sampleLanding(0), sampleLanding(1)]),
    vast: { ...VAST, ...changes },
    artifacts: new Set(['creative.jpeg', 'companion-1.jpeg']),
  };
  return reportPage(buildReport(sampleScan({ target }), evidence, sampleTagWords), ASSETS);
}

describe('the report of a VAST tag', () => {
  it('shows a frame of the video before all else, and where its click leads side by side', () => {
    const page = render();
    const places = ['/creative-screenshot?w=800', 'id="findings"', 'id="wrappers"', 'id="trackers"', 'id="landings"'];
    const found = places.map((place) => page.indexOf(place));
    assert.ok(!found.includes(-1), String(found));
    assert.deepEqual(
      found,
      found.toSorted((one, other) => one - other),
    );
    assert.match(page, /Where it leads <span class="count">2 tabs[\s\S]*class="side-by-side"/);
    assert.match(page, /companions\/1\/screenshot/);
    assert.doesNotMatch(page, /companions\/0|private/);
  });

  it('steps down the ladder of wrappers', () => {
    assert.match(render(), /2 documents[\s\S]*depth-0[\s\S]*System 0[\s\S]*depth-1[\s\S]*System 1/);
  });

  it('sets trackers that were declared against those that fired, in their order, failed ones apart', () => {
    const page = render();
    assert.match(page, /Trackers <span class="count">3 of 4 fired/);
    assert.match(
      page,
      /class="fired"><b>start[\s\S]*class="lost"><b>midpoint[\s\S]*404[\s\S]*class="fired"><b>complete[\s\S]*1 was not due[\s\S]*class="idle"><b>pause/,
    );
  });

  it('says where nothing was played and nothing opened', () => {
    assert.doesNotMatch(render({ ads: [], trackers: [] }), /id="video"|id="trackers"/);
  });

  it('escapes all that the documents say', () => {
    const words = { event: HOSTILE.title, url: HOSTILE.url, offset: HOSTILE.detail };
    const page = render({
      wrappers: [document(0, { url: HOSTILE.longUrl, ad_system: HOSTILE.title, vast_version: HOSTILE.detail })],
      ads: [{ ...VAST.ads[0]!, title: HOSTILE.title }],
      trackers: [tracker('start', 5, 200, words), tracker('pause', null, 0, words)],
    });
    assert.doesNotMatch(page, /<script|<style|\son\w+="|<meta http-equiv/);
    assert.match(page, /&lt;script&gt;/);
  });
});
