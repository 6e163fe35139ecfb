import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Capture, CaptureSchema, emptyCapture } from '@adsweep/shared/capture/capture.ts';
import type { NetworkRequest } from '@adsweep/shared/capture/network-request.ts';
import { note } from '@adsweep/shared/capture/notes.ts';
import { CAPTURE_BYTES_MAX, CAPTURE_URL_LENGTH_MAX, CAPTURE_VALUES_MAX } from '@adsweep/shared/limits.ts';
import fc from 'fast-check';
import { Value } from 'typebox/value';
import { fitCapture } from '../src/capture/fit-capture.ts';

/** The parts of a VAST result whose texts a page chooses. */
const tracker = {
  ...{ ad: 0, rung: 0, part: 'linear' as const, event: 'start', offset: null, url: '', requested_url: '' },
  ...{ requested_at_ms: 1, playhead_ms: 1, status_code: 0 },
};
const companion = (click_through: string) => ({
  ...{ form: 'static' as const, width: 1, height: 1, click_through, picture: null },
});
const ad = {
  ...{ rung: 0, wrappers: [], position: 0, id: '', sequence: null, ad_system: '', title: '', advertiser: '' },
  ...{ shown: 'video' as const, duration_ms: 1, played_ms: 1, click_through: '', error_code: null, mediafile_url: '' },
  ...{ media: [], media_files: 0, verifications: [], interactive: [], is_vpaid: false },
};
const dialogBox = (text: string) => ({
  ...{ kind: 'dialog_box' as const, landing: 0, url: text.slice(0, 1_000) },
  facts: { text: text.slice(0, 500), buttons: [text.slice(0, 60)] },
});

/** Members and elements, containers included. */
const valuesIn = (value: unknown): number =>
  typeof value === 'object' && value !== null ? Object.values(value).reduce((sum, one) => sum + valuesIn(one), 1) : 1;
const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));
const url = (id: number, length: number) => `https://host-${id}.example/`.padEnd(length, 'x');
const request = (id: number, resource_type: string, length: number): NetworkRequest => ({
  id,
  url: url(id, length),
  method: 'GET',
  resource_type,
  status_code: 200,
  content_type: 'text/plain',
  body_size: 1,
  timestamp_ms: id,
  landing: 0,
  hop: 0,
  initiator: id === 0 ? null : 0,
});
const capture = (change: Partial<Capture>): Capture => ({
  ...emptyCapture({
    started_at: '2026-11-22T00:00:00.000Z',
    elapsed_ms: 1,
    browser: { name: 'chromium', version: '1' },
  }),
  ...change,
});
const landing = (ord: number, hops: number) => ({
  ord,
  opener_url: url(ord, CAPTURE_URL_LENGTH_MAX),
  final_url: url(ord, CAPTURE_URL_LENGTH_MAX),
  page_title: 'x'.repeat(1_024),
  site_name: '',
  redirect_chain: Array.from({ length: hops }, (_, id) => ({
    url: url(id, CAPTURE_URL_LENGTH_MAX),
    kind: 'http' as const,
    status_code: 302,
    content_type: '',
    body_size: 0,
    timestamp_ms: id,
    redirected_from: url(id - 1, CAPTURE_URL_LENGTH_MAX),
  })),
  screenshot: null,
  opened_at_ms: 0,
  elapsed_ms: 1,
});

