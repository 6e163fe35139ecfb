import { CAPTURE_URL_LENGTH_MAX } from '@adsweep/shared/limits.ts';
import type { EventPayload } from '../devtools/devtools.ts';
import { type Entry, emptyEntry, SCRIPTS_MAX } from './journal-entry.ts';
import { clipUrl, isOfBrowser, isOfServer } from './urls.ts';

/** The event that reports a request. */
export type Sent = EventPayload<'Network.requestWillBeSent'>;

/** A request as far as its own event describes it: not its tab, nor whether it is a hop of that. Pure. */
export const describeRequest = (event: Sent): Entry => ({
  ...emptyEntry(recordedUrl(event.request), event.request.method, event.wallTime * 1_000),
  resourceType: (event.type ?? 'Other').toLowerCase(),
  frameId: event.frameId ?? '',
  fragment: fragmentOf(event),
  loaderId: event.loaderId,
  initiatorUrl: clipUrl(initiatorUrl(event.initiator)),
  initiatorScripts: initiatorScripts(event.initiator.stack),
  initiatorScriptId: event.initiator.stack?.callFrames[0]?.scriptId ?? '',
});

/** The URL of a request as it is recorded: without its fragment, unless it is that of an app, which gets it. */
export const recordedUrl = ({ url, urlFragment = '' }: Sent['request']): string =>
  clipUrl(isOfBrowser(url) ? url : url + urlFragment);

const fragmentOf = ({ type, request: { urlFragment = '' } }: Sent): string =>
  type === 'Document' && urlFragment.length <= CAPTURE_URL_LENGTH_MAX ? urlFragment : '';

function initiatorUrl({ url, stack }: Sent['initiator']): string {
  return url ?? stack?.callFrames.find((frame) => frame.url)?.url ?? '';
}

/**
 * The web addresses in a stack, including those of what scheduled it; the depth is limited, because Chromium's is not
 * by much.
 */
function initiatorScripts(stack: Sent['initiator']['stack']): string[] {
  const urls = new Set<string>();
  for (let at = stack; at && urls.size < SCRIPTS_MAX; at = at.parent)
    for (const { url } of at.callFrames) if (isOfServer(url) && urls.size < SCRIPTS_MAX) urls.add(clipUrl(url));
  return [...urls];
}
