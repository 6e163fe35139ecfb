import { setTimeout as pause } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { activateFrame } from '../devtools/isolated-world.ts';
import { ANSWER_MS, DOCUMENTS_LENGTH_MAX, underLoad } from '../session/budgets.ts';
import type { MemberCapture } from '../session/capture-session.ts';
import type { Landing } from '../session/landings.ts';
import { probe } from '../session/probe.ts';
import type { Collector, Draft } from './collector.ts';
import { documentsOf } from './documents.ts';

/** How long a page may take to react. */
const REACTION_MS = 500;
/** Landings that are looked at: of many, the first ones. */
const LANDINGS_MAX = 3;

/**
 * What landings show once they have user activation, which they get by any click: only those that ask for it. Documents
 * whose text changed are recorded once more.
 */
export const afterActivation: Collector = {
  name: 'after_activation',
  start(capture) {
    const asking = new Set<Page>();
    capture.reports.on('activation', (page, _, frameId) => {
      if (capture.tabs.known(page)?.tab.session.targetId === frameId) asking.add(page);
    });
    return async (draft) => {
      const isToBeUsed = ({ page, tab }: Landing) => asking.has(page) && !tab.isScriptDisabled;
      const landings = capture.landings.shown().filter(isToBeUsed).slice(0, LANDINGS_MAX);
      for (const landing of landings) await use(capture, landing, draft);
    };
  },
};

async function use(capture: MemberCapture, landing: Landing, draft: Draft): Promise<void> {
  const { session } = landing.tab;
  await probe(capture, async () => {
    await activateFrame(session, session.targetId, underLoad(capture, ANSWER_MS));
    await capture.ending.race(pause(REACTION_MS));
    const { documents } = await documentsOf(capture, landing, () => '');
    const before = draft.documents.filter((one) => one.landing === landing.ord);
    const changed = documents.filter(({ frame, text }) =>
      before.every((one) => one.frame !== frame || one.text !== text),
    );
    for (const { siteName: _, ...document } of changed) if (fits(draft, document)) draft.documents.push(document);
  });
}

type Lengths = { html: string; text: string };
const lengthOf = ({ html, text }: Lengths): number => html.length + text.length;

const fits = ({ documents }: Draft, document: Lengths): boolean =>
  documents.reduce((sum, one) => sum + lengthOf(one), lengthOf(document)) <= DOCUMENTS_LENGTH_MAX;
