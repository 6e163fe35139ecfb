import { readVast } from '@adsweep/shared/vast/read-vast.ts';
import { parseXml } from '@adsweep/shared/vast/xml.ts';
import type { Evidence } from '../../evidence/evidence.ts';
import type { Detector } from '../detector.ts';
import type { Finding } from '../finding.ts';
import { type Problem, reviewDocument } from './review-document.ts';

const SLUGS: Record<Problem['kind'], string> = {
  value: 'vast_invalid_value',
  missing: 'vast_missing_element',
  insecure: 'vast_insecure_url',
};
/** Problems of one kind that a finding names; it counts the others. */
const NAMED_MAX = 6;

/** Documents that do not keep to the standard: values, missing elements, addresses without encryption. */
export const vastForm: Detector<'vastDocuments'> = { name: 'vast_form', needs: ['vastDocuments'], detect };

function detect({ vast, vastDocuments }: Pick<Evidence, 'vast' | 'vastDocuments'>): Finding[] {
  return vastDocuments.flatMap(({ rung, text }) => {
    const root = parseXml(text);
    if (!root || !readVast(root)) return [];
    const problems = Map.groupBy(reviewDocument(root), ({ kind }) => kind);
    const url = vast?.rungs[rung]?.url ?? '';
    return [...problems].map(([kind, all]) => ({
      tag_slug: SLUGS[kind],
      detail: describe(kind, all),
      url: /^https?:/i.test(url) ? url : '',
      surface: 'creative' as const,
    }));
  });
}

function describe(kind: Problem['kind'], all: readonly Problem[]): string {
  const named = all.slice(0, NAMED_MAX).map(({ text }) => text);
  const more = all.length > NAMED_MAX ? `; ${all.length - NAMED_MAX} more` : '';
  const opening = kind === 'insecure' ? 'asked for by http, which https pages do not load (VAST 4.3, 2.3.3): ' : '';
  return `${opening}${named.join('; ')}${more}`;
}
