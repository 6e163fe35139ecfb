import type { ScanRecord } from './scan.ts';

type Labelled = Pick<ScanRecord, 'labels' | 'extracted_labels'>;

/** The labels that a scan was sent with, without those that a model filled in. */
export function sentLabels({ labels, extracted_labels = [] }: Labelled): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).filter(([key]) => !extracted_labels.includes(key)));
}

/**
 * What changes of a scan's labels when a model has filled in `extracted`: in place of what it filled in before, and never of what was sent.
 */
export function fillIn(scan: Labelled, extracted: Record<string, string>): Partial<Labelled> {
  const sent = sentLabels(scan);
  const added = Object.entries(extracted).filter(([key]) => !Object.hasOwn(sent, key));
  if (added.length === 0 && !scan.extracted_labels) return {};
  return { labels: { ...sent, ...Object.fromEntries(added) }, extracted_labels: added.map(([key]) => key) };
}
