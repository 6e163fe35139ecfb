import { observationsOf } from '@adsweep/shared/capture/observations/index.ts';
import type { Evidence } from '../../evidence/evidence.ts';
import type { Detector } from '../detector.ts';
import type { Finding } from '../finding.ts';
import { oneTag } from './one-tag.ts';

/** Schemes by which phones open a store, or an app by way of it. */
const STORE_SCHEMES =
  /^(itms|itmss|itms-apps|itms-appss|itms-services|market|intent|ms-windows-store|appmarket|samsungapps):/i;
const STORE_HOSTS = new Set([
  'apps.apple.com',
  'itunes.apple.com',
  'play.google.com',
  'market.android.com',
  'appgallery.huawei.com',
  'galaxystore.samsung.com',
  'apps.microsoft.com',
]);

/** Tabs and windows that are led to an app store without a click. */
export const appStoreRedirect: Detector = { name: 'app_store_redirect', needs: [], detect };

function detect({ observations }: Pick<Evidence, 'observations'>): Finding[] {
  const redirects = observationsOf(observations, 'auto_redirect').map(({ landing, url, facts }) => ({
    landing,
    from: url,
    to: facts.to,
  }));
  const windows = observationsOf(observations, 'popups')
    .filter(({ facts }) => facts.without_gesture > 0)
    .flatMap(({ landing, url, facts }) => facts.urls.map((to) => ({ landing, from: url, to })));
  const jumps = [...redirects, ...windows].filter(({ from, to }) => isStore(to) && !isStore(from));
  return oneTag(
    'app_store_redirect',
    jumps.map(({ landing, to }) => ({ landing, text: `led to ${to}` })),
  );
}

function isStore(url: string): boolean {
  const { hostname = '', pathname = '' } = URL.parse(url) ?? {};
  return (
    STORE_SCHEMES.test(url) ||
    (STORE_HOSTS.has(hostname) && (hostname !== 'play.google.com' || pathname.startsWith('/store')))
  );
}
