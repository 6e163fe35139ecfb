import type { Captured } from '../capture-world.ts';
import type { Site } from '../site.ts';
import { PUBLISHER } from './creative.ts';

/**
 * The requests of a capture beside what the servers were asked: how many each has, what only one of them has, and how many of the record
 * were answered inside the browser (`mraid.js`, the publisher's host) and so reach no server.
 */
export type RequestAgreement = {
  logged: number;
  recorded: number;
  answered: number;
  onlyLogged: string[];
  onlyRecorded: string[];
};

/** Compares log and record request by request, in both directions. Browsers ask for `favicon.ico` when they like: it does not count. */
export function compareRequests(captured: Captured, site: Site): RequestAgreement {
  const logged = site.urls().filter(isCounted).map(withoutEmptyQuery);
  const all = captured.urls().filter(isCounted).map(withoutEmptyQuery);
  const recorded = all.filter((url) => !isAnswered(url));
  return {
    logged: logged.length,
    recorded: recorded.length,
    answered: all.length - recorded.length,
    onlyLogged: lacking(logged, recorded),
    onlyRecorded: lacking(recorded, logged),
  };
}

/** A form without fields asks with an empty query, which servers do not log; no fragment is ever sent. */
export const withoutEmptyQuery = (url: string): string => (url.split('#')[0] as string).replace(/\?$/, '');

const isCounted = (url: string): boolean => /^https?:/.test(url) && !url.endsWith('/favicon.ico');
const isAnswered = (url: string): boolean =>
  new URL(url).host === new URL(PUBLISHER).host || /\/mraid\.js(\?|$)/.test(url);

/** What `all` has more often than `others`. */
function lacking(all: string[], others: string[]): string[] {
  const left = [...others];
  return all.filter((url) => {
    const at = left.indexOf(url);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}
