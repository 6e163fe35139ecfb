import type { Natives } from './natives.ts';

/**
 * Runs in every document: cancels navigations to what a browser hands to another program (`intent:`, `tel:`, any
 * unknown scheme) and reports their URLs. chromium-headless-shell would stop parsing and painting a document for good
 * that starts one before it has loaded. The `navigate` event (HTML standard, "navigation API") is dispatched first and
 * can be cancelled for any navigation within the document's origin.
 */
export function cancelAppNavigations({ getter, listen }: Natives, report: (url: string) => void): void {
  const REPORTS_MAX = 20;
  const URL_LENGTH_MAX = 4_096;
  const { navigation } = window;
  if (!navigation) return;
  const destinationOf = getter<NavigationDestination>(NavigateEvent.prototype, 'destination');
  const urlOf = getter<string>(NavigationDestination.prototype, 'url');
  // No regular expression: one that matches changes `RegExp.lastMatch`. The schemes of parsed URLs are in small
  // letters.
  const SCHEMES = ['http:', 'https:', 'about:', 'data:', 'blob:', 'javascript:'];
  const startsWith = Function.prototype.call.bind(String.prototype.startsWith) as (
    text: string,
    start: string | undefined,
  ) => boolean;
  const isOfBrowser = (url: string): boolean => {
    for (let at = 0; at < SCHEMES.length; at++) if (startsWith(url, SCHEMES[at])) return true;
    return false;
  };
  const cancel = Function.prototype.call.bind(Event.prototype.preventDefault);
  const slice = Function.prototype.call.bind(String.prototype.slice);
  let reports = 0;
  const navigating = (event: Event) => {
    const url = urlOf(destinationOf(event));
    if (url === undefined || isOfBrowser(url)) return;
    cancel(event);
    if (reports++ < REPORTS_MAX) report(slice(url, 0, URL_LENGTH_MAX));
  };
  listen(navigation, 'navigate', navigating, true);
}
