import type { Natives } from './natives.ts';

/**
 * Runs in every document: reports the length of the history when a tab's own document was committed, and each entry
 * that a document or frame adds to it (HTML standard, "currententrychange"). `copy`: it has the URL of the entry
 * before.
 */
export function watchHistory(
  { getter, listen }: Natives,
  report: (event: 'length' | 'push', count: number, copy: boolean) => void,
): void {
  // Chromium keeps 50 entries.
  const PUSHES_MAX = 60;
  const isTop = window.parent === window;
  if (isTop) report('length', history.length, false);
  const { navigation } = window;
  if (!navigation) return;
  const typeOf = getter<string>(NavigationCurrentEntryChangeEvent.prototype, 'navigationType');
  const fromOf = getter<NavigationHistoryEntry>(NavigationCurrentEntryChangeEvent.prototype, 'from');
  const currentOf = getter<NavigationHistoryEntry>(Navigation.prototype, 'currentEntry');
  const keyOf = getter<string>(NavigationHistoryEntry.prototype, 'url');
  const indexOf = Function.prototype.call.bind(String.prototype.indexOf);
  const slice = Function.prototype.call.bind(String.prototype.slice);
  const address = (entry: unknown): string => {
    const url = keyOf(entry) ?? '';
    const hash: number = indexOf(url, '#');
    return hash < 0 ? url : slice(url, 0, hash);
  };
  let pushes = 0;
  const changed = (event: Event) => {
    if (typeOf(event) !== 'push' || pushes >= PUSHES_MAX) return;
    pushes += 1;
    report('push', 1, isTop || address(fromOf(event)) === address(currentOf(navigation)));
  };
  listen(navigation, 'currententrychange', changed, false);
}
