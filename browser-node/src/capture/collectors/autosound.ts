import { randomBytes } from 'node:crypto';
import type { Observation } from '@adsweep/shared/capture/observation.ts';
import type { ConsoleMessage, Page } from 'playwright-core';
import { soundScript } from '../page-scripts/sound-script.ts';
import type { Collector } from './collector.ts';

type Attempt = Observation['facts'];

/** Attempts of one tab that are kept. */
const ATTEMPTS_MAX = 10;

/** Attempts to play sound without a click, as the pages' own calls tell them. */
export const autosound: Collector = {
  name: 'autosound',
  budgetMs: 1_000,
  async start(stage) {
    const token = randomBytes(8).toString('hex');
    const heard = new Map<Page, Map<string, Attempt>>();
    stage.open.context.on('console', (message) => note(heard, token, message));
    await stage.open.context.addInitScript({ content: soundScript(token) });
    return (draft) => {
      for (const { ord, page, tab } of stage.landings.all)
        for (const facts of heard.get(page)?.values() ?? [])
          draft.observations.push({ kind: 'autosound', landing: ord, url: tab.url, facts });
    };
  },
};

/** Takes a line of the page script. */
function note(heard: Map<Page, Map<string, Attempt>>, token: string, message: ConsoleMessage): void {
  if (message.type() !== 'debug') return;
  const page = message.page();
  const [mark, id, via, muted, volume, started, audio] = message.text().split('|');
  if (mark !== token || !page || !via) return;
  const attempts = heard.get(page) ?? new Map<string, Attempt>();
  heard.set(page, attempts);
  if (!id || (attempts.size >= ATTEMPTS_MAX && !attempts.has(id))) return;
  attempts.set(id, {
    via,
    muted: muted === 'true',
    volume: Number(volume),
    started: started === 'true',
    has_audio: audio === 'true',
  });
}
