import type { Capture } from '@adsweep/shared/capture/capture.ts';
import type { NetworkRequest } from '@adsweep/shared/capture/network-request.ts';

/**
 * The requests that are the hops of a capture themselves. A hop tells its own request, which is therefore no sub-request of its document,
 * and does not count among the stored ones (spec 8: main-frame hops plus up to 200 sub-requests).
 */
export function hopDocumentsOf({ requests, landings, creative }: Capture): ReadonlySet<NetworkRequest> {
  const chains = new Map(landings.map(({ ord, redirect_chain }) => [String(ord), redirect_chain]));
  if (creative) chains.set('creative', creative.redirect_chain);
  const ofHops = new Map<string, NetworkRequest>();
  for (const request of requests) {
    const { url, resource_type, landing, hop, surface } = request;
    if (hop === null || resource_type.toLowerCase() !== 'document') continue;
    const owner = surface === 'creative' ? surface : String(landing);
    const document = chains.get(owner)?.[hop];
    if (!document || withoutFragment(document.url) !== withoutFragment(url)) continue;
    // A frame that shows the address of its page once more is a sub-request.
    const place = `${owner}:${hop}`;
    if (!ofHops.has(place)) ofHops.set(place, request);
  }
  return new Set(ofHops.values());
}

const withoutFragment = (url: string): string => url.split('#')[0] as string;
