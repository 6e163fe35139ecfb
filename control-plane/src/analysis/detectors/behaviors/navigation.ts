import { type ObservationOf, observationsOf } from '@adsweep/shared/capture/observations/index.ts';
import { registrableDomain, sameSite } from '@adsweep/shared/urls/registrable-domain.ts';
import { type Detector, oneTag, type Sign } from '../detector.ts';

type Departure = ObservationOf<'auto_redirect'>;

/**
 * A page that navigates sooner than this after it had loaded, or was taken for loaded, is a step of a redirect chain.
 */
const STAYED_MS = 1_000;

/** Pages for visitors to read that leave their site without a click, and creatives that navigate the page or try to. */
export const autoRedirect: Detector = {
  name: 'auto_redirect',
  needs: [],
  detect({ observations }) {
    const departures = observationsOf(observations, 'auto_redirect');
    return oneTag(
      'auto_redirect',
      departures.flatMap((departure) => describeDeparture(departure, departures)),
    );
  },
};

function describeDeparture(departure: Departure, all: Departure[]): Sign[] {
  const { landing, url, facts } = departure;
  const { to, refused } = facts;
  if (refused) return [{ landing, text: 'a frame tried to navigate the page' }];
  const leavesSite = /^https?:/.test(to) && registrableDomain(to) !== '' && !sameSite(to, url);
  if (!leavesSite) return [];
  const { after_load_ms } = startOf(departure, all).facts;
  // A navigation of the page around a creative is listed with the creative only if the creative caused it, however
  // soon.
  const isStep = landing !== null && after_load_ms <= STAYED_MS;
  return isStep ? [] : [{ landing, text: `left for ${to} by itself, shown for at least ${after_load_ms} ms` }];
}

/**
 * The departure of the page that visitors could read: it may go through another URL of its site, which redirects at
 * once.
 */
function startOf(departure: Departure, all: Departure[]): Departure {
  const { landing, url, facts } = departure;
  if (facts.after_load_ms > STAYED_MS) return departure;
  const earlier = all.slice(0, all.indexOf(departure));
  const before = earlier.findLast(
    (one) => one.landing === landing && !one.facts.refused && isSamePage(one.facts.to, url) && sameSite(one.url, url),
  );
  return before ? startOf(before, earlier) : departure;
}

const isSamePage = (a: string, b: string): boolean => withoutFragment(a) === withoutFragment(b);
const withoutFragment = (url: string): string => url.split('#', 1)[0] ?? '';

/** Schemes by which phones open a store, or an app through a store. */
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

/** Tabs and windows that navigate to an app store without a click. */
export const appStoreRedirect: Detector = {
  name: 'app_store_redirect',
  needs: [],
  detect({ observations }) {
    const redirects = observationsOf(observations, 'auto_redirect').map(({ landing, url, facts }) => {
      return { landing, from: url, to: facts.to };
    });
    const windows = observationsOf(observations, 'popups')
      .filter(({ facts }) => facts.without_gesture > 0)
      .flatMap(({ landing, url, facts }) => facts.urls.map((to) => ({ landing, from: url, to })));
    const toStores = [...redirects, ...windows].filter(({ from, to }) => isStore(to) && !isStore(from));
    return oneTag(
      'app_store_redirect',
      toStores.map(({ landing, to }) => ({ landing, text: `navigated to ${to}` })),
    );
  },
};

function isStore(url: string): boolean {
  const { hostname = '', pathname = '' } = URL.parse(url) ?? {};
  return (
    STORE_SCHEMES.test(url) ||
    (STORE_HOSTS.has(hostname) && (hostname !== 'play.google.com' || pathname.startsWith('/store')))
  );
}

/** Pages, frames and creatives that start a download without a click. */
export const autoDownload: Detector = {
  name: 'auto_download',
  needs: [],
  detect({ observations }) {
    const files = observationsOf(observations, 'auto_download');
    return oneTag(
      'auto_download',
      files.map(({ landing, facts }) => ({ landing, text: `${facts.file_name} from ${facts.file_url}` })),
    );
  },
};

/**
 * With so many history entries for itself and a listener for Back, a page is a trap even if the probe did not leave it.
 */
export const COPIES_OF_A_TRAP = 3;

/** Landings that fill the history with copies of themselves and intercept Back to show another offer (spec 2.5). */
export const backButton: Detector = {
  name: 'back_button',
  needs: [],
  detect({ observations }) {
    return oneTag('back_button', observationsOf(observations, 'back_button').flatMap(describeTrap));
  },
};

/**
 * Single-page applications push entries and listen for Back too, but their Back does not go to another site, and they
 * do not push the same URL again and again.
 */
function describeTrap({ landing, url, facts }: ObservationOf<'back_button'>): Sign[] {
  const { copies, probe_url: offer } = facts;
  const pushes = Math.max(facts.pushes, copies);
  const leavesPage = offer !== '' && withoutFragment(offer) !== withoutFragment(url);
  const leavesSite = leavesPage && !sameSite(offer, url);

  if ((copies > 0 && leavesPage) || (pushes > 0 && leavesSite))
    return [{ landing, text: `Back leads to ${offer}, past ${pushes} entries the page added` }];
  if (copies >= COPIES_OF_A_TRAP && facts.popstate_listener)
    return [{ landing, text: `${copies} copies of the page in the history, and Back is intercepted` }];
  return [];
}
