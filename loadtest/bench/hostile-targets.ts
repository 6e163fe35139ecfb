import { HOSTILE_ADS } from './hostile-ads.ts';
import { HOSTILE_DOCUMENTS } from './hostile-documents.ts';
import { HOSTILE_PAGES } from './hostile-pages.ts';
import type { Channel, HostileTarget } from './hostile-target.ts';

/** What a body uses that only secure contexts have. */
const SECURE = /navigator\.(?:serviceWorker|locks|storage|mediaDevices|share|keyboard)|caches\.|shared: true/;

const pages = Object.entries(HOSTILE_PAGES).flatMap(([channel, bodies]) =>
  Object.entries(bodies).map(
    ([name, body]): HostileTarget => ({
      name,
      channel: channel as Channel,
      kind: 'url',
      body,
      isSecure: SECURE.test(body),
    }),
  ),
);

/** All of them. */
export const HOSTILE_TARGETS: readonly HostileTarget[] = [...pages, ...HOSTILE_ADS, ...HOSTILE_DOCUMENTS];
