import { chain } from './chain.ts';

/** What a bad ad does: a few hops, two of them not of HTTP, to a landing that will not let its visitor go back. */
export const PARCEL_CHAIN = chain(
  'http://go.redirects.example/parcel',
  ['302', 'http://track.tracker.example/c/parcel'],
  ['307', 'http://ads.adserver.example/click/parcel'],
  ['meta_refresh', 'http://go.redirects.example/delivery'],
  ['script', 'http://stuck.offers.example/'],
);