describe('capture sizes', () => {
  it('the size of a capture is unchanged if it fits', () => {
    const small = capture({ requests: [request(0, 'document', 100)] });
    assert.deepEqual(fitCapture(small), small);
  });

  it('the size of a capture is reduced by leaving out the requests with the lowest priority, with a note', () => {
    const kinds = ['document', 'script', 'media', 'image'];
    const requests = Array.from({ length: 1_000 }, (_, id) => request(id, kinds[id % 4] as string, 5_000));
    const { requests: kept, notes } = fitCapture(capture({ requests }));
    const left = Map.groupBy(kept, ({ resource_type }) => resource_type);
    assert.equal(left.get('document')?.length, 250);
    assert.equal(left.get('script')?.length, 250);
    assert.equal(left.get('media'), undefined);
    assert.deepEqual(notes, [note('requests', { count: 1_000 - kept.length })]);
    const ids = new Set(kept.map(({ id }) => id));
    for (const { initiator } of kept) assert.ok(initiator === null || ids.has(initiator));
  });

  it('the size of a capture stays below the limit of the node API for any page', () => {
    const worst = capture({
      landings: Array.from({ length: 10 }, (_, ord) => landing(ord, 200)),
      requests: Array.from({ length: 5_000 }, (_, id) => request(id, 'script', CAPTURE_URL_LENGTH_MAX)),
      observations: Array.from({ length: 200 }, (_, id) => ({
        kind: 'back_button' as const,
        landing: 0,
        url: url(id, CAPTURE_URL_LENGTH_MAX),
        facts: { pushes: 1, copies: 1, popstate_listener: true, probe_url: url(id, CAPTURE_URL_LENGTH_MAX) },
      })),
      notes: Array.from({ length: 200 }, (_, id) => note('picture', { landing: id })),
    });
    const fitted = fitCapture(worst);
    assert.ok(bytesOf(fitted) < CAPTURE_BYTES_MAX, `${bytesOf(fitted)} bytes`);
    assert.deepEqual([...Value.Errors(CaptureSchema, fitted)], []);
    assert.equal(fitted.landings[9]?.redirect_chain.length, 200);
  });

  it('a capture fits whatever it holds: requests, then trackers, then observations are left out, each with a note', () => {
    const text = (length: number) =>
      fc.oneof(
        fc.constantFrom('\u0001', '€', 'x', '"').map((one) => one.repeat(length)),
        fc.string({ unit: 'binary', maxLength: 50 }),
      );
    const list = <T>(item: fc.Arbitrary<T>, counts: number[]) =>
      fc.tuple(item, fc.constantFrom(...counts)).map(([one, count]) => Array.from({ length: count }, () => one));
    const anyCapture = fc.record({
      requests: list(
        text(4_000).map((value) => ({ ...request(0, 'script', 10), url: value, content_type: value.slice(0, 200) })),
        [0, 10, 5_000],
      ),
      trackers: list(
        text(CAPTURE_URL_LENGTH_MAX).map((value) => ({ ...tracker, url: value, requested_url: value })),
        [0, 1, 500],
      ),
      observations: list(text(4_000).map(dialogBox), [0, 200]),
      hops: fc.tuple(text(600), fc.constantFrom(0, 1, 200)),
      landings: fc.constantFrom(0, 1, 10, 50),
      ads: list(
        text(8_000).map((value) => ({ ...ad, click_through: value, companions: [companion(value)] })),
        [0, 1, 10],
      ),
      companions: fc.constantFrom(0, 20),
    });
    fc.assert(
      fc.property(
        anyCapture,
        ({ requests, trackers, observations, hops: [hopUrl, hops], landings, ads, companions }) => {
          const chain = landing(0, hops).redirect_chain.map((hop) => ({
            ...hop,
            url: hopUrl,
            redirected_from: hopUrl,
          }));
          const whole = capture({
            requests: requests.map((one, id) => ({ ...one, id })),
            observations,
            landings: Array.from({ length: landings }, (_, ord) => ({
              ...landing(ord, 0),
              final_url: hopUrl,
              redirect_chain: chain,
            })),
            vast: {
              failure: null,
              rungs: [],
              ads: ads.map((one) => ({ ...one, companions: Array(companions).fill(one.companions[0]) })),
              trackers,
              trackers_left_out: 0,
            },
          });
          const fitted = fitCapture(whole);
          assert.ok(bytesOf(fitted) <= CAPTURE_BYTES_MAX - 60_000, `${bytesOf(fitted)} bytes`);
          assert.ok(valuesIn(fitted) <= CAPTURE_VALUES_MAX, `${valuesIn(fitted)} values`);
          assert.deepEqual([...Value.Errors(CaptureSchema, fitted)], []);
          const left = (kind: string) => fitted.notes.find((one) => one.kind === kind)?.count ?? 0;
          assert.equal(left('requests'), whole.requests.length - fitted.requests.length);
          assert.equal(left('observations'), whole.observations.length - fitted.observations.length);
          assert.equal(left('trackers'), trackers.length - (fitted.vast?.trackers.length ?? 0));
          assert.equal(left('trackers'), fitted.vast?.trackers_left_out);
          if (left('observations') > 0) assert.equal(fitted.vast?.trackers.length, 0);
          if (left('trackers') > 0) assert.equal(fitted.requests.length, 0);
        },
      ),
      { numRuns: 12 },
    );
  });
});
