import { normaliseReferrer } from '@adsweep/shared/urls/normalise-referrer.ts';
import { type Check, isSent, issueAt } from './check.ts';

/** A referrer must be a public page's URL of at most 2048 characters after normalisation (spec 4.2). */
export const checkReferrer: Check = ({ scan: { referrer }, addresses }) => {
  if (!isSent(referrer)) return [];
  const normal = normaliseReferrer(referrer ?? '', addresses);
  return typeof normal === 'string' ? [] : [issueAt('referrer', normal.type, normal.text, referrer)];
};
