import { TARGET_KINDS, type TargetKind } from '@adsweep/shared/scan/target.ts';
import type { AddressPolicy } from '@adsweep/shared/urls/address-policy.ts';
import { checkPublicUrl } from '@adsweep/shared/urls/normalise-referrer.ts';
import type { Issue } from '@adsweep/shared/validation/issue.ts';
import { type Check, isSent, issueAt } from './check.ts';

const IS_URL = /^\s*https?:/i;
/**
 * Characters of target in one response, which repeats it per country: 1 MiB for 250 countries would be a response of
 * 250 MB.
 */
const ANSWERED_LENGTH_MAX = 2_500_000;

const VAST_ELEMENT = /<(?:[\w.-]+:)?VAST[\s/>]/;

/** Exactly one of url, ad_tag and vast_tag (spec 4.2 rule 1), each of its own form (spec 2.1). */
export const checkTarget: Check = ({ scan, refused, addresses, countries }) => {
  const sent = TARGET_KINDS.filter((kind) => isSent(scan[kind]));
  const forms = sent.flatMap((kind) => formIssues(kind, scan[kind] ?? '', addresses));
  const tooMuch = sent
    .slice(1)
    .map((kind) => issueAt(kind, 'invalid_combination', `Send either ${sent[0]} or ${kind}, not both.`, scan[kind]));
  const isMissing = sent.length === 0 && !TARGET_KINDS.some((kind) => refused.has(kind));
  const missing = isMissing ? [issueAt('url', 'missing', 'Send one of url, ad_tag and vast_tag.', undefined)] : [];
  return [...missing, ...tooMuch, ...forms, ...sent.flatMap((kind) => lengthIssues(kind, scan[kind] ?? '', countries))];
};

function lengthIssues(kind: TargetKind, { length }: string, countries: string[]): Issue[] {
  if (length * countries.length <= ANSWERED_LENGTH_MAX) return [];
  const msg = `Must have at most ${Math.floor(ANSWERED_LENGTH_MAX / countries.length)} characters in so many countries.`;
  return [issueAt(kind, 'string_too_long', msg, undefined)];
}

function formIssues(kind: TargetKind, value: string, addresses: AddressPolicy): Issue[] {
  if (kind === 'url' || IS_URL.test(value)) {
    const url = checkPublicUrl(value, addresses);
    return url instanceof URL ? [] : [issueAt(kind, url.type, url.text, value)];
  }
  if (kind === 'ad_tag' && !value.includes('<'))
    return [issueAt(kind, 'ad_tag_invalid', 'Must be an http(s) URL or an HTML snippet.', value)];
  if (kind === 'vast_tag' && !VAST_ELEMENT.test(value))
    return [issueAt(kind, 'vast_tag_invalid', 'Must be an http(s) URL or a document with a <VAST> element.', value)];
  return [];
}
