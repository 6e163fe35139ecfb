import type { ReadCapture, ReadContents } from '../../crawling/captures/capture-record.ts';
import { attemptOf } from '../../crawling/captures/capture-record.ts';
import type { ScanRecord } from '../../scan/scan.ts';
import type { Need } from '../evidence/evidence.ts';
import type { PackedEvidence } from './evaluation/rule-job.ts';
import { isModelRule, type Rule, searchedBy } from './rule.ts';
import { needOf } from './search/texts.ts';

/** Where the evidence of a scan is, as it is stored. */
export type PackedSources = { readCapture: ReadCapture; bodies: ReadContents };

/** What these rules look at in a scan, still packed; null: its capture is gone. */
export async function packEvidence(
  { readCapture, bodies }: PackedSources,
  scan: ScanRecord,
  rules: Rule[],
): Promise<PackedEvidence | null> {
  const record = await readCapture(scan);
  if (!record) return null;
  const attempt = attemptOf(record._id);
  const needs = new Set(rules.flatMap(needsOf));
  const read = (part: 'requests' | 'documents' | 'bodies') => (needs.has(part) ? bodies.packed(attempt, part) : null);
  const { landings, creative = null } = record.capture;
  const parts = [read('requests'), read('documents'), read('bodies')];
  const markup = creative && needs.has('documents') ? bodies.packed(attempt, 'creative_html') : null;
  const [requests = null, documents = null, contents = null, creative_html = null] = await Promise.all([
    ...parts,
    markup,
  ]);
  return {
    ...{ landings, creative, creative_html },
    requests: needs.has('requests') ? record.capture.requests : [],
    ignore_first_n_domains: scan.ignore_first_n_domains,
    packed: { requests, documents, bodies: contents },
    unpackedBytesMax: bodies.unpackedBytesMax,
  };
}

function needsOf(rule: Rule): Need[] {
  if (isModelRule(rule)) return ['documents'];
  const source = searchedBy(rule);
  return source === null ? [] : needOf(source);
}
