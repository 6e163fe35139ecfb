import type { HopKind } from '@adsweep/shared/capture/hop.ts';
import { sendOn, WAYS, type Way } from './redirects.ts';
import type { Site } from './reply.ts';

/** One step: `by` is the way that led here from the step before, `kind` what a capture should call it. */
export type ChainStep = { url: string; by: Way | null; kind: HopKind };

const step = (url: string, by: Way): ChainStep => ({ url, by, kind: WAYS[by] });

/** The longest redirect of the ad world: every HTTP status that redirects, and every way a document does, over four hosts. */
export const LONGEST_CHAIN: readonly ChainStep[] = [
  { url: 'http://go.redirects.example/start', by: null, kind: 'initial' },
  step('http://ads.adserver.example/click?ad=lamp-300', '301'),
  step('http://track.tracker.example/c/8f21', '302'),
  step('http://go.redirects.example/session', '303'),
  step('http://track.tracker.example/match', '307'),
  step('http://go.redirects.example/geo', '308'),
  step('http://ads.adserver.example/wait', 'meta_refresh'),
  step('http://go.redirects.example/check', 'refresh_header'),
  step('http://track.tracker.example/hello', 'script'),
  step('http://go.redirects.example/visitor', 'form_post'),
  step('http://quiet.shop.example/', 'timer'),
];

/** The paths of `host` that the chain passes through, each sending the browser on to the next step. */
export function chainSteps(host: string): Site {
  const pairs = LONGEST_CHAIN.slice(0, -1).map((from, index) => [from, LONGEST_CHAIN[index + 1]!] as const);
  const own = pairs.filter(([from]) => new URL(from.url).host === host);
  return Object.fromEntries(own.map(([from, to]) => [new URL(from.url).pathname, sendOn(to.by!, to.url)]));
}
