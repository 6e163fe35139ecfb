import type { CertificateProblem } from '@adsweep/shared/capture/observations/navigation.ts';
import type { Entry } from '../session/journal-entry.ts';
import type { Collector } from './collector.ts';

/** Hosts that are reported per tab: a chain of bad certificates must not displace other observations. */
const HOSTS_MAX = 15;

/**
 * Documents, including those of frames, with a certificate that a visitor's browser would have warned of. The capture
 * ignores the warning.
 */
export const certificates: Collector = {
  name: 'certificates',
  start: (capture) => (draft) => {
    const documents = capture.journal.entries().filter(({ resourceType }) => resourceType === 'document');
    for (const { ord, tab } of capture.landings.numbered()) {
      const bad = documents.filter((entry) => entry.certificate && entry.tab === tab.session.targetId);
      const hosts = new Set<string>();
      for (const entry of bad) {
        const { host } = new URL(entry.url);
        if (hosts.add(host).size > HOSTS_MAX) break;
        const [facts, frameId] = [{ host, reason: certificateProblem(entry) }, entry.frameId || null];
        draft.observations.push({ kind: 'invalid_certificate', landing: ord, url: entry.url, facts, frameId });
      }
    }
  },
};

/** What is wrong with the certificate of a document, given that it is invalid. Pure. */
export function certificateProblem({
  url,
  certificate,
  timestampMs,
}: Pick<Entry, 'url' | 'certificate' | 'timestampMs'>): CertificateProblem {
  if (!certificate) return 'unknown';
  const { validFrom, validTo, subjectName, sanList, issuer } = certificate;
  if (validTo * 1_000 < timestampMs) return 'expired';
  if (validFrom * 1_000 > timestampMs) return 'not_yet_valid';
  const names = sanList.length > 0 ? sanList : [subjectName];
  if (!names.some((name) => covers(name.toLowerCase(), new URL(url).hostname))) return 'wrong_name';
  return issuer === subjectName ? 'self_signed' : 'untrusted_issuer';
}

/** Whether a certificate's name matches a host (RFC 9525: a wildcard is one whole label, the first). */
function covers(name: string, host: string): boolean {
  if (!name.startsWith('*.')) return name === host;
  const dot = host.indexOf('.');
  return dot > 0 && host.slice(dot) === name.slice(1);
}
