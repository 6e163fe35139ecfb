// Tabs of the browser's own window system are left out: they would only double the pages.
const FILTER = [
  { type: 'browser', exclude: true },
  { type: 'browser_ui', exclude: true },
  { type: 'tab', exclude: true },
  {},
];

/**
 * Parameters of `Target.setAutoAttach`. `paused`: targets wait at their start until they are observed. Frames and workers do: without it,
 * half of the frames that move on at once had no contents. Playwright makes them wait too, and neither lets go for the other. Tabs
 * never wait for us: Playwright then misses their first requests.
 */
export const autoAttach = ({ paused }: { paused: boolean }) => ({
  autoAttach: true,
  flatten: true,
  waitForDebuggerOnStart: paused,
  filter: FILTER,
});
