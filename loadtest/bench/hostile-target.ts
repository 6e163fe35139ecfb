/** How what a target makes large, many, slow or endless reaches a node. */
export type Channel =
  | 'console'
  | 'network events'
  | 'headers'
  | 'frames'
  | 'workers'
  | 'browser process'
  | 'titles'
  | 'bindings'
  | 'dialogs and tabs'
  | 'navigation'
  | 'main thread'
  | 'document'
  | 'memory'
  | 'media'
  | 'ads'
  | 'macros'
  | 'wrappers'
  | 'trackers';

/**
 * A hostile target of one kind. `body`: of a page, its body; of an ad, its tag; of a VAST document, the document at its address. `tags`: what
 * its scan must find, and then it must end `completed`.
 */
export type HostileTarget = {
  name: string;
  channel: Channel;
  kind: 'url' | 'ad_tag' | 'vast_tag';
  body: string;
  /** Whether its page is loaded by https: others have no service workers, caches, locks, devices or shared memory. */
  isSecure?: boolean;
  /** Further documents by path. */
  further?: Record<string, string>;
  tags?: readonly string[];
};
