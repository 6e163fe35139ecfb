import { findEmulator } from '@adsweep/shared/scan/emulators.ts';
import { geoOf } from '@adsweep/shared/scan/geos.ts';
import type { AlertStatus } from '../../platform/outbox/outbox-entry.ts';
import type { Tags } from '../../reference/tags/tag-definitions.ts';
import { type PublicUrls, scanLinks } from '../../scan/scan-links.ts';
import type { AlertRecord } from '../alerts/alert.ts';
import { shownTag } from '../alerts/shown-alert.ts';
import { type AlertLine, type AlertMessage, LINES_MAX } from './alert-message.ts';
import type { DestinationRecord } from './destination.ts';
import type { MessageRecord, NoticeStore } from './notice-store.ts';

export type ComposeParts = {
  notices: Pick<NoticeStore, 'contentOf'>;
  findAlerts: (organizationId: string, ids: string[]) => Promise<AlertRecord[]>;
  /** The name of a campaign; null: it does not exist any more. */
  campaignName: (organizationId: string, campaignId: string) => Promise<string | null>;
  /** The definitions of these tags. */
  readTags: (organizationId: string, slugs: string[]) => Promise<Tags>;
  /** The picture of an alert's scan as a JPEG; null: there is none. */
  pictureOf: (organizationId: string, scanId: string) => Promise<Buffer | null>;
  urls: PublicUrls;
};

/** The message as the destination shows it; null: its alerts do not exist any more. */
export async function composeMessage(
  { notices, findAlerts, campaignName, readTags, pictureOf, urls }: ComposeParts,
  message: MessageRecord,
  destination: Pick<DestinationRecord, 'version' | 'included_label_keys'>,
): Promise<AlertMessage | null> {
  const { organization_id, campaign_id, status } = message;
  const { alertIds, count } = await notices.contentOf(message, LINES_MAX);
  const found = new Map((await findAlerts(organization_id, alertIds)).map((alert) => [alert._id, alert]));
  const alerts = alertIds.flatMap((id) => found.get(id) ?? []);
  const tags = await readTags(organization_id, [...new Set(alerts.map(({ tag_slug }) => tag_slug))]);
  const shown = alerts
    .map((alert) => ({ alert, line: lineOf(alert, status, destination, tags, urls) }))
    .sort((one, other) => rankOf(one.line) - rankOf(other.line));
  const first = shown[0]?.alert;
  if (!first) return null;
  const [name, bytes] = await Promise.all([
    campaignName(organization_id, campaign_id),
    pictureOf(organization_id, first.scan_id),
  ]);
  const { publicReport } = scanLinks(urls, { _id: first.scan_id, report_token: first.report_token });
  const picture = bytes && { bytes, url: `${publicReport}/picture.jpg` };
  return {
    id: message._id,
    campaign: name ?? 'A deleted campaign',
    status,
    count,
    note: '',
    picture,
    lines: shown.map(({ line }) => line),
  };
}

const SEVERE_FIRST = ['high', 'medium', 'low'];

/** The place of a line in its message: the most severe first, those without a severity last. */
const rankOf = ({ severity }: AlertLine): number =>
  SEVERE_FIRST.includes(severity) ? SEVERE_FIRST.indexOf(severity) : SEVERE_FIRST.length;

/**
 * The line of an alert that got a status. Messages that failed are sent after later ones: each says what has become of
 * its alerts since.
 */
function lineOf(
  alert: AlertRecord,
  status: AlertStatus,
  { version, included_label_keys }: Pick<DestinationRecord, 'version' | 'included_label_keys'>,
  tags: Tags,
  urls: PublicUrls,
): AlertLine {
  const { country_code, emulator_id, labels, scan_id, report_token, scan_url, offer_url, severity } = alert;
  const links = scanLinks(urls, { _id: scan_id, report_token });
  // People of the organization read messages, also those of a destination that the operator created.
  const shown = shownTag(alert, tags, false);
  const country = geoOf(country_code)?.name;
  return {
    tag: shown.tag_display_name,
    severity: shown.tag_slug === alert.tag_slug ? (severity ?? '') : '',
    country: country ? `${country} (${country_code})` : country_code,
    device: findEmulator(emulator_id)?.display_name ?? emulator_id,
    target: scan_url,
    landing: offer_url === scan_url ? '' : offer_url,
    labels: included_label_keys.flatMap((key) => (Object.hasOwn(labels, key) ? [[key, labels[key]!]] : [])),
    link: version === 'internal' ? links.report : links.publicReport,
    now: alert.status === status ? '' : alert.status,
  };
}
