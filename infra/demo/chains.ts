import type { HopKind } from '@adsweep/shared/capture/hop.ts';
import { redirectBy, WAYS, type Way } from './redirects.ts';
import type { Site } from './reply.ts';

/** One step of a redirect chain. `by`: how the previous step redirects here, null for the first; `kind`, `status_code`: what a capture should record. */
export type ChainStep = { url: string; by: Way | null; kind: HopKind; status_code: number };

/** A chain from `start` through the URLs, each reached by the redirect named before it. */
function chain(start: string, ...onward: [by: Way, url: string][]): readonly ChainStep[] {
  const statusBefore = (next: number) =>
    onward[next] && WAYS[onward[next][0]] === 'http' ? Number(onward[next][0]) : 200;
  const first: ChainStep = { url: start, by: null, kind: 'initial', status_code: statusBefore(0) };
  const rest = onward.map(([by, url], index) => ({ url, by, kind: WAYS[by], status_code: statusBefore(index + 1) }));
  return [first, ...rest];
}

/** The paths of `host` on these chains, each redirecting to the next step. */
export function stepsOn(host: string, chains: (readonly ChainStep[])[]): Site {
  const pairs = chains.flatMap((steps) => steps.slice(0, -1).map((from, index) => ({ from, to: steps[index + 1]! })));
  const own = pairs.filter(({ from }) => new URL(from.url).host === host);
  return Object.fromEntries(own.map(({ from, to }) => [new URL(from.url).pathname, redirectBy(to.by!, to.url)]));
}

/** The longest redirect chain of the ad world: every HTTP redirect status and every kind of document redirect, over four hosts. */
export const LONGEST_CHAIN = chain(
  'http://go.redirects.example/start',
  ['301', 'http://ads.adserver.example/click?ad=lamp-300'],
  ['302', 'http://track.tracker.example/c/8f21'],
  ['303', 'http://go.redirects.example/session'],
  ['307', 'http://track.tracker.example/match'],
  ['308', 'http://go.redirects.example/geo'],
  ['meta_refresh', 'http://ads.adserver.example/wait'],
  ['refresh_header', 'http://go.redirects.example/check'],
  ['script', 'http://track.tracker.example/hello'],
  ['form_post', 'http://go.redirects.example/visitor'],
  ['timer', 'http://quiet.shop.example/'],
);

/** A malicious ad's chain: a few hops, two of them document redirects, to a landing that traps the Back button. */
export const PARCEL_CHAIN = chain(
  'http://go.redirects.example/parcel',
  ['302', 'http://track.tracker.example/c/parcel'],
  ['307', 'http://ads.adserver.example/click/parcel'],
  ['meta_refresh', 'http://go.redirects.example/delivery'],
  ['script', 'http://stuck.offers.example/'],
);
