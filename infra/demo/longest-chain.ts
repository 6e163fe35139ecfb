import { chain } from './chain.ts';

/** The longest redirect of the ad world: every HTTP status that redirects, and every way a document does, over four hosts. */
export const LONGEST_CHAIN = chain(
  'http://go.redirects.example/start',
  ['301', 'http://ads.adserver.example/click?ad=lamp-300'],
  ['302', 'http://track.tracker.example/c/8f21'],
  ['303', 'http://go.redirects.example/session'],
  ['307', 'http://track.tracker.example/match'],
  ['308', 'http://go.redirects.example/geo'],
  ['meta_refresh', 'http://ads.adserver.example/wait'],
  ['refresh_header', 'http://go.redirects.example/check'],
  ['script', 'http://track.tracker.example/hello'],
  ['form_post', 'http://go.redirects.example/visitor'],
  ['timer', 'http://quiet.shop.example/'],
);
