import type { Entry } from '../network-journal.ts';
import type { Collector } from './collector.ts';

/** Documents that came with a certificate a visitor's browser would have warned of; the crawl went on regardless. */
export const certificates: Collector = {
  name: 'certificates',
  budgetMs: 1_000,
  start: (stage) => (draft) => {
    for (const { ord, tab } of stage.landings.all) {
      const bad = stage.journal.hopsOf(tab.session.targetId).filter((hop) => hop.certificate);
      const byHost = new Map(bad.map((hop) => [new URL(hop.url).host, hop]));
      for (const [host, hop] of byHost) {
        const facts = { host, reason: certificateProblem(hop) };
        draft.observations.push({ kind: 'invalid_certificate', landing: ord, url: hop.url, facts });
      }
    }
  },
};

/** What is wrong with the certificate of a document; it is known that something is. Pure. */
export function certificateProblem({
  url,
  certificate,
  timestampMs,
}: Pick<Entry, 'url' | 'certificate' | 'timestampMs'>) {
  if (!certificate) return 'unknown';
  const { validFrom, validTo, subjectName, sanList, issuer } = certificate;
  if (validTo * 1_000 < timestampMs) return 'expired';
  if (validFrom * 1_000 > timestampMs) return 'not_yet_valid';
  const names = sanList.length > 0 ? sanList : [subjectName];
  if (!names.some((name) => covers(name.toLowerCase(), new URL(url).hostname))) return 'wrong_name';
  return issuer === subjectName ? 'self_signed' : 'untrusted_issuer';
}

/** Whether a certificate's name stands for a host (RFC 9525: a wildcard is one whole label, the first). */
function covers(name: string, host: string): boolean {
  if (!name.startsWith('*.')) return name === host;
  const dot = host.indexOf('.');
  return dot > 0 && host.slice(dot) === name.slice(1);
}
