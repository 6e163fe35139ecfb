import type { EventPayload } from '@adsweep/shared/events/event-kinds.ts';
import { type EmittedEvent, emit } from '../../platform/outbox/outbox-entry.ts';
import { inService, type Tags, visibleTags } from '../../reference/tags/tag-definitions.ts';
import { eventPayload } from '../../scan/event-payload.ts';
import type { ScanRecord, ScanTag } from '../../scan/scan.ts';
import type { PublicUrls } from '../../scan/scan-links.ts';

/**
 * An analysed scan; `labels`: its own and those that the model added, `tags`: all assigned ones, which are in service.
 */
export type Analysed = {
  scan: ScanRecord;
  status: 'completed' | 'partial';
  labels: Record<string, string>;
  tags: ScanTag[];
  definitions: Tags;
};

/** What the event of a finished scan says besides what all events say. */
export type Completion = Pick<
  EventPayload<'scanning.scan.completed'>,
  'classification' | 'network' | 'network_host' | 'error'
>;

/** The events of a finished scan: its tags, if it has any that clients see, and its completion. */
export function finishEvents(urls: PublicUrls, analysed: Analysed, completion: Completion): EmittedEvent[] {
  const { scan, status, labels, tags, definitions } = analysed;
  const visible = visibleTags(definitions);
  const common = eventPayload(urls, scan, { status, labels });
  const completed = emit('scanning.scan.completed', { ...common, ...completion });
  const shown = tags.filter(({ tag_slug }) => inService(visible, tag_slug) !== null);
  const tag_slugs = [...new Set(shown.map(({ tag_slug }) => tag_slug))];
  if (tag_slugs.length === 0) return [completed];
  const payload = { ...common, tag_slugs, tags: shown.map((tag) => tagOfEvent(tag, definitions)) };
  return [emit('scanning.tags.detected', payload), completed];
}

function tagOfEvent({ tag_slug: slug, url }: ScanTag, definitions: Tags) {
  const { category, severity } = inService(definitions, slug)!;
  return { slug, category, severity, url };
}
