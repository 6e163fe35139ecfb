import type { ScanRecord } from './scan.ts';

type Labelled = Pick<ScanRecord, 'labels' | 'extracted_labels'>;

/** The labels of the create request, without those that the AI model filled in. */
export function sentLabels({ labels, extracted_labels = [] }: Labelled): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).filter(([key]) => !extracted_labels.includes(key)));
}

/**
 * The changes of a scan when the AI model extracts labels: they replace the labels that it extracted before, never
 * those of the request.
 */
export function withExtractedLabels(scan: Labelled, extracted: Record<string, string>): Partial<Labelled> {
  const sent = sentLabels(scan);
  const added = Object.entries(extracted).filter(([key]) => !Object.hasOwn(sent, key));
  if (added.length === 0 && !scan.extracted_labels) return {};
  return { labels: { ...sent, ...Object.fromEntries(added) }, extracted_labels: added.map(([key]) => key) };
}
