import type { ChooseLandings } from '../session/landings.ts';

/**
 * The landings of an ad tag or VAST tag: the tabs that the click opened, then those that opened by themselves, each in the order in which
 * they opened. The creative's own tab is none, unless it was led elsewhere. Pure.
 */
export const creativeLandings: ChooseLandings = (tabs) =>
  tabs
    .filter(({ tab }) => tab.landingHop !== null)
    .toSorted((a, b) => Number(a.tab.openedBy === 'page') - Number(b.tab.openedBy === 'page'));
