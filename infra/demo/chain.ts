import type { HopKind } from '@adsweep/shared/capture/hop.ts';
import { sendOn, WAYS, type Way } from './redirects.ts';
import type { Site } from './reply.ts';

/** One step of a redirect: `by` is the way that led here from the step before; `kind` and `status_code` what a capture should say. */
export type ChainStep = { url: string; by: Way | null; kind: HopKind; status_code: number };

/** A chain that begins at `start` and goes on to each URL in the way named before it. */
export function chain(start: string, ...onward: [by: Way, url: string][]): readonly ChainStep[] {
  const statusBefore = (next: number) =>
    onward[next] && WAYS[onward[next][0]] === 'http' ? Number(onward[next][0]) : 200;
  const first: ChainStep = { url: start, by: null, kind: 'initial', status_code: statusBefore(0) };
  const rest = onward.map(([by, url], index) => ({ url, by, kind: WAYS[by], status_code: statusBefore(index + 1) }));
  return [first, ...rest];
}

/** The paths of `host` that these chains pass through, each sending the browser on to the next step. */
export function stepsOn(host: string, chains: (readonly ChainStep[])[]): Site {
  const pairs = chains.flatMap((steps) => steps.slice(0, -1).map((from, index) => ({ from, to: steps[index + 1]! })));
  const own = pairs.filter(({ from }) => new URL(from.url).host === host);
  return Object.fromEntries(own.map(({ from, to }) => [new URL(from.url).pathname, sendOn(to.by!, to.url)]));
}
