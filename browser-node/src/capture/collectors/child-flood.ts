import { rootOf, type TargetSession } from '../devtools/devtools.ts';
import type { Collector } from './collector.ts';

/** A tab that started frames and workers without end; the first one where it is not known which did. */
export const childFlood: Collector = {
  name: 'child_flood',
  budgetMs: 1_000,
  start({ devtools, landings }) {
    let by: TargetSession | null = null;
    let childrenMax = 0;
    devtools.onFlooded((target, max) => {
      by = target && rootOf(target);
      childrenMax = max;
    });
    return (draft) => {
      if (!devtools.isFlooded) return;
      const tabs = landings.placed();
      const flooding = tabs.find(({ tab }) => tab.session === by) ?? tabs[0];
      if (!flooding) return;
      const { ord, tab } = flooding;
      const facts = { children_max: childrenMax };
      draft.observations.push({ kind: 'child_flood', landing: ord, url: tab.url, facts });
    };
  },
};
