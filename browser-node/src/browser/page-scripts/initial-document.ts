/**
 * Runs in pages, frames and workers, before our other scripts: whether the document is the empty one that a tab of ours
 * begins with. No page can reach it, so that it needs no scripts. Those that pages open or navigate to `about:blank`
 * can be written into: they have an opener or a frame around them, or begin to load with our scripts.
 */
export function isInitialDocument(): boolean {
  // Chromium (156) ends a worker's process that reads its location before it has loaded its script.
  if (typeof document === 'undefined') return false;
  return (
    document.readyState === 'complete' && document.URL === 'about:blank' && window.opener === null && parent === window
  );
}
