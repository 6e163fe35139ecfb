import { mraid } from '../page-scripts/mraid.ts';
import type { OwnAnswer } from './page-loads.ts';

/** Answers a request for `mraid.js`, wherever the creative asks for it: the container provides it (MRAID 3.0, 3.1). */
export const mraidAnswer: OwnAnswer = (request) => {
  const isAsked = request.resourceType() === 'script' && /\/mraid\.js$/i.test(URL.parse(request.url())?.pathname ?? '');
  if (!isAsked) return null;
  return { status: 200, contentType: 'text/javascript; charset=utf-8', headers: {}, body: `(${mraid})();` };
};
