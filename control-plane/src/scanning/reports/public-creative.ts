import { CREATIVE_SCREENSHOT } from '@adsweep/shared/capture/artifacts.ts';
import type { SubRequest } from '@adsweep/shared/capture/hop.ts';
import type { ScanRecord } from '../../scan/scan.ts';
import { clip, LISTED_URL_MAX, TYPE_MAX, URL_MAX } from './clip.ts';
import type { ReportCreative, ReportRequest } from './report.ts';
import type { SeenEvidence } from './seen-evidence.ts';

/** Requests of a creative that a report lists, and how deep. */
const REQUESTS_MAX = 200;
const DEPTH_MAX = 8;

/** The creative of an ad tag. The address of the page that it stands on is the client's own, and is left out. */
export function publicCreative(scan: ScanRecord, { creative, artifacts }: SeenEvidence): ReportCreative | null {
  if (!creative || scan.target.kind !== 'ad_tag') return null;
  const { width, height, page_url, redirect_chain } = creative;
  const room = { left: REQUESTS_MAX };
  const requests = redirect_chain.map((hop) => ({
    url: hop.url === page_url ? '' : clip(hop.url, URL_MAX),
    type: 'document',
    status_code: hop.status_code,
    requests: publicRequests(hop.sub_requests, room, 1),
  }));
  const all = redirect_chain.reduce((sum, { sub_requests }) => sum + countRequests(sub_requests), 0);
  return {
    width,
    height,
    picture: artifacts.has(CREATIVE_SCREENSHOT),
    interactive: scan.tags.some(({ tag_slug }) => tag_slug === 'creative_interactive'),
    requests,
    left_out: all - (REQUESTS_MAX - room.left),
  };
}

function publicRequests(all: readonly SubRequest[], room: { left: number }, depth: number): ReportRequest[] {
  if (depth > DEPTH_MAX) return [];
  return all.flatMap(({ url, resource_type: type, status_code, children }) => {
    if (room.left === 0) return [];
    room.left -= 1;
    const requests = publicRequests(children, room, depth + 1);
    return [{ url: clip(url, LISTED_URL_MAX), type: clip(type, TYPE_MAX), status_code, requests }];
  });
}

const countRequests = (all: readonly SubRequest[]): number =>
  all.reduce((sum, { children }) => sum + 1 + countRequests(children), 0);
